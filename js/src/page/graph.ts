/** The entry of a page that shows the graph alone. */
import graph from "../graph/graph.ts";
import { layoutSteps } from "../graph/layout/index.ts";
import { shareLayout } from "../graph/layout_shared.ts";
import "./page.css";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

shareLayout(layoutSteps);

open({ views: { graph }, answers: runAnswers });
