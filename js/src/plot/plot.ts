import type { AnyModel, RenderProps } from "@anywidget/types";
import "../shared/ui/theme.css";
import "./plot.css";
import { request } from "../shared/client/request.ts";
import { SessionClient, type SessionState } from "../shared/client/session_client.ts";
import { viewRoot } from "../shared/ui/view_root.ts";
import { mountPlot } from "./mount.ts";

interface State {
  session: string;
  nodes: string;
  _library: string;
  _figure_id: string;
}

export default {
  async render({ model, el, host, signal }: RenderProps<State>): Promise<void> {
    const session = await host.getModel<SessionState>(model.get("session"));
    if (signal.aborted) return;
    const root = viewRoot(el, model.get("_figure_id") ?? "", signal);
    await mountPlot(root, {
      ask: (kind, limit) => request(model as unknown as AnyModel, kind, {}, limit),
      library: model.get("_library"),
      nodes: model.get("nodes"),
      session: new SessionClient(session as AnyModel<SessionState>),
      signal,
    });
  },
};
