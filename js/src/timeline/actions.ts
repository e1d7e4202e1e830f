import { COPY_KEY } from "../shared/code_copy.ts";
import type { KeyAction } from "../shared/keys.ts";
import type { Flamechart } from "./flamechart.ts";
import { OtherCharts } from "./other_charts.ts";
import type { Part } from "./state.ts";
import { nextInTrack, nextOccurrence, otherTrack } from "./steps.ts";

const PARTS: readonly Part[] = ["both", "chart", "table"];

/** What the keys do; while the table is active the arrows up and down move through its rows. */
export function actions(view: Flamechart): KeyAction[] {
  const { scene } = view;
  const pick = (slice: number) => {
    if (slice >= 0) view.pick(slice);
  };
  const row = (by: number) => {
    const next = view.table.next(by);
    if (next >= 0) view.pickRow(next);
  };
  const inTable = () => view.active === "table";
  const vertical = (by: number) => {
    if (inTable()) row(by);
    else pick(otherTrack(scene, by));
  };
  const end = (by: number) => {
    if (inTable()) row(by * view.table.count);
    else pick(nextInTrack(scene, by * Infinity));
  };
  const pan = (share: number) => view.view(() => scene.viewport.pan(scene.viewport.span * share));
  return [
    {
      keys: ["ArrowLeft"],
      does: "previous slice of the track (with shift also those of no duration)",
      run: (event) => pick(nextInTrack(scene, -1, event.shiftKey)),
    },
    {
      keys: ["ArrowRight"],
      does: "next slice",
      run: (event) => pick(nextInTrack(scene, 1, event.shiftKey)),
    },
    {
      keys: ["ArrowUp"],
      does: "lane or track above; in the table: row above",
      run: () => vertical(-1),
    },
    {
      keys: ["ArrowDown"],
      does: "lane or track below; in the table: row below",
      run: () => vertical(1),
    },
    { keys: ["Home"], does: "first slice (row)", run: () => end(-1) },
    { keys: ["End"], does: "last slice (row)", run: () => end(1) },
    { keys: ["PageUp"], does: "table: a page up", run: () => row(-view.table.page) },
    { keys: ["PageDown"], does: "table: a page down", run: () => row(view.table.page) },
    { keys: ["w", "+", "="], does: "zoom in", run: () => view.zoom(1 / 1.5) },
    { keys: ["s", "-"], does: "zoom out", run: () => view.zoom(1.5) },
    { keys: ["a"], does: "pan left", run: () => pan(-0.2) },
    { keys: ["d"], does: "pan right", run: () => pan(0.2) },
    {
      keys: ["f"],
      does: "zoom to the marked range or the selected slice",
      run: () => view.zoomToSelection(),
    },
    { keys: ["0"], does: "zoom out to all", run: () => view.view(() => scene.viewport.showAll()) },
    {
      keys: ["Enter"],
      does: "bring the selected slice to the middle",
      run: () => {
        if (scene.current < 0) return;
        const at = (scene.slices.startOf(scene.current) + scene.slices.endOf(scene.current)) / 2;
        view.view(() => scene.viewport.centre(at));
      },
    },
    {
      keys: ["."],
      does: "next slice of the same node or name",
      run: () => pick(nextOccurrence(scene, 1)),
    },
    {
      keys: [","],
      does: "previous slice of the same node or name",
      run: () => pick(nextOccurrence(scene, -1)),
    },
    {
      keys: ["t"],
      does: "table or chart: where the arrow keys act",
      run: () => view.activate(inTable() ? "chart" : "table"),
    },
    {
      keys: ["v"],
      does: "show both, the chart alone, the table alone",
      run: () => {
        const shown = PARTS.indexOf(view.body.dataset.show as Part);
        view.showPart(PARTS[(shown + 1) % PARTS.length]!);
      },
    },
    {
      keys: ["c"],
      does: "the next chart: slices in time, or one in their place",
      run: () => {
        const kinds = OtherCharts.offered.map(([kind]) => kind);
        view.showChart(kinds[(kinds.indexOf(view.charts.kind) + 1) % kinds.length]!);
      },
    },
    {
      keys: ["o"],
      does: "sort the table by time or in the order of execution (of the file)",
      run: () => view.sort(view.table.order === "time" ? "order" : "time"),
    },
    { keys: ["k"], does: "select all nodes of the same op kind", run: () => view.selectKind() },
    {
      keys: ["r"],
      does: "mark the part in view as range and sum it up",
      run: () => view.mark([scene.viewport.start, scene.viewport.end]),
    },
    { keys: ["/"], does: "search", run: () => view.bar.focusSearch() },
    {
      keys: ["n"],
      does: "next slice found (with shift the previous)",
      run: (event) => view.nextHit(event.shiftKey ? -1 : 1),
    },
    { keys: [COPY_KEY], does: "copy Python code for the selection", run: () => view.copy() },
    { keys: ["Escape"], does: "clear the range, then the selection", run: () => view.clear() },
  ];
}
