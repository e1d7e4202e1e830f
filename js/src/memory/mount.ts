import { COPY_KEY } from "../shared/client/code_copy.ts";
import { loading } from "../shared/client/request.ts";
import { onThemeChange } from "../shared/drawing/theme.ts";
import { asApplication, element, listening, Mirror, onResize, pointIn } from "../shared/ui/dom.ts";
import { action, bindKeys, type KeyAction } from "../shared/ui/keys.ts";
import { paletteAction } from "../shared/ui/palette.ts";
import { type AxisTurn, bindAxisWheel } from "../shared/ui/scrolling.ts";
import { fullScreenAction, type Mount, type ViewContext } from "../shared/ui/view.ts";
import { Plan } from "./plan.ts";
import { type MemoryOptions, MemoryView } from "./view.ts";

function actions(view: MemoryView): KeyAction[] {
  const { viewport } = view.scene;
  const pan = (share: number) => view.view(() => viewport.pan(viewport.span * share));
  return [
    action(["ArrowLeft"], "previous node", () => view.move(-1)),
    action(["ArrowRight"], "next node", () => view.move(1)),
    action(["ArrowUp"], "entry in the slot above", () => view.otherSlot(-1)),
    action(["ArrowDown"], "entry in the slot below", () => view.otherSlot(1)),
    action([","], "previous entry in this slot", () => view.sameSlot(-1)),
    action(["."], "next entry in this slot", () => view.sameSlot(1)),
    action(["PageUp"], "slots above", () => view.scroll(-0.9)),
    action(["PageDown"], "slots below", () => view.scroll(0.9)),
    action(["Home"], "first node", () => view.move(-Infinity)),
    action(["End"], "last node", () => view.move(Infinity)),
    action(["p"], "go to the peak", () => view.peak()),
    action(["w", "+", "="], "zoom in", () => view.zoom(1 / 1.5)),
    action(["s", "-"], "zoom out", () => view.zoom(1.5)),
    action(["a"], "pan left", () => pan(-0.2)),
    action(["d"], "pan right", () => pan(0.2)),
    action(["f"], "zoom to the lifetime of the selected entry", () => view.zoomToSelection()),
    action(["0"], "fit the whole run", () => view.view(() => viewport.showAll())),
    action(["Enter"], "center the selected entry", () => view.center()),
    action(["m"], "show or hide the parameters", () => view.showParameters()),
    action(["c"], "color by kind or by size", () => view.nextColor()),
    action([COPY_KEY], "copy Python code for the selection", () => view.copy()),
    action(["Escape"], "clear the selection", () => view.pick(-1)),
  ];
}

const DRAG_FROM = 4;

function bindPointer(root: HTMLElement, view: MemoryView, signal: AbortSignal): void {
  const { scene } = view;
  const { canvas } = view.chart;
  const on = listening(canvas, signal);
  let drag: { x: number; y: number; startX: number; startY: number; moved: boolean } | null = null;
  const at = (event: MouseEvent) => pointIn(canvas, event);

  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    view.focus();
    const { x, y } = at(event);
    drag = { x, y, startX: x, startY: y, moved: false };
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on("pointermove", (event) => {
    const { x, y } = at(event);
    scene.pointer = { x, y };
    if (!drag) {
      view.hoverAt(scene.hit(x, y), x, y);
      return;
    }
    drag.moved ||= Math.hypot(x - drag.startX, y - drag.startY) >= DRAG_FROM;
    if (!drag.moved) return;
    const from = drag;
    view.hoverAt(null, x, y);
    view.view(() => {
      scene.viewport.pan(((from.x - x) / scene.room) * scene.viewport.span);
      scene.scrollBy(from.y - y);
    });
    [drag.x, drag.y] = [x, y];
  });
  const finish = (event: PointerEvent) => {
    const done = drag;
    drag = null;
    if (!done || done.moved || event.type === "pointercancel") return;
    const { x, y } = at(event);
    view.pickHit(scene.hit(x, y), event.ctrlKey || event.metaKey);
  };
  on("pointerup", finish);
  on("pointercancel", finish);
  on("pointerleave", () => {
    if (drag) return;
    scene.pointer = null;
    view.hoverAt(null, 0, 0);
  });
  on("dblclick", () => view.zoomToSelection());
  const turned = ({ panPx, zoom }: AxisTurn, event: WheelEvent) =>
    view.view(() => {
      if (panPx) scene.viewport.pan((panPx / scene.room) * scene.viewport.span);
      else scene.viewport.zoom(zoom, scene.step(at(event).x));
    });
  bindAxisWheel(root, view.chart, turned, signal);
}

const LEAST_HEIGHT = 300;
const NARROW = 620;
const NARROW_MORE = 70;

/** The MemoryView: live bytes over the execution, and the entries that share a slot. */
export const mountMemory: Mount<MemoryOptions> = async (root, context) => {
  const { run, signal } = context;
  root.classList.add("tvmdbg-memory");
  const label = "Memory plan: live bytes per node, and which entries share a slot";
  asApplication(root, "memory plan", label);
  const read = () => Promise.all([run.ask("memory"), run.ask("graph")]);
  await loading(root, "memory plan", signal, read, ([columns, graph], say) => {
    if (!columns || !graph || "missing" in columns) {
      say("empty", "No memory plan", columns && "missing" in columns ? columns.missing : "");
    } else if (!columns.slotBytes.length) {
      const none = "No entry of this graph has a usable storage_id.";
      say("empty", "No memory plan", [none, ...columns.info.said].join("\n"));
    } else build(root, context, new Plan(columns, graph));
  });
};

function build(root: HTMLElement, context: ViewContext<MemoryOptions>, plan: Plan): void {
  const { session, options, signal } = context;
  const mirror = new Mirror();
  const view = new MemoryView(root, context, plan, (text) => mirror.say(text));
  root.replaceChildren(
    view.bar.node,
    view.chart.stage,
    element("div", { class: "tvmdbg-memory-below" }, view.legend, view.details),
    view.tooltip.node,
    mirror.node,
  );
  const resize = () => {
    const narrow = root.clientWidth < NARROW;
    const height = Math.max(LEAST_HEIGHT, options.get("height")) + (narrow ? NARROW_MORE : 0);
    root.classList.toggle("tvmdbg-memory-narrow", narrow);
    root.style.setProperty("--height", `${height}px`);
    view.chart.changed();
  };
  resize();
  onResize([root], resize, signal);
  options.onChange("height", resize, signal);
  for (const trait of ["parameters", "color_by", "step_range"] as const) {
    options.onChange(trait, () => view.look(), signal);
  }
  bindPointer(root, view, signal);
  bindKeys(root, [...actions(view), paletteAction(root, context), fullScreenAction(root)], signal);
  session.onChange(() => view.sync(), signal, ["selected", "entry"]);
  session.onChange(() => view.syncHover(), signal, ["hovered"]);
  session.onChange(() => view.sync(true), signal, ["notes"]);
  onThemeChange(() => view.look(), signal);
  view.look();
  view.sync(true);
}
