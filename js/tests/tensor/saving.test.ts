import { describe, expect, it } from "vitest";
import type { Client } from "../../src/shared/client/client.ts";
import type {
  DataRequest,
  PlaneView,
  ValuesRequest,
} from "../../src/shared/client/tensor_questions.ts";
import { fileName } from "../../src/shell/dom.ts";
import type { Region } from "../../src/tensor/state.ts";
import {
  csvText,
  fetchBytes,
  fetchTexts,
  itemSize,
  npyHeader,
  numbersOf,
} from "../../src/tensor/values/fetch_view.ts";

const AS_NUMBER = { format: "number", scale: 1, zeroPoint: 0 } as const;

const VIEW: PlaneView = {
  entry: [0, 0],
  reading: null,
  layout: "",
  sizes: {},
  axes: [0, 1],
  index: [0, 0],
};
const { signal } = new AbortController();

describe("numpy's file", () => {
  it("has the header that numpy writes", () => {
    const header = npyHeader("<f4", [3, 4]);
    expect(header.length % 64).toBe(0);
    expect([...header.subarray(0, 8)]).toEqual([0x93, 78, 85, 77, 80, 89, 1, 0]);
    expect(new DataView(header.buffer).getUint16(8, true)).toBe(header.length - 10);
    const text = new TextDecoder().decode(header.subarray(10));
    expect(text.trimEnd()).toBe("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
    expect(text.endsWith("\n")).toBe(true);
    expect(new TextDecoder().decode(npyHeader("|b1", [5]))).toContain("'shape': (5,), }");
    expect(new TextDecoder().decode(npyHeader("<i8", []))).toContain("'shape': (), }");
  });

  it("reads items of every type of real numbers", () => {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setInt16(0, -2, true);
    bytes.setUint16(2, 0x3c00, true);
    bytes.setUint16(4, 0x0001, true);
    bytes.setUint16(6, 0xfc00, true);
    expect([...numbersOf("<i2", bytes)!].slice(0, 2)).toEqual([-2, 0x3c00]);
    expect([...numbersOf("<f2", bytes)!].slice(1)).toEqual([1, 2 ** -24, -Infinity]);
    expect(numbersOf("<c8", bytes)).toBeNull();
    expect([itemSize("<c16"), itemSize("|b1")]).toEqual([16, 1]);
  });
});

function answering<Question>(answer: (question: Question) => Promise<object>): Client["ask"] {
  return ((_kind: string, question: Question) => answer(question)) as never;
}

describe("a window of a plane", () => {
  const [planeRows, planeCols] = [7, 10];
  /** Answers as the kernel does: whole rows as many as fit, else a part of one. */
  function kernel(most: number) {
    const asked: DataRequest[] = [];
    return {
      asked,
      ask: answering(async (question: DataRequest) => {
        asked.push(question);
        const { row, col = 0 } = question;
        const cols = Math.min(planeCols - col, most);
        const fit = cols === planeCols ? Math.max(1, Math.floor(most / cols)) : 1;
        const rows = Math.min(question.rows, planeRows - row, fit);
        const items = new Uint16Array(rows * cols);
        for (let k = 0; k < items.length; k += 1) {
          items[k] = (row + Math.floor(k / cols)) * 100 + col + (k % cols);
        }
        const bytes = new DataView(items.buffer);
        return { row, rows, col, cols, descr: "<u2", note: "", bytes };
      }),
    };
  }

  const windows: Region[] = [
    [0, 0, 7, 10],
    [2, 3, 4, 5],
    [6, 9, 1, 1],
    [1, 0, 5, 10],
    [0, 7, 7, 3],
  ];
  it.each([3, 10, 25, 1000])("is assembled from answers of up to %i values", async (most) => {
    for (const [row, col, rows, cols] of windows) {
      const seen: number[] = [];
      const { descr, bytes } = await fetchBytes(
        kernel(most),
        VIEW,
        [row, col, rows, cols],
        (done) => seen.push(done),
        signal,
      );
      const wanted = Array.from(
        { length: rows * cols },
        (_, k) => (row + Math.floor(k / cols)) * 100 + col + (k % cols),
      );
      expect(descr).toBe("<u2");
      expect([...new Uint16Array(bytes.buffer)]).toEqual(wanted);
      expect(seen.at(-1)).toBe(rows * cols);
    }
  });

  it("skips values before it in rows longer than an answer", async () => {
    const run = kernel(2);
    await fetchBytes(run, VIEW, [0, 8, 3, 2], () => {}, signal);
    expect(run.asked.map(({ row, col }) => [row, col])).toEqual([
      [0, 0],
      [0, 8],
      [1, 8],
      [2, 8],
    ]);
  });

  it("rejects an answer about other values", async () => {
    const run = kernel(100);
    const other = {
      ask: answering(async (question: DataRequest) => ({
        ...(await run.ask("data", question)),
        row: 5,
      })),
    };
    await expect(fetchBytes(other, VIEW, [0, 0, 2, 2], () => {}, signal)).rejects.toThrow(
      "other values",
    );
  });

  it("is fetched as text row by row", async () => {
    const run = {
      ask: answering(async ({ row, col, rows, cols }: ValuesRequest) => ({
        row,
        col,
        rows,
        cols,
        fields: [],
        text: Array.from(
          { length: rows * cols },
          (_, k) => `${row + Math.floor(k / cols)}:${col + (k % cols)}`,
        ),
      })),
    };
    const lines = await fetchTexts(run, VIEW, AS_NUMBER, [3, 5, 40, 600], () => {}, signal);
    expect([lines.length, lines[0]!.length]).toEqual([40, 600]);
    lines.forEach((line, row) => {
      line.forEach((text, col) => {
        if (text !== `${row + 3}:${col + 5}`) throw new Error(`${row}, ${col} holds ${text}`);
      });
    });
  });
});

describe("files", () => {
  it("quote separators", () => {
    expect(
      csvText([
        ["1", "-2.5"],
        ["a,b", 'c"d'],
      ]),
    ).toBe('1,-2.5\r\n"a,b","c""d"\r\n');
  });

  it("have safe names", () => {
    expect(fileName(["3-0", "../conv<2>d", "x-x"], "npy")).toBe("3-0_conv_2_d_x-x.npy");
    expect(fileName(["", "…"], "csv")).toBe("tvmdbg.csv");
  });
});
