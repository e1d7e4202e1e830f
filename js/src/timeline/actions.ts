import { COPY_KEY } from "../shared/client/code_copy.ts";
import type { KeyAction } from "../shared/ui/keys.ts";
import { OtherCharts } from "./charts/other_charts.ts";
import type { Flamechart } from "./flamechart.ts";
import type { Part } from "./state.ts";
import { aboveOrBelow, nextInTrack, nextOccurrence } from "./steps.ts";
import { counterSentence } from "./tracks/extras.ts";

const PARTS: readonly Part[] = ["both", "chart", "table"];

/** What the keys need of the flamechart. */
type Steered = Pick<Flamechart, "scene" | "camera" | "ranges" | "charts" | "table" | "tables"> &
  Pick<Flamechart, "bar" | "body" | "searching" | "critical" | "active" | "activate" | "say"> &
  Pick<Flamechart, "pick" | "pickRow" | "selection" | "fold" | "sort" | "snap" | "showPart"> &
  Pick<Flamechart, "showChart" | "nextColor" | "copy" | "clear">;

/** What the keys do; while the table is active the arrows up and down move through its rows. */
export function actions(view: Steered): KeyAction[] {
  const { scene } = view;
  const pick = (slice: number) => {
    if (slice >= 0) view.pick(slice);
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
  const timed = (run: () => void) => () => {
    if (isTime()) run();
  };
  return [
    {
      keys: ["ArrowLeft"],
      does: "previous slice (Shift: zero-duration too) or edge",
      run: (event) => sideways(-1, event.shiftKey),
    },
    {
      keys: ["ArrowRight"],
      does: "next slice or edge",
      run: (event) => sideways(1, event.shiftKey),
    },
    {
      keys: ["ArrowUp"],
      does: "parent slice, else the row above",
      run: () => vertical(-1),
    },
    {
      keys: ["ArrowDown"],
      does: "longest child, else the row below",
      run: () => vertical(1),
    },
    { keys: ["Home"], does: "first slice or row", run: () => end(-1) },
    { keys: ["End"], does: "last slice or row", run: () => end(1) },
    { keys: ["PageUp"], does: "table: a page up", run: () => row(-view.table.page) },
    { keys: ["PageDown"], does: "table: a page down", run: () => row(view.table.page) },
    {
      keys: ["w", "+", "="],
      does: "zoom in",
      run: timed(() => view.camera.zoom(1 / 1.5)),
    },
    { keys: ["s", "-"], does: "zoom out", run: timed(() => view.camera.zoom(1.5)) },
    { keys: ["a"], does: "pan left", run: timed(() => view.camera.pan(-0.2)) },
    { keys: ["d"], does: "pan right", run: timed(() => view.camera.pan(0.2)) },
    {
      keys: ["f"],
      does: "zoom to the measure, range, gap or slice",
      run: timed(() => view.camera.fit()),
    },
    { keys: ["0"], does: "fit the whole flamechart", run: timed(() => view.camera.all()) },
    {
      keys: ["Enter"],
      does: "center the slice; set a mark while measuring",
      run: timed(() => {
        if (scene.measure) view.ranges.accept();
        else if (scene.current >= 0) {
          const { current, slices } = scene;
          view.camera.center((slices.startOf(current) + slices.endOf(current)) / 2);
        }
      }),
    },
    {
      keys: ["m"],
      does: "measure from the selected slice, edge to edge",
      run: timed(() => {
        view.activate("chart");
        view.ranges.measure();
      }),
    },
    {
      keys: ["x"],
      does: "snap ranges to edges, or not (Alt: not while held)",
      run: timed(() => view.snap()),
    },
    {
      keys: ["]", "g"],
      does: "next gap of the track (G: previous)",
      run: (event) => timed(() => view.ranges.nextGap(event.shiftKey ? -1 : 1))(),
    },
    { keys: ["["], does: "previous gap", run: timed(() => view.ranges.nextGap(-1)) },
    { keys: ["{"], does: "next longer gap", run: timed(() => view.ranges.gapByLength(-1)) },
    {
      keys: ["}"],
      does: "next shorter gap, starting with the longest",
      run: timed(() => view.ranges.gapByLength(1)),
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
      does: "switch the arrow keys between table and chart",
      run: () => view.activate(inTable() ? "chart" : "table"),
    },
    {
      keys: ["v"],
      does: "show both, chart, table",
      run: () => {
        const shown = PARTS.indexOf(view.body.dataset.show as Part);
        view.showPart(PARTS[(shown + 1) % PARTS.length]!);
      },
    },
    {
      keys: ["c"],
      does: "next chart: time, merged, folded, repeats, roofline",
      run: () => {
        const kinds = OtherCharts.offered.map(([kind]) => kind);
        view.showChart(kinds[(kinds.indexOf(view.charts.kind) + 1) % kinds.length]!);
      },
    },
    {
      keys: ["e"],
      does: "follow an arrow (Shift: back)",
      run: (event) => {
        const to = scene.flows?.follow(scene.current, event.shiftKey ? -1 : 1) ?? -1;
        if (to >= 0) view.pick(to);
        else view.say(scene.flows?.sentence(scene.current) ?? "this run has no arrows");
      },
    },
    {
      keys: ["p"],
      does: "mark the critical path (Shift: select its operators)",
      run: (event) => {
        if (event.shiftKey) void view.critical.selectAll();
        else view.critical.toggle();
      },
    },
    {
      keys: ["u"],
      does: "announce counters (memory in use) at the selected slice",
      run: () => view.say(counterSentence(scene)),
    },
    {
      keys: ["b"],
      does: "group the table by the next column (Shift: previous)",
      run: (event) => view.tables.next(event.shiftKey ? -1 : 1),
    },
    {
      keys: ["o"],
      does: "sort the table by time or in execution order",
      run: () => view.sort(view.table.order === "time" ? "order" : "time"),
    },
    ...(view.tables.change
      ? [
          {
            keys: ["i"],
            does: "two runs: differences by operator or op kind",
            run: () => view.tables.change!.toggleKinds(),
          },
          {
            keys: ["j"],
            does: "two runs: list the next kind of difference",
            run: () => view.tables.change!.nextFilter(),
          },
        ]
      : []),
    {
      keys: ["l"],
      does: "next color mode",
      run: () => view.nextColor(),
    },
    { keys: ["k"], does: "select all nodes of the same op kind", run: () => view.selection.kind() },
    {
      keys: ["z"],
      does: "fold or unfold the track",
      run: () => view.fold(scene.foldCurrent()),
    },
    {
      keys: ["r"],
      does: "make the visible range the marked range",
      run: timed(() => view.ranges.mark([scene.viewport.start, scene.viewport.end])),
    },
    {
      keys: ["/"],
      does: "search: words, an id, /regex/",
      run: () => view.bar.focusSearch(),
    },
    {
      keys: ["n"],
      does: "next hit (Shift: previous)",
      run: (event) => view.searching.next(event.shiftKey ? -1 : 1),
    },
    { keys: [COPY_KEY], does: "copy Python code for the selection", run: () => view.copy() },
    {
      keys: ["Escape"],
      does: "clear search, measure, range, gap, selection",
      run: () => view.clear(),
    },
  ];
}
