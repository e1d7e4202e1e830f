import { hinted, message } from "../shared/client/message.ts";
import { pageModule, unzipped } from "../shared/client/page_module.ts";
import { type Answer, isAbort } from "../shared/client/request.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import { element } from "../shared/ui/dom.ts";
import { bindKeys } from "../shared/ui/keys.ts";
import { Mirror } from "../shared/ui/mirror.ts";
import { type Bokeh, draw, type Item } from "./bokeh.ts";
import { Link } from "./link.ts";

const BUSY_AFTER_MS = 150;

export interface PlotContext {
  /** Asks for the library, or for the figure, compressed. */
  ask(kind: "bokeh" | "figure", signal: AbortSignal): Promise<Answer<null>>;
  /** Release and build of the library. */
  library: string;
  /** Name of the column of node ids. */
  nodes: string;
  session: SessionClient;
  signal: AbortSignal;
}

/** A bokeh figure whose selection is that of the session. */
export async function mountPlot(root: HTMLElement, context: PlotContext): Promise<void> {
  const { signal, session } = context;
  root.classList.add("tvmdbg-plot");
  root.setAttribute("role", "application");
  root.setAttribute("aria-roledescription", "plot");
  const busy = setTimeout(
    () => root.replaceChildren(message("busy", "Loading the plot …")),
    BUSY_AFTER_MS,
  );
  signal.addEventListener("abort", () => clearTimeout(busy));
  try {
    const [{ default: bokeh }, answer] = await Promise.all([
      pageModule<{ default: Bokeh }>(
        `bokeh ${context.library}`,
        (limit) => context.ask("bokeh", limit),
        signal,
      ),
      context.ask("figure", signal),
      inThePage(root, signal),
    ]);
    const item: Item = JSON.parse(await unzipped(answer.buffers[0]!));
    clearTimeout(busy);
    if (signal.aborted) return;
    const target = element("div");
    const mirror = new Mirror();
    root.replaceChildren(target, mirror.node);
    const drawn = await draw(bokeh, item, target);
    if (signal.aborted) {
      drawn.close();
      return;
    }
    signal.addEventListener("abort", () => drawn.close());
    const link = new Link(
      drawn.sources,
      context.nodes,
      session,
      (text) => mirror.say(text),
      signal,
    );
    bindKeys(root, link.actions(), signal);
    target.addEventListener("click", () => root.focus({ preventScroll: true }));
    root.setAttribute("aria-label", "Plot; arrow keys select its bars or dots");
  } catch (error) {
    clearTimeout(busy);
    if (signal.aborted || isAbort(error)) return;
    const hint = "Run the cell again.";
    root.replaceChildren(message("error", "The plot could not be shown", hinted(error, hint)));
  }
  root.dataset.ready = "true";
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
