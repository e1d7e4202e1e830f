/** The entry of a page that shows the graph alone. */
import graph from "../graph/graph.ts";
import { startLayoutBy } from "../graph/layout_shared.ts";
import { runInline } from "./inline.ts";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

startLayoutBy(runInline);

open({ views: { graph }, answers: runAnswers });
