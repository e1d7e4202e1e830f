import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunClient } from "../src/shared/run_client.ts";
import type { PlaneView, TensorAnswer, TensorRequest } from "../src/shared/tensor_questions.ts";
import type { CellChoice } from "../src/tensor/color_scale.ts";
import { Pictures } from "../src/tensor/pictures.ts";
import { Sight } from "../src/tensor/sight.ts";
import { answer } from "./tensor_answer.ts";

const [SIDE, LENGTH] = [600, 20];
const shape = [LENGTH, SIDE, SIDE];
const at = (index: number): PlaneView => ({
  ...{ entry: [3, 0], reading: null, layout: "", sizes: {} },
  ...{ axes: [1, 2], index: [index, 0, 0] },
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Answers come when they are let; each tile is one cell a value of the stage. A page knows all that it holds. */
function world(cells: CellChoice = "mean", isPage = false) {
  const asked: TensorRequest[] = [];
  const waiting: (() => void)[] = [];
  const shown: TensorAnswer[] = [];
  const completed: TensorAnswer[] = [];
  const told = (question: TensorRequest): TensorAnswer => {
    const [rows, cols] = [question.rows, question.cols];
    const mean = new Float32Array(rows * cols);
    const tile = {
      ...{ row: 0, col: 0, rows, cols, planeRows: SIDE, planeCols: SIDE, exact: true },
      ...{ rowStep: Math.ceil(SIDE / rows), colStep: Math.ceil(SIDE / cols) },
      ...{ mean, flags: new Uint8Array(mean.length) },
    };
    const bounds =
      question.meanOnly && !isPage
        ? { minimum: mean, maximum: mean, spans: [[-1, 1] as const] }
        : { minimum: mean.map(() => -1), maximum: mean.map(() => 1) };
    const { axes, index } = question;
    return {
      ...answer({}),
      ...{ entry: question.entry, layout: "", sizes: {}, viewShape: shape },
      ...{ axes: [...axes!], index: [...index!], tile: { ...tile, ...bounds } },
    } as TensorAnswer;
  };
  const run = {
    tensor: (question: TensorRequest) => {
      asked.push(question);
      return new Promise((resolve) => waiting.push(() => resolve(told(question))));
    },
  } as unknown as RunClient;
  const sight = new Sight();
  sight.over(SIDE, SIDE);
  sight.resize({ width: 400, height: 300 }, 1);
  const pictures = new Pictures(
    run,
    sight,
    {
      answered: (each) => shown.push(each),
      completed: (each) => completed.push(each),
      known: () => {},
      failed: (error) => {
        throw error;
      },
      busy: () => {},
      refining: () => {},
      cells: () => cells,
    },
    new AbortController().signal,
  );
  const want = (index: number, known = shown.at(-1) ?? null) =>
    pictures.want(at(index), { shape, axes: [1, 2], index: [index, 0, 0] }, known, null);
  const come = async () => {
    for (const each of waiting.splice(0)) each();
    await vi.advanceTimersByTimeAsync(0);
  };
  /** Goes to a plane, which is answered and found shown. */
  const go = async (index: number) => {
    want(index);
    await come();
    want(index);
  };
  const choose = (choice: CellChoice) => {
    cells = choice;
  };
  return { asked, shown, completed, want, come, go, choose };
}

describe("the bounds of cells", () => {
  it("come with the first picture, but after a jump only once one rests", async () => {
    const { asked, shown, completed, come, go } = world();
    await go(0);
    await go(7);
    expect(asked.map(({ meanOnly }) => meanOnly)).toEqual([undefined, true]);
    expect(shown.at(-1)!.tile!.spans).toEqual([[-1, 1]]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(3);
    expect([asked[2]!.index, asked[2]!.meanOnly]).toEqual([[7, 0, 0], undefined]);
    await come();
    expect(completed.map(({ index, tile }) => [index, tile!.maximum[0]])).toEqual([[[7, 0, 0], 1]]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(3);
  });

  it("are not waited for where one goes on, nor shown on another plane", async () => {
    const { asked, completed, want, come, go } = world();
    await go(0);
    await go(7);
    await vi.advanceTimersByTimeAsync(1000);
    want(12);
    await come();
    expect(completed).toEqual([]);
    expect(asked.map(({ index }) => index![0])).toEqual([0, 7, 7, 12]);
  });

  it("are asked for at once where they are what is shown", async () => {
    const { asked, go } = world("largest");
    await go(0);
    await go(7);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked.map(({ meanOnly }) => meanOnly)).toEqual([undefined, undefined]);
  });

  it("are asked for as soon as they are chosen, also while a picture without them comes", async () => {
    const { asked, shown, want, come, go, choose } = world();
    await go(0);
    want(7);
    choose("extreme");
    await come();
    expect(shown.at(-1)!.tile!.spans).toBeDefined();
    want(7);
    expect(asked.map(({ meanOnly }) => meanOnly)).toEqual([undefined, true, undefined]);
    await come();
    expect(shown.at(-1)!.tile!.spans).toBeUndefined();
  });

  it("are never missing where a page holds the values", async () => {
    const { asked, shown, completed, go } = world("mean", true);
    await go(0);
    await go(7);
    await vi.advanceTimersByTimeAsync(1000);
    expect(shown.at(-1)!.tile!.maximum[0]).toBe(1);
    expect([asked.length, completed.length]).toEqual([2, 0]);
  });
});
