import graph from "../graph/graph.ts";
import { layoutAnswers } from "./layout.ts";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

open({ views: { graph }, answers: (data) => ({ ...runAnswers(data), ...layoutAnswers() }) });
