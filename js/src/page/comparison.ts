/** The entry of a page that shows two graphs side by side. */
import comparison from "../comparison/comparison.ts";
import { startLayoutBy } from "../graph/layout_shared.ts";
import { runInline } from "./inline.ts";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

startLayoutBy(runInline);

open({ views: { comparison }, answers: runAnswers });
