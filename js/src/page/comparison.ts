import comparison from "../comparison/comparison.ts";
import { layoutAnswers } from "./layout.ts";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

open({ views: { comparison }, answers: (data) => ({ ...runAnswers(data), ...layoutAnswers() }) });
