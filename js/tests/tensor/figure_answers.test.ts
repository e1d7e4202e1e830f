import { describe, expect, it } from "vitest";
import { Client } from "../../src/shared/client/client.ts";
import type { TensorAnswer } from "../../src/shared/client/tensor_questions.ts";
import {
  answersOf,
  captionOf,
  headerOf,
  type TensorFigureRequest,
} from "../../src/tensor/figure_answers.ts";
import { answer, statistics } from "./answer.ts";

type Question = { kind: string; layout?: string | null; rows?: number };

/** A figure's request, and the questions that it leads to. */
function figure(
  options: Partial<TensorFigureRequest["options"]>,
  header: Partial<TensorAnswer>,
  fault: (question: Question) => string = () => "",
) {
  const asked: Question[] = [];
  const client = new Client({
    async ask(kind, question) {
      const whole = { kind, ...question };
      asked.push(whole);
      const why = fault(whole);
      if (why) throw new Error(why);
      const result =
        kind === "statistics" ? statistics({}) : { ...answer({}), tile: null, ...header };
      return { result, buffers: [] };
    },
  });
  const defaults = { entry: [3, 0], show: "heatmap", reading: null, data_layout: null };
  const own = { data_sizes: null, axes: null, index: null, region: null, along: null };
  const all = { ...defaults, ...own, most_cells: 9000, ...options };
  return { asked, request: { client, options: all } as unknown as TensorFigureRequest };
}

async function answered(request: TensorFigureRequest) {
  return answersOf(request, await headerOf(request, null, "", null));
}

describe("questions of a figure", () => {
  it("ask for as many cells as the picture may have", async () => {
    const { asked, request } = figure({}, { viewShape: [3000, 2000] });
    await answered(request);
    expect(asked.at(-1)).toMatchObject({ rows: 55, cols: 161, exact: true });
  });

  it("sample a huge tensor and a huge plane", async () => {
    const { asked, request } = figure({}, { nbytes: 2 ** 30, viewShape: [2 ** 14, 2 ** 13] });
    await answered(request);
    expect(asked.slice(-2)).toMatchObject([
      { kind: "statistics", exact: false },
      { kind: "tensor", exact: false },
    ]);
  });

  it("fall back where the tensor has no such reading, plane or layout", async () => {
    const { request } = figure(
      { reading: "bytes", data_layout: "NC", axes: [5, 6], index: [9, 9], region: [0, 0, 9, 9] },
      {},
      ({ layout }) => (layout === "NC" ? "it does not fit" : ""),
    );
    const found = await answered(request);
    expect(found).toMatchObject({ misfit: "it does not fit", region: null });
    expect(found.plane).toEqual({ shape: [2, 2], axes: [0, 1], index: [1, 1] });
  });

  it("end with the reason where values cannot be read", async () => {
    const lost = figure({}, {}, ({ kind }) => (kind === "statistics" ? "it is gone." : ""));
    expect(await answered(lost.request)).toMatchObject({
      unread: "The values cannot be read: it is gone.",
      plane: null,
    });
    const { request } = figure({}, { trouble: "it is gone", unread: "it is gone." });
    expect(await answered(request)).toMatchObject({
      unread: "The values cannot be read: it is gone. The statistics are from an earlier read.",
      plane: null,
    });
  });

  it("end with the header where values are private", async () => {
    const { asked, request } = figure({ show: "line plot" }, { withheld: "private" });
    expect((await answered(request)).plane).toBeNull();
    expect(asked.filter(({ kind, rows }) => kind !== "statistics" && rows !== 0)).toEqual([]);
  });
});

describe("the caption of a figure", () => {
  const shape = { viewShape: [2, 3, 40, 30], axisNames: ["N", "C", "H", "W"], along: [1, 2, 3, 0] };

  it.each([
    ["heatmap", {}, "rows: H (40), columns: W (30); N at 0 of 2; C at 0 of 3"],
    ["channels", {}, "channels along C (3); rows: H (40), columns: W (30); N at 0 of 2"],
    [
      "channels",
      { region: [1, 2, 3, 4] },
      "channels along C (3); rows: H (40), columns: W (30); N at 0 of 2",
    ],
    ["line plot", {}, "along C (3), over all other axes"],
    [
      "heatmap",
      { region: [1, 2, 3, 4] },
      "rows: H (40), columns: W (30); zoomed to rows 1 to 3, columns 2 to 5; N at 0 of 2; C at 0 of 3",
    ],
  ] as const)("names the axes of %s", async (show, more, said) => {
    const { request } = figure({ show, ...more } as never, shape);
    expect(captionOf(await answered(request), show)).toBe(said);
  });
});
