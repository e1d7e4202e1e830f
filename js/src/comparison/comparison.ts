import "../shell/theme.css";
import "../graph/graph.css";
import "./comparison.css";
import type { AnyModel, RenderProps } from "@anywidget/types";
import { Client, clientOf, ModelHost } from "../shared/client/client.ts";
import { SessionClient, type SessionState } from "../shared/client/session_client.ts";
import { modelOptions, sized, type ViewState, viewRoot } from "../shell/view.ts";
import type { ComparisonOptions } from "./pane.ts";
import { mountComparison } from "./view.ts";

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
      client: new Client(new ModelHost(model as unknown as AnyModel), signal),
      runs: [clientOf(a!, names[0], signal), clientOf(b!, names[1], signal)],
      sessions: [
        new SessionClient(sessionA as AnyModel<SessionState>),
        new SessionClient(sessionB as AnyModel<SessionState>),
      ],
      options: sized(root, modelOptions<ComparisonOptions>(model as unknown as AnyModel), signal),
      signal,
    });
  },
};
