import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Client } from "../../src/shared/client/client.ts";
import type {
  ChannelsRequest,
  PlaneView,
  TensorRequest,
  Tile,
} from "../../src/shared/client/tensor_questions.ts";
import { Prefetch } from "../../src/tensor/picture/pictures.ts";
import { answer } from "./answer.ts";

beforeEach(() => {
  vi.stubGlobal("requestAnimationFrame", (paint: () => void) => setTimeout(paint));
});

const LENGTH = 20;
const at = (index: number): PlaneView => ({
  ...{ entry: [3, 0], reading: null, layout: "", sizes: {} },
  ...{ axes: [1, 2], index: [index, 0, 0] },
});
const known = { ...answer({}), cheap: true, viewShape: [LENGTH, 2, 3] };
const wanted = (
  index: number,
  side: number,
  part: TensorRequest["part"] = null,
): TensorRequest => ({
  ...at(index),
  ...{ part, rows: side, cols: side, exact: false },
});

/** Two rows of three, each value a hundred times its index along the axis and its place. */
function world() {
  const asked: ChannelsRequest[] = [];
  const kept = new Map<number, Tile>();
  let broken = false;
  let settled = 0;
  const ahead = new Prefetch(
    {
      ask: (async (_: string, question: ChannelsRequest) => {
        asked.push(question);
        if (broken) throw new Error("gone");
        const { axis, first, count } = question;
        const mean = Float32Array.from(
          { length: 6 * count },
          (_, i) => 100 * (first + Math.floor(i / 6)) + (i % 6),
        );
        return {
          ...{ axis, first, count, length: LENGTH, rows: 2, cols: 3, rowStep: 1, colStep: 1 },
          ...{ planeRows: 2, planeCols: 3, minimum: mean, maximum: mean, mean },
          flags: new Uint8Array(6 * count),
        };
      }) as unknown as Client["ask"],
      has: (view) => kept.has(view.index![0]!),
      keep: (view, tile) => kept.set(view.index![0]!, tile),
      settled: () => {
        settled += 1;
      },
    },
    new AbortController().signal,
  );
  const step = (index: number, side = 2, part: TensorRequest["part"] = null, told = known) =>
    ahead.shown(wanted(index, side, part), told);
  return {
    ahead,
    asked,
    kept,
    step,
    breaks: () => {
      broken = true;
    },
    get settled() {
      return settled;
    },
  };
}

describe("prefetched planes", () => {
  it("are not requested before a step along an axis", async () => {
    const { asked, step } = world();
    expect(step(3)).toBeNull();
    expect(step(9)).toBeNull();
    expect(asked).toEqual([]);
  });

  it("are the next ones in the direction of the step", async () => {
    const { asked, kept, step } = world();
    step(3);
    await step(4);
    expect(asked).toMatchObject([{ axis: 0, first: 5, count: 4, rows: 2, cols: 2 }]);
    expect([...kept.keys()]).toEqual([5, 6, 7, 8]);
    expect(Array.from(kept.get(7)!.mean)).toEqual([700, 701, 702, 703, 704, 705]);
    expect(kept.get(7)).toMatchObject({ row: 0, col: 0, rows: 2, cols: 3, exact: true });
    const other = world();
    other.step(9);
    await other.step(8);
    expect(other.asked).toMatchObject([{ first: 4, count: 4 }]);
  });

  it("are requested again when few are left, up to the end of the axis", async () => {
    const { asked, step } = world();
    step(12);
    await step(13);
    expect(step(14)).toBeNull();
    expect(step(15)).toBeNull();
    await step(16);
    expect(step(17)).toBeNull();
    expect(step(18)).toBeNull();
    expect(step(19)).toBeNull();
    expect(asked.map(({ first, count }) => [first, count])).toEqual([
      [14, 4],
      [18, 2],
    ]);
  });

  it("are fewer for large planes, and none for parts or costly ones", async () => {
    const { asked, step } = world();
    step(3);
    await step(4, 512);
    expect(asked).toMatchObject([{ first: 5, count: 1 }]);
    expect(step(5, 1024)).toBeNull();
    expect(step(6, 2, [0, 0, 1, 1])).toBeNull();
    expect(step(7, 2, null, { ...known, cheap: false })).toBeNull();
  });

  it("are pending until they arrive or fail", async () => {
    const world_ = world();
    const { ahead, step, breaks } = world_;
    step(3);
    breaks();
    const coming = step(4);
    expect([5, 8, 9].map((index) => ahead.isComing(at(index)))).toEqual([true, true, false]);
    expect(ahead.isComing({ ...at(5), reading: "packed" })).toBe(false);
    expect(ahead.isComing({ ...at(5), axes: [2, 1] })).toBe(false);
    expect(step(5)).toBeNull();
    await coming;
    expect(ahead.isComing(at(5))).toBe(false);
    expect(world_.settled).toBe(1);
  });

  it("are dropped with their tensor", async () => {
    const world_ = world();
    world_.step(3);
    const coming = world_.step(4);
    world_.ahead.forget();
    expect(world_.ahead.isComing(at(5))).toBe(false);
    await coming;
    expect(world_.settled).toBe(0);
  });
});
