import { errorText, isAbort } from "../shared/client/request.ts";
import { timelineOf } from "../shared/client/timeline_client.ts";
import { readTheme } from "../shared/drawing/theme.ts";
import { pause } from "../shared/many.ts";
import { pointIn } from "../shell/dom.ts";
import { action, bindKeys } from "../shell/keys.ts";
import { mounted } from "../shell/mount.ts";
import { paletteAction } from "../shell/palette.ts";
import { bindPointer } from "../shell/pointer.ts";
import { fullScreenAction } from "../shell/view.ts";
import { GraphModel } from "./data/model.ts";
import type { WalkStep } from "./data/walk.ts";
import { measureFor } from "./layout/labels.ts";
import { layoutCode } from "./layout/layout_client.ts";
import type { GraphContext } from "./parts.ts";
import { GraphView } from "./view.ts";

const LINE_PX = 16;
const ZOOM_PER_PX = 0.0018;

/** Drag pans, the wheel zooms (with Shift it pans) once focused, two fingers do both. */
function gestures({ commands, context, root, stage }: GraphView): void {
  const { canvas } = stage;
  const { signal } = context;
  bindPointer(canvas, commands, signal);
  const wheel = (event: WheelEvent) => {
    if (!root.contains(document.activeElement)) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.shiftKey && !event.ctrlKey) {
      commands.pan(-(dx || dy), dx ? -dy : 0);
      return;
    }
    const { x, y } = pointIn(canvas, event);
    commands.zoom(Math.exp(dy * ZOOM_PER_PX * (event.ctrlKey ? 4 : 1)), x, y);
  };
  canvas.addEventListener("wheel", wheel, { passive: false, signal });
}

const PAN_PX = 80;

const TITLE = {
  name: "graph",
  noun: "graph",
  label: "Graph of the run: arrow keys walk along edges, ? lists all keys",
};

/** Mounts the graph of a run into `root`, which carries the class `tvmdbg`. */
export function mountGraph(root: HTMLElement, context: GraphContext): Promise<void> {
  const { run, signal } = context;
  let problem = "";
  const read = () => {
    const times = timelineOf(run).catch((error: unknown) => {
      if (isAbort(error)) throw error;
      problem = `the timeline could not be read: ${errorText(error)}`;
      return null;
    });
    return Promise.all([run.ask("graph"), times, layoutCode(run)]);
  };
  return mounted(root, TITLE, signal, read, async ([graph, timeline], say) => {
    if (!graph?.kinds.length) {
      const why = graph ? "" : (await run.ask("summary")).missing.graph;
      say("empty", graph ? "The graph has no nodes" : "No graph", why);
      return;
    }
    await pause();
    const model = new GraphModel(graph, timeline, measureFor(readTheme(root).font));
    model.opensOn = context.opensOn ?? null;
    await pause();
    if (!signal.aborted) bind(root, context, new GraphView(root, context, model, problem));
  });
}

/** Arrow keys in a graph that runs to the right. */
const TRANSPOSED: Record<WalkStep, WalkStep> = {
  up: "left",
  down: "right",
  left: "up",
  right: "down",
};

function bind(root: HTMLElement, context: GraphContext, view: GraphView): void {
  const { signal } = context;
  const { commands, navigator, menus } = view;
  const step = (to: WalkStep, event: KeyboardEvent) => {
    if (event.shiftKey) {
      const [x, y] = { up: [0, 1], down: [0, -1], left: [1, 0], right: [-1, 0] }[to] as [
        number,
        number,
      ];
      commands.pan(x * PAN_PX, y * PAN_PX);
    } else commands.walk(view.chosen.direction === "right" ? TRANSPOSED[to] : to);
  };
  bindKeys(
    root,
    [
      action(["ArrowUp", "ArrowDown"], "producer, consumer (Shift: pan)", (event) =>
        step(event.key === "ArrowUp" ? "up" : "down", event),
      ),
      action(["ArrowLeft", "ArrowRight"], "next operand or node of the level", (event) =>
        step(event.key === "ArrowLeft" ? "left" : "right", event),
      ),
      action(["[", "]"], "previous, next node in execution order", (event) =>
        commands.inOrder(event.key === "[" ? -1 : 1),
      ),
      action(["Enter"], "expand the block or collapse the one around; else center the node", () =>
        commands.enter(),
      ),
      action(["x"], "collapse all blocks of this kind, or every block (Shift: expand)", (event) =>
        view.folding.setKind(event.shiftKey),
      ),
      action(["g"], "show or hide blocks", () =>
        view.context.options.set("grouped", !view.chosen.grouped),
      ),
      action(["w"], "wrap into columns or unwrap", () => commands.wrap(!view.isWrapped)),
      action(["e"], "next edge (Shift: previous)", (event) =>
        commands.edges.step(event.shiftKey ? -1 : 1),
      ),
      action(["u"], "isolate upstream of the selection", () => navigator.isolate("upstream")),
      action(["j"], "isolate downstream of the selection", () => navigator.isolate("downstream")),
      action(["k"], "isolate neighbors, again: a hop more (Shift: less)", (event) =>
        navigator.around(event.shiftKey ? -1 : 1),
      ),
      action(["b"], "isolate paths between two nodes: press at both", () => navigator.path()),
      action(["h"], "hide this kind (Shift: list kinds)", (event) =>
        event.shiftKey ? view.toolbar.openShows() : navigator.hideKind(),
      ),
      action(["a"], "exit isolation, show hidden kinds", () => navigator.everything()),
      action(["o", "ContextMenu"], "open the context menu", () => menus.actions()),
      action(["/"], "search", () => view.toolbar.focusSearch()),
      action(["n"], "next hit (Shift: previous)", (event) =>
        commands.nextHit(event.shiftKey ? -1 : 1),
      ),
      action(["c"], "next color mode", () => view.chosen.cycleColors(view.appearance.names)),
      action(["f"], "fit the node and its neighbors", () => commands.fitSelected()),
      ...view.toolbar.tools,
      paletteAction(root, context),
      fullScreenAction(root),
      action(["Escape"], "clear highlight, search, selection", () => commands.escape()),
    ],
    signal,
  );
  gestures(view);
}
