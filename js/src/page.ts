/** The entry of a page without a kernel: all views, on models that live in the page. */
import debuggerView from "./debugger/debugger.ts";
import graph from "./graph/graph.ts";
import { startLayoutBy } from "./graph/layout_shared.ts";
import { runInline } from "./page/inline.ts";
import { open } from "./page/open.ts";
import { allAnswers } from "./page/stored_all.ts";
import tensor from "./tensor/tensor.ts";
import timeline from "./timeline/timeline.ts";

// A page may forbid both workers and scripts from Blobs.
startLayoutBy(runInline);

open({
  views: { debugger: debuggerView, graph, tensor, timeline },
  answers: allAnswers,
});
