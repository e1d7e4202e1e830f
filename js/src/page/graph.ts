import graph from "../graph/graph.ts";
import { layoutAnswers } from "./layout.ts";
import { open } from "./open.ts";

open({ views: { graph }, answers: layoutAnswers });
