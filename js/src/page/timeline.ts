import timeline from "../timeline/timeline.ts";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

open({ views: { timeline }, answers: runAnswers });
