/** Entry of a page without a kernel: all views, on models that live in the page. */
import debuggerView from "./debugger/debugger.ts";
import graph from "./graph/graph.ts";
import { layoutAnswers } from "./page/layout.ts";
import { open } from "./page/open.ts";
import { tensorAnswers } from "./page/stored_tensors.ts";
import tensor from "./tensor/tensor.ts";
import timeline from "./timeline/timeline.ts";

open({
  views: { debugger: debuggerView, graph, tensor, timeline },
  answers: (data) => ({ ...tensorAnswers(data), ...layoutAnswers() }),
});
