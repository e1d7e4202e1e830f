import "../shared/ui/theme.css";
import "../graph/graph.css";
import "./comparison.css";
import type { AnyModel, RenderProps } from "@anywidget/types";
import { request } from "../shared/client/request.ts";
import { runClient } from "../shared/client/run_client.ts";
import { SessionClient, type SessionState } from "../shared/client/session_client.ts";
import { modelOptions, sized, type ViewState, viewRoot } from "../shared/ui/view.ts";
import type { ComparisonOptions } from "./pane.ts";
import { mountComparison } from "./view.ts";

const TIMEOUT_MS = 60_000;

interface ComparisonState extends ViewState, ComparisonOptions {
  run_b: string;
  session_b: string;
}

export default {
  async render({ model, el, host, signal }: RenderProps<ComparisonState>): Promise<void> {
    const names = [model.get("run"), model.get("run_b")] as const;
    const sessions = [model.get("session"), model.get("session_b")] as const;
    const [a, b, sessionA, sessionB] = await Promise.all([
      ...names.map((name) => host.getModel(name)),
      ...sessions.map((name) => host.getModel<SessionState>(name)),
    ]);
    if (signal.aborted) return;
    const root = viewRoot(el, model.get("_figure_id"), signal);
    await mountComparison(root, {
      ask: () => {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
        return request(model as unknown as AnyModel, "comparison", {}, limit);
      },
      runs: [runClient(a!, names[0], signal), runClient(b!, names[1], signal)],
      sessions: [
        new SessionClient(sessionA as AnyModel<SessionState>),
        new SessionClient(sessionB as AnyModel<SessionState>),
      ],
      options: sized(root, modelOptions<ComparisonOptions>(model as unknown as AnyModel), signal),
      signal,
    });
  },
};
