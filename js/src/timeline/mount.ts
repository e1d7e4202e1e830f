import type { RunSummary } from "../shared/client/answers.ts";
import { timelineOf } from "../shared/client/timeline_client.ts";
import { onThemeChange, readTheme } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { div, element, KEEP_KEYS, Mirror, span } from "../shell/dom.ts";
import { bindKeys } from "../shell/keys.ts";
import { message } from "../shell/message.ts";
import { mounted } from "../shell/mount.ts";
import { paletteAction } from "../shell/palette.ts";
import { fullScreenAction, type Mount } from "../shell/view.ts";
import { actions } from "./actions.ts";
import { PartsLayout } from "./arrangement.ts";
import { SliceProgress } from "./data/bins.ts";
import { Change } from "./data/change.ts";
import { Names } from "./data/names.ts";
import { Ranking } from "./data/ranking.ts";
import { Slices } from "./data/slices.ts";
import type { TimelineOptions } from "./data/state.ts";
import { SliceDescriptions, type TimelineData } from "./descriptions.ts";
import { Flamechart } from "./flamechart.ts";
import { addExtras } from "./tracks/counters.ts";
import { timelineGestures } from "./tracks/pointer.ts";
import { TimelineScene } from "./tracks/scene.ts";

/** Meaning of the time axis, always visible; more when opened. */
function banner({ columns, unusable }: Slices): HTMLElement {
  const { clock, notes, sources, words } = columns.info;
  const wall = clock === "wall";
  const end = words.said.indexOf(":");
  const note = unusable
    ? [...notes, `${counted(unusable, "slice")} not drawn: no usable start or duration`]
    : notes;
  return element(
    "details",
    { class: `tvmdbg-timeline-clock ${wall ? "" : "tvmdbg-timeline-synthetic"}` },
    element(
      "summary",
      { ...KEEP_KEYS, title: words.said },
      element(
        "span",
        {},
        words.said.slice(0, end),
        span("tvmdbg-timeline-rest", words.said.slice(end)),
      ),
      note.length > 0 && span("tvmdbg-timeline-notes tvmdbg-muted", counted(note.length, "note")),
      ...note.map((note) => span("tvmdbg-timeline-note tvmdbg-muted", note)),
    ),
    div(
      "tvmdbg-timeline-meaning",
      element("p", { class: "tvmdbg-timeline-said" }, words.said),
      ...note.map((note) => element("p", { class: "tvmdbg-timeline-said" }, note)),
      element("p", {}, words.more),
      sources.length > 0 &&
        element("p", { class: "tvmdbg-muted" }, `Read from ${sources.join(", ")}.`),
    ),
  );
}

const NO_TRACE =
  "The times of the nodes are known, but no trace was found, so there is no time axis. The debugger writes one " +
  "(_tvmdbg_execution_trace.json) beside the graph dump when run() is called; open the whole dump folder.";

const TITLE = {
  name: "timeline",
  noun: "flamechart",
  label: "Flamechart: slices in time and operators by time",
};

export const mountTimeline: Mount<TimelineOptions> = (root, context) => {
  const { run, signal } = context;
  const read = () => {
    const timeline = timelineOf(run);
    const compared = timeline.then((columns) =>
      columns?.trackRun.some((trackRun) => trackRun > 0) ? run.ask("change") : null,
    );
    return Promise.all([run.ask("summary"), timeline, run.ask("graph"), compared]);
  };
  return mounted(root, TITLE, signal, read, async (data, say) => {
    const [summary, columns, graph, compared] = data;
    if (!columns) {
      say("empty", "No flamechart", summary.missing.timeline);
      return;
    }
    const slices = new Slices(columns);
    const change = compared && new Change(compared);
    const names = new Names(slices, graph, change);
    const scene = new TimelineScene(slices, names);
    const show = () => {
      const ranking = new Ranking(slices, names);
      if (slices.start === slices.end && ranking.length === 0) {
        say("empty", "No slices and no times in this run", summary.missing.timeline);
        return null;
      }
      ranking.color(names.colors);
      const words = new SliceDescriptions(slices, names, ranking, context.session);
      return build(root, context, { slices, names, graph, change, ranking, words, scene }, summary);
    };
    if (!SliceProgress.expects(slices)) {
      show();
      return;
    }
    const coming = new SliceProgress(slices, run);
    const view = show();
    view?.chart.node.append(coming.node);
    await coming.take(signal);
    if (signal.aborted || !slices.complete) return;
    if (view) view.arrived();
    else show();
    coming.node.remove();
  });
};

function build(
  root: HTMLElement,
  context: Parameters<Mount<TimelineOptions>>[1],
  data: TimelineData,
  summary: RunSummary,
): Flamechart {
  const { session, options, signal } = context;
  const { scene, slices } = data;
  const mirror = new Mirror();
  const drawn = slices.count > 0;
  const noSlices = message("empty", "No slices", summary.missing.timeline ?? NO_TRACE);
  const view = new Flamechart(root, context, data, mirror, drawn ? null : noSlices);
  const below = div(
    "tvmdbg-timeline-below tvmdbg-wrap tvmdbg-line-above tvmdbg-shaded",
    view.details.node,
    view.key.node,
  );
  const chart = div("tvmdbg-timeline-chart tvmdbg-column", view.charts.node, below);
  view.body.append(chart, view.tables.node);
  const line = div(
    "tvmdbg-timeline-line tvmdbg-wrap tvmdbg-line-below",
    drawn && banner(slices),
    view.bar.hits,
    drawn && view.bar.range,
  );
  root.replaceChildren(
    view.bar.node,
    view.body,
    view.bar.list.node,
    view.tooltip.node,
    mirror.node,
  );

  const arrangement = new PartsLayout(view, line, chart, below);
  view.arrangement = arrangement;
  view.showPanel("table");
  arrangement.resize();
  view.showPart(options.get("show"));
  view.showChart(options.get("chart"));
  options.onChange("show", () => view.showPart(options.get("show")), signal);
  options.onChange("chart", () => view.showChart(options.get("chart")), signal);
  options.onChange("sort", () => view.table.sort(options.get("sort")), signal);
  view.color();
  options.onChange("slice_color", () => view.color(), signal);
  const follow = () => view.camera.follow(options.get("time_range"));
  if (options.get("time_range") === null && scene.opening) scene.viewport.show(...scene.opening);
  else follow();
  options.onChange("time_range", follow, signal);

  timelineGestures(view);
  const press = (event: KeyboardEvent) => {
    const acting = view.active === "chart" ? view.charts.shown : view.tables;
    const held = event.ctrlKey || event.metaKey || event.altKey;
    if (event.target !== root || held || !acting?.key(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  root.addEventListener("keydown", press, { signal, capture: true });
  root.addEventListener(
    "tvmdbg:inspect",
    (event) => {
      const out = (event as CustomEvent).detail ?? {};
      view.charts.shown?.inspect(out);
      view.ranges.inspect(out);
      view.tables.inspect(out);
    },
    { signal },
  );
  bindKeys(root, [...actions(view), paletteAction(root, context), fullScreenAction(root)], signal);
  session.onChange(() => view.sync(), signal, ["selected", "slice", "time_range"]);
  session.onChange(() => view.hovering.sync(), signal, ["hovered"]);
  session.onChange(() => view.sync({ anew: true }), signal, ["notes"]);
  onThemeChange(() => view.retheme(readTheme(root)), signal);
  view.sync({ anew: true });
  if (!drawn || options.get("show") === "table" || view.charts.kind !== "time") {
    root.dataset.ready = "true";
  }
  addExtras(context.run, scene, () => arrangement.resize(), signal);
  scene.bins.connect(context.run, () => view.chart.arrived(), signal);
  return view;
}
