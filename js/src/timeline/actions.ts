import { RowKind } from "../shared/client/timeline_columns.ts";
import { action, type KeyAction } from "../shell/keys.ts";
import { OtherCharts } from "./charts/other_charts.ts";
import { longestChild } from "./data/neighbors.ts";
import type { Row } from "./data/row.ts";
import type { Slices } from "./data/slices.ts";
import type { ShownPart } from "./data/state.ts";
import type { Flamechart } from "./flamechart.ts";
import { counterSentence } from "./tracks/counters.ts";
import type { TimelineScene } from "./tracks/scene.ts";

/** The slice `by` places on in the current slice's row; the first of the first track if none is current. */
export function nextInTrack(scene: TimelineScene, by: number, instants = false): number {
  const { slices, current } = scene;
  const own = slices.rows[slices.rowOf(current)];
  const track =
    slices.tracks[
      own?.track ??
        Math.max(
          0,
          scene.slices.tracks.findIndex((track) => track.rows.length > 0),
        )
    ];
  if (!track) return -1;
  const isInstant = own?.kind === RowKind.INSTANT;
  const row = own && !isInstant ? own : track.rows[0];
  if (track.instants && (instants || !row)) {
    const all = [track.instants, ...(row ? [row] : [])].flatMap(slicesOf);
    all.sort((a, b) => slices.startOf(a) - slices.startOf(b) || slices.endOf(a) - slices.endOf(b));
    return all[clamped(own ? all.indexOf(current) + by : 0, 0, all.length)] ?? -1;
  }
  if (!row?.length) return -1;
  let from = own ? current : by > 0 && by < Infinity ? row.first - 1 : row.first;
  if (isInstant) from = row.startingAt(slices.startOf(current)) - (by > 0 ? 1 : 0);
  return clamped(from + by, row.first, row.last);
}

/** Parent of the current slice or its longest child; without one, the slice at the same time in the next row. */
export function aboveOrBelow(scene: TimelineScene, by: number): number {
  const { slices, current } = scene;
  const own = slices.rows[slices.rowOf(current)];
  if (!own) return nextInTrack(scene, 1);
  const related = by < 0 ? slices.parentOf(current) : longestChild(slices, current);
  if (related >= 0) return related;
  const isInstant = own.kind === RowKind.INSTANT;
  const rows = slices.tracks.flatMap((track) => track.rows);
  let at = rows.findIndex((row) => (isInstant ? row.track === own.track : row === own)) + by;
  while (by > 0 && rows[at]?.track === own.track && rows[at]?.kind === RowKind.NESTED) at++;
  const row = rows[at];
  if (!row?.length) return -1;
  const middle = (slices.startOf(current) + slices.endOf(current)) / 2;
  return clamped(row.endingAfter(middle), row.first, row.last);
}

/** The slice `by` occurrences on of the current slice's node. */
export function nextOccurrence({ slices, current }: TimelineScene, by: number): number {
  const node = slices.nodeOf(current);
  if (node < 0) return nextOfName(slices, current, by);
  return slices.of(node)[slices.occurrenceOf(current) + by] ?? -1;
}

/** The next slice of no known node that has the same name, in the order of the file. */
function nextOfName(slices: Slices, current: number, by: number): number {
  const name = slices.nameCodeOf(current);
  const source = slices.sourceOf(current);
  for (let at = source + by; at >= 0 && at < slices.count + slices.unusable; at += by) {
    const slice = slices.bySource(at);
    if (slice >= 0 && slices.nodeOf(slice) < 0 && slices.nameCodeOf(slice) === name) return slice;
  }
  return -1;
}

function slicesOf(row: Row): number[] {
  return Array.from({ length: row.length }, (_, i) => row.first + i);
}

function clamped(position: number, first: number, last: number): number {
  return Math.min(Math.max(first, position), last - 1);
}

const PARTS: readonly ShownPart[] = ["both", "chart", "table"];

/** Keyboard actions; while the table is active, up and down move through its rows. */
export function actions(view: Flamechart): KeyAction[] {
  const { scene } = view;
  const { tools } = view.bar;
  const pick = (slice: number) => {
    if (slice < 0) return;
    view.showPanel("details");
    view.pick(slice);
  };
  const row = (by: number) => {
    const next = view.table.next(by);
    if (next >= 0) view.pickRow(next);
  };
  const inTable = () => view.active === "table";
  const isTime = () => view.charts.kind === "time";
  const vertical = (by: number) => {
    if (inTable()) row(by);
    else if (scene.measure) view.ranges.step(by, true);
    else if (isTime()) pick(aboveOrBelow(scene, by));
  };
  const sideways = (by: number, instants: boolean) => {
    if (scene.measure) view.ranges.step(by);
    else if (isTime()) pick(nextInTrack(scene, by, instants));
  };
  const end = (by: number) => {
    if (inTable()) row(by * view.table.count);
    else if (isTime()) pick(nextInTrack(scene, by * Infinity));
  };
  const timed = (...[keys, does, run]: Parameters<typeof action>) =>
    action(keys, does, (event) => {
      if (isTime()) run(event);
    });
  return [
    action(["ArrowLeft"], "previous slice (Shift: zero-duration too) or edge", (event) =>
      sideways(-1, event.shiftKey),
    ),
    action(["ArrowRight"], "next slice or edge", (event) => sideways(1, event.shiftKey)),
    action(["ArrowUp"], "parent slice, else the row above", () => vertical(-1)),
    action(["ArrowDown"], "longest child, else the row below", () => vertical(1)),
    action(["Home"], "first slice or row", () => end(-1)),
    action(["End"], "last slice or row", () => end(1)),
    action(["PageUp"], "table: a page up", () => row(-view.table.page)),
    action(["PageDown"], "table: a page down", () => row(view.table.page)),
    tools.zoomIn,
    tools.zoomOut,
    timed(["a"], "pan left", () => view.camera.pan(-0.2)),
    timed(["d"], "pan right", () => view.camera.pan(0.2)),
    timed(["f"], "zoom to the measure, range, gap or slice", () => view.camera.fit()),
    tools.fit,
    timed(["h"], "executions, or all with loading", () => view.home()),
    timed(["Enter"], "center the slice; set a mark while measuring", () => {
      if (scene.measure) view.ranges.accept();
      else if (scene.current >= 0) {
        const { current, slices } = scene;
        view.camera.center((slices.startOf(current) + slices.endOf(current)) / 2);
      }
    }),
    timed(tools.measure.keys, "measure from the selected slice, edge to edge", tools.measure.run),
    timed(["x"], "snap ranges to edges, or not (Alt: not while held)", () => view.snap()),
    timed(["]", "g"], "next gap of the track (G: previous)", (event) =>
      view.ranges.nextGap(event.shiftKey ? -1 : 1),
    ),
    timed(["["], "previous gap", () => view.ranges.nextGap(-1)),
    timed(["{"], "next longer gap", () => view.ranges.gapByLength(-1)),
    timed(["}"], "next shorter gap, starting with the longest", () => view.ranges.gapByLength(1)),
    action(["."], "next slice of the same node or name", () => pick(nextOccurrence(scene, 1))),
    action([","], "previous slice of the same node or name", () => pick(nextOccurrence(scene, -1))),
    action(["t"], "switch the arrow keys between table and chart", () =>
      view.activate(inTable() ? "chart" : "table"),
    ),
    action(["v"], "show both, chart, table", () => {
      const shown = PARTS.indexOf(view.body.dataset.show as ShownPart);
      view.showPart(PARTS[(shown + 1) % PARTS.length]!);
    }),
    action(["q"], "beside a low chart: details or table", () => view.nextPanel()),
    action(["c"], "next chart: time, merged, folded, repeats, roofline", () => {
      const kinds = OtherCharts.offered.map(([kind]) => kind);
      view.showChart(kinds[(kinds.indexOf(view.charts.kind) + 1) % kinds.length]!);
    }),
    action(["e"], "follow an arrow (Shift: back)", (event) => {
      const to = scene.flows?.follow(scene.current, event.shiftKey ? -1 : 1) ?? -1;
      if (to >= 0) view.pick(to);
      else view.say(scene.flows?.sentence(scene.current) ?? "this run has no arrows");
    }),
    action(["p"], "mark the critical path (Shift: select its operators)", (event) => {
      if (event.shiftKey) void view.critical.selectAll();
      else view.critical.toggle();
    }),
    action(["u"], "announce counters (memory in use) at the selected slice", () =>
      view.say(counterSentence(scene)),
    ),
    action(["b"], "group the table by the next column (Shift: previous)", (event) =>
      view.tables.next(event.shiftKey ? -1 : 1),
    ),
    action(["o"], "sort the table by time or in execution order", () =>
      view.sort(view.table.order === "time" ? "order" : "time"),
    ),
    ...(view.tables.change
      ? [
          action(["i"], "two runs: differences by operator or op kind", () =>
            view.tables.change!.toggleKinds(),
          ),
          action(["j"], "two runs: list the next kind of difference", () =>
            view.tables.change!.nextFilter(),
          ),
        ]
      : []),
    action(["l"], "next color mode", () => view.nextColor()),
    action(["k"], "select all nodes of the same op kind", () => view.selection.kind()),
    action(["z"], "fold or unfold the track", () => view.fold(scene.foldCurrent())),
    timed(["r"], "make the visible range the marked range", () =>
      view.ranges.mark([scene.viewport.start, scene.viewport.end]),
    ),
    action(["/"], "search: words, an id, /regex/", () => view.bar.focusSearch()),
    action(["n"], "next hit (Shift: previous)", (event) =>
      view.searching.next(event.shiftKey ? -1 : 1),
    ),
    tools.copy,
    action(["Escape"], "clear search, measure, range, gap, selection", () => view.clear()),
  ];
}
