import { expect, it } from "vitest";
import {
  coarser,
  picture,
  type StoredPicture,
  sourceOf,
  spansOf,
} from "../../src/page/stored_pictures.ts";
import type { Floats } from "../../src/shared/client/tensor_questions.ts";
import type { Plane } from "../../src/tensor/plane.ts";

it("merges cells to the same result as a coarser picture", () => {
  const plane: Plane = { shape: [13, 9], axes: [0, 1], index: [0, 0] };
  const odd = new Map([
    [3, Number.NaN],
    [40, Infinity],
    ...[0, 1, 2].flatMap((row) => [6, 7, 8].map((col) => [9 * row + col, -Infinity] as const)),
  ]);
  const value = (at: number) => odd.get(at) ?? Math.sin(at) * at;
  const ramp = (length: number, step: number) => Float64Array.from({ length }, (_, i) => i * step);
  const place = { first: 0, down: ramp(13, 9), across: ramp(9, 1) };
  const made = (rows: number, cols: number) => {
    const spans = spansOf(plane, [0, 0, 13, 9], { rows, cols });
    return picture(sourceOf({ value, wide: false }), place, spans);
  };
  const whole = made(13, 9);
  expect(coarser(whole, plane, { rows: 13, cols: 9 })).toEqual(whole);
  const [found, expected] = [coarser(whole, plane, { rows: 5, cols: 4 }), made(5, 4)];
  const gridOf = ({ rows, cols, rowStep, colStep }: StoredPicture) => [
    rows,
    cols,
    rowStep,
    colStep,
  ];
  expect(gridOf(found)).toEqual(gridOf(expected));
  expect(found.rows * found.cols).toBe(15);
  for (const name of ["minimum", "maximum", "flags"] as const) {
    expect(found[name]).toEqual(expected[name]);
  }
  const rounded = (means: Floats) => Array.from(means, (mean) => mean.toFixed(3));
  expect(rounded(found.mean)).toEqual(rounded(expected.mean));
  expect(rounded(found.mean)).toContain("NaN");
  const twice = coarser(made(5, 4), plane, { rows: 2, cols: 2 });
  expect([twice.rowStep, twice.colStep]).toEqual([9, 6]);
  const last = twice.mean.at(-1)!;
  let [sum, count] = [0, 0];
  for (let row = 9; row < 13; row++) {
    for (let col = 6; col < 9; col++) [sum, count] = [sum + value(9 * row + col), count + 1];
  }
  expect(last).toBeCloseTo(sum / count, 4);
});
