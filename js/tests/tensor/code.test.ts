import { describe, expect, it } from "vitest";
import type { TensorAnswer } from "../../src/shared/client/tensor_questions.ts";
import { formatOf, showOf } from "../../src/tensor/state.ts";
import { codeText, savingText } from "../../src/tensor/values/code_text.ts";
import { shown } from "./answer.ts";

function of(change: Partial<TensorAnswer>, more: object = {}) {
  const base = shown({});
  return { ...base, answer: { ...base.answer, ...change }, ...more };
}

const FOUR = { viewShape: [1, 16, 8, 8], axes: [2, 3], index: [0, 3, 0, 0] } as const;
const four = {
  ...FOUR,
  viewShape: [...FOUR.viewShape],
  index: [...FOUR.index],
} as Partial<TensorAnswer>;

describe("Python for the shown tensor", () => {
  it("selects the plane, its visible part or a single value", () => {
    expect(codeText(of(four), null)).toBe("run.tensors[3, 0][0, 3, :, :]");
    const part = of(four, { region: [0, 2, 8, 4] });
    expect(codeText(part, null)).toBe("run.tensors[3, 0][0, 3, :, 2:6]");
    expect(codeText(part, { row: 1, col: 2 })).toBe("run.tensors[3, 0][0, 3, 1, 2]");
    expect(codeText(of({ viewShape: [], axes: [null, null], index: [] }), null)).toBe(
      "run.tensors[3, 0][()]",
    );
  });

  it("transposes the array if the row axis comes last", () => {
    const turned = of({ ...four, axes: [3, 2] }, { region: [1, 2, 3, 4] });
    expect(codeText(turned, null)).toBe("run.tensors[3, 0][0, 3, 2:6, 1:4].T");
  });

  it("names reading, layout and sizes", () => {
    expect(codeText(of({ ...four, reading: "bytes" }), null)).toBe(
      'run.tensors[3, 0].numpy("bytes")[0, 3, :, :]',
    );
    const layout = { ...four, layout: "NCHW8c", sizes: { C: 12 }, reading: "magnitude" };
    expect(codeText(of(layout), null)).toBe(
      'run.tensors[3, 0].unfold("NCHW8c", {"C": 12}, reading="magnitude")[0, 3, :, :]',
    );
  });

  it("applies the number format of the values", () => {
    const values = { format: "dequantized", scale: 0.5, zeroPoint: -3 };
    expect(codeText(of(four, { values }), null)).toBe(
      '(run.tensors[3, 0][0, 3, :, :].astype("float64") + 3) * 0.5',
    );
    const hex = { format: "hex", scale: 1, zeroPoint: 0 };
    expect(codeText(of(four, { values: hex }), { row: 0, col: 0 })).toBe(
      "from tvmdbg_widgets.model.base.number_text import hex_text; hex_text(run.tensors[3, 0][0, 3, 0, 0])",
    );
  });

  it("saves text of every digit, and tiles one below the other", () => {
    const text = 'np.savetxt("values.csv", run.tensors[3, 0][0, 3, :, :], delimiter=",", fmt="%s")';
    expect(savingText("csv", of(four))).toBe(text);
    const tiles = of(four, { show: "channels", along: 1 });
    expect(savingText("csv", tiles)).toContain("np.vstack(run.tensors[3, 0][0, :, :, :])");
    expect(savingText("npy", tiles)).toBe('np.save("values.npy", run.tensors[3, 0][0, :, :, :])');
  });

  it("reduces over the other axes for a profile", () => {
    expect(codeText(of(four, { show: "line plot", along: 1 }), null)).toContain(
      "x.min(axis=(0, 2, 3))",
    );
  });

  it("stacks the planes of channels", () => {
    const grid = { show: "channels", along: 1 };
    expect(codeText(of(four, grid), null)).toBe("run.tensors[3, 0][0, :, :, :]");
    expect(codeText(of({ ...four, axes: [3, 0] }, { ...grid, along: 2 }), { row: 0, col: 0 })).toBe(
      "run.tensors[3, 0][:, 3, :, :].transpose(1, 2, 0)",
    );
  });
});

describe("saved states of earlier versions", () => {
  it("open by their own names", () => {
    expect(formatOf("dequantised")).toBe("dequantized");
    expect(formatOf("hex")).toBe("hex");
    expect(formatOf(undefined)).toBe("number");
    expect(showOf("profile")).toBe("line plot");
  });
});
