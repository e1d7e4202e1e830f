import { describe, expect, it } from "vitest";
import { MemoryPainter } from "../../src/memory/painter.ts";
import { PlanDescriptions } from "../../src/memory/plan.ts";
import { MemoryScene } from "../../src/memory/scene.ts";
import { ChartBrush } from "../../src/shared/drawing/brush.ts";
import type { Theme } from "../../src/shared/drawing/theme.ts";
import { Lanes } from "../../src/timeline/charts/folded_painter.ts";
import { Icicle } from "../../src/timeline/charts/icicle.ts";
import type { MatrixRow } from "../../src/timeline/charts/repeat_matrix.ts";
import { MarkedSlices } from "../../src/timeline/data/marked.ts";
import { MergedTree } from "../../src/timeline/data/merged_tree.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { hitColumns } from "../../src/timeline/tracks/measure_painter.ts";
import { planOf } from "../memory/fixture.ts";
import { random, timeline } from "../timeline/fixture.ts";

const COLOR = "#808080";
const THEME = { surface: COLOR, text: COLOR, muted: COLOR, background: COLOR } as Theme;

/** A context that draws nothing; a letter is 6 pixels wide. */
function context(): CanvasRenderingContext2D {
  const measureText = (text: string) => ({ width: text.length * 6 });
  return new Proxy({ measureText } as never, {
    get: (target, name) => Reflect.get(target, name) ?? (() => undefined),
    set: () => true,
  });
}

function painted(icicle: Icicle, width: number): number[] {
  const brush = new ChartBrush(context());
  brush.start(THEME);
  icicle.paint(brush, width, 1000);
  return brush.drawn.marks.map(({ place }) => place as number);
}

/** Everything is called by its key. */
const CALLED = {
  title: String,
  titleOf: (key: number) => ({ label: String(key), id: "", shape: "" }),
  node: (key: number) => key,
  group: () => -1,
  fill: () => COLOR,
};

function icicle(parent: number[], self: number[]): Icicle {
  const tree = new MergedTree({
    parent: Int32Array.from(parent),
    key: Int32Array.from(self.keys()),
    self: Float64Array.from(self),
    count: new Int32Array(self.length).fill(1),
  });
  return new Icicle(tree, CALLED as never);
}

describe("A wide item that begins in the pixel column of a narrow one", () => {
  it("has its own box in the merged chart", () => {
    // The last child of the first top is a fifth of a pixel, the first one of the second nearly all of it.
    const chart = icicle([-1, 0, 0, -1, 3], [0, 5000, 10, 0, 4990]);
    const keys = painted(chart, 200).map((place) => chart.tree.key[place]);
    expect(keys).toEqual([0, 3, 1, 4]);
  });

  it.each([1, 2, 3, 4])("has its own box in random merged charts (%i)", (seed) => {
    const next = random(seed);
    const size = 600;
    const parent = Array.from({ length: size }, (_, i) => (i > 20 ? next(i) : -1));
    const chart = icicle(
      parent,
      parent.map(() => (next(9) ? next(5) : next(3000))),
    );
    for (const width of [90, 400, 1500]) {
      const { total, whole } = chart.tree;
      const wide = Array.from(total.keys()).filter((at) => (total[at]! / whole) * width >= 3);
      expect(painted(chart, width)).toEqual(wide);
    }
  });

  it("has its own box among folded repeats", () => {
    const rows = [3, 1, 500, 2, 1, 1].map((ns) => ({ median: ns }) as MatrixRow);
    const columns = [...new Lanes(rows).columns(-1, 0, 508, 10)];
    expect(columns.map(({ row, next, widest }) => [row, next, widest])).toEqual([
      [0, 2, 0],
      [2, 3, 2],
      [3, 6, 3],
    ]);
  });

  it("has its own box in the memory plan", () => {
    const steps = 2000;
    const plan = planOf(
      [
        { slot: 0, first: 0, last: 1 },
        { slot: 0, first: 2, last: 1500 },
        { slot: 0, first: 1501, last: 1502 },
      ],
      { order: Array.from({ length: steps }, (_, step) => step % 3) },
    );
    const scene = new MemoryScene(plan);
    scene.resize(288, 200);
    const painter = new MemoryPainter(scene, new PlanDescriptions(plan), context() as never);
    const { marks } = painter.paint(THEME);
    expect(marks.map(({ entry, kind }) => [entry, kind])).toEqual([
      [0, "column"],
      [1, "entry"],
      [2, "column"],
    ]);
  });

  it("is marked as a hit over all of its columns", () => {
    const slices = new Slices(
      timeline([
        { node: 0, start: 0, duration: 2 },
        { node: 1, start: 2, duration: 50 },
        { node: 2, start: 52, duration: 48 },
      ]),
    );
    const found = new MarkedSlices(slices.count, [0, 1]);
    expect([...hitColumns(slices, found, 0, 10, 10)]).toEqual([1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
  });
});
