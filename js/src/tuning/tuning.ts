import "../shell/theme.css";
import "./tuning.css";
import type { AnyModel, RenderProps } from "@anywidget/types";
import { Client, ModelHost } from "../shared/client/client.ts";
import { SessionClient, type SessionState } from "../shared/client/session_client.ts";
import { modelOptions, sized, viewRoot } from "../shell/view.ts";
import type { TuningOptions } from "./data.ts";
import { mountTuning } from "./mount.ts";

/** Default height in a notebook, CSS px. */
const MOST_HEIGHT = 800;

/** The model names its log, and the session of a linked run. */
interface TuningState extends TuningOptions {
  log: string;
  session: string | null;
  _figure_id?: string;
  _is_saved?: boolean;
}

export default {
  async render({ model, el, host, signal }: RenderProps<TuningState>): Promise<void> {
    const log = (await host.getModel(model.get("log"))) as AnyModel;
    const linked = model.get("session");
    const session = linked ? await host.getModel<SessionState>(linked) : null;
    if (signal.aborted) return;
    const root = viewRoot(el, model.get("_figure_id"), signal);
    const traits = modelOptions<TuningOptions>(model as unknown as AnyModel);
    const kept = new Map<string, Promise<unknown>>();
    const growth = modelOptions<{ content: number }>(log);
    growth.onChange("content", () => kept.clear(), signal);
    await mountTuning(
      root,
      {
        client: new Client(new ModelHost(log), signal, kept),
        onGrown: (listener) => growth.onChange("content", listener, signal),
        options: sized(root, traits, signal, MOST_HEIGHT),
        signal,
        isSaved: !!model.get("_is_saved"),
      },
      session && new SessionClient(session),
    );
  },
};
