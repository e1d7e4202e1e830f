import * as icons from "../shared/drawing/icons.ts";
import { onThemeChange } from "../shared/drawing/theme.ts";
import { div, Mirror } from "../shell/dom.ts";
import { action, bindKeys, type KeyAction } from "../shell/keys.ts";
import { keepSize, mounted, onOptions } from "../shell/mount.ts";
import { paletteAction } from "../shell/palette.ts";
import { barSpace, barTitle, chartTools, type Tool, Toolbar, tool } from "../shell/toolbar.ts";
import { fullScreenAction, type Mount, type ViewContext } from "../shell/view.ts";
import { Plan } from "./plan.ts";
import { type MemoryOptions, MemoryView } from "./view.ts";

/** Actions of the view; the last are also tools. */
function actions(view: MemoryView, tools: readonly Tool[]): KeyAction[] {
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
    action(["a"], "pan left", () => view.camera.pan(-0.2)),
    action(["d"], "pan right", () => view.camera.pan(0.2)),
    action(["f"], "zoom to the lifetime of the selected entry", () => view.zoomToSelection()),
    action(["Enter"], "center the selected entry", () => view.center()),
    action(["c"], "color by kind or by size", () => view.nextColor()),
    ...tools,
    action(["Escape"], "clear the selection", () => view.pick(-1)),
  ];
}

const LEAST_HEIGHT = 300;
const NARROW = 620;
const NARROW_MORE = 70;
const NAME = {
  name: "memory",
  noun: "memory plan",
  label: "Memory plan: live bytes per node, and which entries share a slot",
};

/** The MemoryView: live bytes over the execution, and the entries that share a slot. */
export const mountMemory: Mount<MemoryOptions> = (root, context) => {
  const { run, signal } = context;
  const read = () => Promise.all([run.ask("memory"), run.ask("graph")]);
  return mounted(root, NAME, signal, read, ([columns, graph], say) => {
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
  const view = new MemoryView(root, context, plan, mirror);
  const { scene } = view;
  const { zoom, fit, copy, all } = chartTools(view, view.camera, "the whole run", "the selection");
  const peak = tool(["p"], "peak", "go to the peak", () => view.peak(), { icon: icons.PEAK });
  const parameters = tool(
    ["m"],
    "parameters",
    "show memory of parameters",
    () => view.showParameters(),
    { icon: icons.LAYERS, isOn: () => scene.parameters },
  );
  const color = (by: "kind" | "size", what: string) =>
    tool(["c"], by, `color entries by ${what}`, () => view.colorBy(by), {
      isOn: () => scene.bySize === (by === "size"),
    });
  const colors = {
    label: "color by",
    tools: [color("kind", "operator kind"), color("size", "size")],
  };
  const left = [barTitle("Memory"), zoom, fit, peak, view.range, barSpace()];
  const toolbar = new Toolbar(
    root,
    "memory",
    [...left, parameters, colors, copy],
    { always: [copy], sometimes: [zoom, parameters, colors, view.range] },
    signal,
  );
  view.changed = () => toolbar.refresh();
  root.replaceChildren(
    toolbar.node,
    view.stage.node,
    div("tvmdbg-fixed tvmdbg-line-above", view.legend, view.details),
    view.tooltip.node,
    mirror.node,
  );
  const resized = (isNarrow: boolean) => {
    view.stage.changed();
    return isNarrow ? NARROW_MORE : 0;
  };
  keepSize(root, "memory", options, { narrow: NARROW, least: LEAST_HEIGHT }, resized, signal);
  onOptions(options, ["parameters", "color_by", "step_range"], () => view.look(), signal);
  view.camera.bind(root, view.stage, view, signal);
  bindKeys(
    root,
    [
      ...actions(view, [...all, peak, parameters]),
      paletteAction(root, context),
      fullScreenAction(root),
    ],
    signal,
  );
  session.onChange(() => view.sync(), signal, ["selected", "entry"]);
  session.onChange(() => view.syncHover(), signal, ["hovered"]);
  session.onChange(() => view.sync(true), signal, ["notes"]);
  onThemeChange(() => view.look(), signal);
  view.look();
  view.sync(true);
}
