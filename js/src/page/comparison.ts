/** The entry of a page that shows two graphs side by side. */
import comparison from "../comparison/comparison.ts";
import { shareLayout } from "../graph/layout_shared.ts";
import { laidOut } from "../graph/wrapping.ts";
import "./page.css";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

shareLayout(laidOut);

open({ views: { comparison }, answers: runAnswers });
