import type { AnyModel, RenderProps } from "@anywidget/types";
import "../shared/ui/theme.css";
import "./plot.css";
import { hinted, message } from "../shared/client/message.ts";
import { pageModule, unzipped } from "../shared/client/page_module.ts";
import { type Answer, isAbort, request } from "../shared/client/request.ts";
import { SessionClient, type SessionState } from "../shared/client/session_client.ts";
import { element } from "../shared/ui/dom.ts";
import { bindKeys } from "../shared/ui/keys.ts";
import { Mirror } from "../shared/ui/mirror.ts";
import { viewRoot } from "../shared/ui/view_root.ts";
import { type Bokeh, draw, type Item } from "./bokeh.ts";
import { Link } from "./link.ts";

const BUSY_AFTER_MS = 150;

interface State {
  session: string;
  /** Name of the column of node ids. */
  nodes: string;
  /** Release and build of BokehJS. */
  _library: string;
  _figure_id: string;
}

export default {
  async render({ model, el, host, signal }: RenderProps<State>): Promise<void> {
    const session = await host.getModel<SessionState>(model.get("session"));
    if (signal.aborted) return;
    const root = viewRoot(el, model.get("_figure_id") ?? "", signal);
    root.classList.add("tvmdbg-plot");
    root.setAttribute("role", "application");
    root.setAttribute("aria-roledescription", "plot");
    const busy = setTimeout(
      () => root.replaceChildren(message("busy", "Loading the plot …")),
      BUSY_AFTER_MS,
    );
    signal.addEventListener("abort", () => clearTimeout(busy));
    try {
      await show(root, model, new SessionClient(session as AnyModel<SessionState>), signal, busy);
    } catch (error) {
      clearTimeout(busy);
      if (signal.aborted || isAbort(error)) return;
      const hint = "Run the cell again.";
      root.replaceChildren(message("error", "The plot could not be shown", hinted(error, hint)));
    }
    root.dataset.ready = "true";
  },
};

/** Shows the figure, its selection tied to that of the session. */
async function show(
  root: HTMLElement,
  model: RenderProps<State>["model"],
  session: SessionClient,
  signal: AbortSignal,
  busy: ReturnType<typeof setTimeout>,
): Promise<void> {
  const ask = (kind: "bokeh" | "figure", limit: AbortSignal): Promise<Answer<null>> =>
    request(model as unknown as AnyModel, kind, {}, limit);
  const [{ default: bokeh }, answer] = await Promise.all([
    pageModule<{ default: Bokeh }>(
      `bokeh ${model.get("_library")}`,
      (limit) => ask("bokeh", limit),
      signal,
    ),
    ask("figure", signal),
    inThePage(root, signal),
  ]);
  const item: Item = JSON.parse(await unzipped(answer.buffers[0]!));
  clearTimeout(busy);
  if (signal.aborted) return;
  const target = element("div");
  const mirror = new Mirror();
  root.replaceChildren(target, mirror.node);
  const drawn = await draw(bokeh, item, target);
  if (signal.aborted) return drawn.close();
  signal.addEventListener("abort", () => drawn.close());
  const say = (text: string) => mirror.say(text);
  const link = new Link(drawn.sources, model.get("nodes"), session, say, signal);
  bindKeys(root, link.actions(), signal);
  target.addEventListener("click", () => root.focus({ preventScroll: true }));
  root.setAttribute("aria-label", "Plot; arrow keys select its bars or dots");
}

/** Waits until the element is in the page: a host may attach it later, and BokehJS draws nowhere else. */
function inThePage(root: HTMLElement, signal: AbortSignal): Promise<void> {
  if (root.isConnected) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const observer = new ResizeObserver(() => {
      if (!root.isConnected) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(root);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      reject(signal.reason);
    });
  });
}
