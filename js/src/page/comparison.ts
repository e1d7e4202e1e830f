import comparison from "../comparison/comparison.ts";
import { layoutAnswers } from "./layout.ts";
import { open } from "./open.ts";

open({ views: { comparison }, answers: layoutAnswers });
