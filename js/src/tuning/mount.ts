import { COPY_KEY } from "../shared/client/code_copy.ts";
import { loading } from "../shared/client/request.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import { onThemeChange } from "../shared/drawing/theme.ts";
import {
  asApplication,
  div,
  element,
  listening,
  Mirror,
  onResize,
  pointIn,
  span,
  splitter,
} from "../shared/ui/dom.ts";
import { bindKeys, type KeyAction } from "../shared/ui/keys.ts";
import { paletteAction } from "../shared/ui/palette.ts";
import { type AxisTurn, bindAxisWheel } from "../shared/ui/scrolling.ts";
import { fullScreenAction, type ViewOptions } from "../shared/ui/view.ts";
import { PANES, TuningData, type TuningOptions } from "./data.ts";
import { headline } from "./descriptions.ts";
import { PANE_LABELS, refusedText } from "./panes.ts";
import { type TuningContext, TuningView } from "./view.ts";

function actions(view: TuningView): KeyAction[] {
  const key = (keys: string[], does: string, run: () => void): KeyAction => ({ keys, does, run });
  return [
    key(["ArrowLeft"], "previous trial", () => view.step(-1)),
    key(["ArrowRight"], "next trial", () => view.step(1)),
    key(["ArrowUp"], "task above in the table", () => view.otherTask(-1)),
    key(["ArrowDown"], "task below in the table", () => view.otherTask(1)),
    key(["Home"], "first trial", () => view.step(Number.NEGATIVE_INFINITY)),
    key(["End"], "last trial", () => view.step(Number.POSITIVE_INFINITY)),
    key(["b"], "best trial of the task", () => view.best()),
    key(["n"], "next improvement", () => view.nextImprovement()),
    key(["e"], "next failed trial", () => view.nextFailure()),
    key(["x"], "over trials or over wall time", () => view.turnAxis()),
    key(["w", "+", "="], "zoom in", () => view.zoom(1 / 1.5)),
    key(["s", "-"], "zoom out", () => view.zoom(1.5)),
    key(["a"], "pan left", () => view.pan(-0.2)),
    key(["d"], "pan right", () => view.pan(0.2)),
    key(["0"], "fit all trials", () => view.showAll()),
    key(["r"], "count only the trials in view", () => view.countInView()),
    key(["o"], "sort tasks by time, gain, errors or number", () => view.nextSort()),
    key(["p"], "keep this schedule and compare the next one", () => view.pin()),
    key(["/"], "filter trials", () => view.focusQuery()),
    ...PANES.map((pane, at) =>
      key([String(at + 1)], `show ${PANE_LABELS[pane].toLowerCase()}`, () => view.showPane(pane)),
    ),
    key([COPY_KEY], "copy Python code for the trial", () => view.copy()),
    key(["Escape"], "clear range, trial, task, filter", () => view.clear()),
  ];
}

const SOURCE = "tuning";

/** Links tasks with the run's views: a chosen task selects its nodes there, and a selected node chooses its task. */
function linkSession(
  view: Pick<TuningView, "data">,
  session: SessionClient,
  options: ViewOptions<TuningOptions>,
  signal: AbortSignal,
): void {
  let known = options.get("task");
  const tell = () => {
    const task = options.get("task");
    if (task === known) return;
    known = task;
    const nodes = task === null ? [] : (view.data.info.tasks[task]?.nodes ?? []);
    if (nodes.length && !nodes.includes(session.node ?? -1)) session.selectMany(nodes, SOURCE);
  };
  const follow = () => {
    const { node } = session;
    if (node === null) return;
    const task = view.data.info.tasks.find(({ nodes }) => nodes.includes(node));
    if (!task || task.index === known) return;
    known = task.index;
    options.set("trial", null);
    options.set("task", task.index);
  };
  options.onChange("task", tell, signal);
  session.onChange(follow, signal, ["selected"]);
}

/** Limits of the share of the space before a bar. */
const [LEAST, MOST] = [0.2, 0.85];
const CHART = 0.56;
const UPPER = 0.6;

const within = (share: number) => Math.min(MOST, Math.max(LEAST, share));

/** The bars that divide the view: between chart and table, and above the panes. */
function splits(root: HTMLElement): { across: HTMLElement; down: HTMLElement } {
  const across = splitter("Width of the chart", "vertical", (share) => {
    across.set(within(share));
    root.style.setProperty("--chart", `${100 * within(share)}%`);
  });
  const down = splitter("Height of the chart", "horizontal", (share) => {
    down.set(within(share));
    const { offsetTop } = down.node.previousElementSibling as HTMLElement;
    root.style.setProperty("--upper", `calc(${100 * within(share)}% - ${offsetTop}px)`);
  });
  across.set(CHART);
  down.set(UPPER);
  return { across: across.node, down: down.node };
}

const DRAG_FROM = 4;

/** Click selects, drag marks a range, with shift it pans; the wheel zooms once the view has the focus. */
function bindPointer(root: HTMLElement, view: TuningView, signal: AbortSignal): void {
  const { canvas } = view.chart;
  const on = listening(canvas, signal);
  let drag: { x: number; startX: number; moved: boolean; pans: boolean } | null = null;
  const at = (event: MouseEvent) => pointIn(canvas, event);
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    view.focus();
    const { x } = at(event);
    drag = { x, startX: x, moved: false, pans: event.shiftKey };
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on("pointermove", (event) => {
    const { x, y } = at(event);
    if (!drag) {
      view.hoverAt(x, y);
      return;
    }
    drag.moved ||= Math.abs(x - drag.startX) >= DRAG_FROM;
    if (!drag.moved) return;
    view.leave();
    if (drag.pans) view.panBy(drag.x - x);
    else view.dragOver(drag.startX, x);
    drag.x = x;
  });
  const finish = (event: PointerEvent) => {
    const done = drag;
    drag = null;
    if (!done || event.type === "pointercancel") {
      view.dropRange(null);
      return;
    }
    const { x, y } = at(event);
    if (done.moved && !done.pans) view.dropRange([done.startX, x]);
    else if (!done.moved) view.pickAt(x, y);
  };
  on("pointerup", finish);
  on("pointercancel", finish);
  on("pointerleave", () => {
    if (!drag) view.leave();
  });
  on("dblclick", () => view.showAll());
  const turned = ({ panPx, zoom }: AxisTurn, event: WheelEvent) => {
    if (panPx) view.panBy(panPx);
    else view.zoomAt(zoom, at(event).x);
  };
  bindAxisWheel(root, view.chart, turned, signal);
}

/** Width below which the parts are stacked. */
const NARROW = 760;
const TRAITS = ["task", "trial", "along", "trial_range", "query", "pane", "sort"] as const;

/** The TuningView: costs over trials, the tasks, and the schedule of a trial. */
export async function mountTuning(
  root: HTMLElement,
  context: TuningContext,
  session: SessionClient | null,
): Promise<void> {
  const { client, onGrown, signal } = context;
  const read = async () => new TuningData(await client.ask("tuning"));
  root.classList.add("tvmdbg-tuning");
  asApplication(root, "tuning log", "Tuning log: costs of trials, tasks, and schedules");
  await loading(root, "tuning log", signal, read, (data) => {
    const show = build(root, context, data, session);
    show(data);
    root.dataset.ready = "true";
    onGrown(() => void read().then((grown) => signal.aborted || show(grown)));
  });
}

/** Builds the view; returns a function that shows a log in it. */
function build(
  root: HTMLElement,
  context: TuningContext,
  data: TuningData,
  session: SessionClient | null,
): (data: TuningData) => void {
  const { options, signal } = context;
  const mirror = new Mirror();
  const view = new TuningView(root, context, data, (text) => mirror.say(text));
  const head = div("tvmdbg-tuning-head");
  const { across, down } = splits(root);
  root.replaceChildren(
    view.bar.node,
    head,
    div("tvmdbg-tuning-above", view.chart.stage, across, view.table.node),
    down,
    view.panes.node,
    view.tooltip.node,
    mirror.node,
  );
  const resize = () => {
    root.classList.toggle("tvmdbg-tuning-narrow", root.clientWidth < NARROW);
    root.style.setProperty("--height", `${options.get("height")}px`);
    view.chart.changed();
  };
  resize();
  onResize([root], resize, signal);
  options.onChange("height", resize, signal);
  for (const trait of TRAITS) options.onChange(trait, () => view.look(), signal);
  bindPointer(root, view, signal);
  bindKeys(root, [...actions(view), paletteAction(root), fullScreenAction(root)], signal);
  onThemeChange(() => view.showTheme(), signal);
  for (const part of [view.panes.node, view.table.node, head]) {
    part.addEventListener("keydown", ({ key }) => key === "Escape" && view.focus());
  }
  if (session) linkSession(view, session, options, signal);
  return (shown) => {
    view.showLog(shown);
    const findings = () => view.showPane("findings");
    head.replaceChildren(...headOf(shown, view.legend.node, findings));
  };
}

/** Description of the log, its gravest finding, and the number of unreadable lines. */
function headOf(data: TuningData, legend: HTMLElement, show: () => void): HTMLElement[] {
  const { info } = data;
  const parts = [
    element("strong", {}, info.title),
    element("span", { title: info.about.join("\n") }, headline(data)),
    legend,
  ];
  const [first] = info.findings;
  if (first && first.severity !== "info") {
    const more = info.findings.length - 1;
    const button = element(
      "button",
      { type: "button", class: `tvmdbg-tuning-top tvmdbg-finding-${first.severity}` },
      element("i", { class: `tvmdbg-icon tvmdbg-icon-${first.severity}`, "aria-hidden": "true" }),
      first.title,
      more ? span("tvmdbg-muted", ` and ${more} more`) : null,
    );
    button.addEventListener("click", show);
    parts.push(button);
  }
  if (info.refused) parts.push(span("tvmdbg-error", refusedText(info.refused)));
  return parts;
}
