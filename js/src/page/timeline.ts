/** The entry of a page that shows the timeline alone. */
import timeline from "../timeline/timeline.ts";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

open({ views: { timeline }, answers: runAnswers });
