import type { SessionClient } from "../shared/client/session_client.ts";
import * as icons from "../shared/drawing/icons.ts";
import { onThemeChange } from "../shared/drawing/theme.ts";
import { div, element, Mirror, span, splitter } from "../shell/dom.ts";
import { action, bindKeys, type KeyAction } from "../shell/keys.ts";
import { keepSize, mounted, onOptions } from "../shell/mount.ts";
import { paletteAction } from "../shell/palette.ts";
import { barSpace, barTitle, chartTools, type Tool, Toolbar, tool } from "../shell/toolbar.ts";
import { fullScreenAction, type ViewOptions } from "../shell/view.ts";
import { PANES, TuningData, type TuningOptions } from "./data.ts";
import { headline } from "./descriptions.ts";
import { PANE_LABELS, refusedText } from "./panes.ts";
import { type TuningContext, TuningView } from "./view.ts";

/** Actions of the view; the last are also tools. */
function actions(view: TuningView, tools: readonly Tool[]): KeyAction[] {
  return [
    action(["ArrowLeft"], "previous trial", () => view.step(-1)),
    action(["ArrowRight"], "next trial", () => view.step(1)),
    action(["ArrowUp"], "task above in the table", () => view.otherTask(-1)),
    action(["ArrowDown"], "task below in the table", () => view.otherTask(1)),
    action(["Home"], "first trial", () => view.step(Number.NEGATIVE_INFINITY)),
    action(["End"], "last trial", () => view.step(Number.POSITIVE_INFINITY)),
    action(["n"], "next improvement", () => view.nextImprovement()),
    action(["e"], "next failed trial", () => view.nextFailure()),
    action(["x"], "over trials or over wall time", () => view.turnAxis()),
    action(["a"], "pan left", () => view.camera.pan(-0.2)),
    action(["d"], "pan right", () => view.camera.pan(0.2)),
    action(["r"], "count only the trials in view", () => view.countInView()),
    action(["o"], "sort tasks by time, gain, errors or number", () => view.nextSort()),
    action(["p"], "keep this schedule and compare the next one", () => view.pin()),
    action(["/"], "filter trials", () => view.bar.focusQuery()),
    ...PANES.map((pane, at) =>
      action([String(at + 1)], `show ${PANE_LABELS[pane].toLowerCase()}`, () =>
        view.showPane(pane),
      ),
    ),
    ...tools,
    action(["Escape"], "clear range, trial, task, filter", () => view.clear()),
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

/** Width below which the parts are stacked. */
const NARROW = 760;
const TRAITS = ["task", "trial", "along", "trial_range", "query", "pane", "sort"] as const;

const NAME = {
  name: "tuning",
  noun: "tuning log",
  label: "Tuning log: costs of trials, tasks, and schedules",
};

/** The TuningView: costs over trials, the tasks, and the schedule of a trial. */
export function mountTuning(
  root: HTMLElement,
  context: TuningContext,
  session: SessionClient | null,
): Promise<void> {
  const { client, onGrown, signal } = context;
  const read = async () => new TuningData(await client.ask("tuning"));
  return mounted(root, NAME, signal, read, (data) => {
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
  const view = new TuningView(root, context, data, mirror);
  const head = div("tvmdbg-tuning-head tvmdbg-row tvmdbg-wrap tvmdbg-fixed tvmdbg-gap-12");
  const { across, down } = splits(root);
  const { zoom, fit, copy, all } = chartTools(view, view.camera, "all trials", "the trial");
  const best = tool(["b"], "best", "go to the best trial", () => view.best(), { icon: icons.PEAK });
  const { bar } = view;
  const left = [barTitle("Tuning"), bar.tasks, bar.along, zoom, fit, best, barSpace()];
  const toolbar = new Toolbar(
    root,
    "tuning",
    [...left, bar.matches, bar.field, copy],
    { always: [copy], sometimes: [zoom, fit, best, bar.along] },
    signal,
  );
  bar.changed = () => toolbar.refresh();
  root.replaceChildren(
    toolbar.node,
    head,
    div("tvmdbg-tuning-above", view.stage.node, across, view.table.node),
    down,
    view.panes.node,
    view.tooltip.node,
    mirror.node,
  );
  const resized = () => {
    view.stage.changed();
    return 0;
  };
  keepSize(root, "tuning", options, { narrow: NARROW }, resized, signal);
  onOptions(options, TRAITS, () => view.look(), signal);
  // Click selects, drag marks a range, with Shift it pans.
  view.camera.bind(root, view.stage, view, signal);
  bindKeys(
    root,
    [...actions(view, [...all, best]), paletteAction(root), fullScreenAction(root)],
    signal,
  );
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
