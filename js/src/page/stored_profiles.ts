/** Pictures at several indices of an axis, and saved lines along one. */

import { floats, type StoredData } from "./stored_data.ts";
import {
  emptyCells,
  isWide,
  MOST_SIDE,
  requestedCells,
  type StoredCells,
  type StoredPicture,
} from "./stored_pictures.ts";
import { requestedPlane, type StoredPlane, type StoredView } from "./stored_plane.ts";
import type { Question } from "./stored_questions.ts";

const MOST_CHANNELS = 4096;

export interface StoredLine {
  result: object;
  cells: StoredCells;
}

/** The same plane at `count` indices of one more axis, made by `pictured`. */
export function channels(
  view: StoredView,
  question: Question,
  pictured: (plane: StoredPlane, most: [rows: number, cols: number]) => StoredPicture,
): StoredLine {
  const wanted = question.integer("count", 1, MOST_CHANNELS);
  const most = requestedCells(question, wanted);
  const plane = requestedPlane(view.shape, question);
  const axis = question.integer("axis", 0, view.shape.length - 1);
  if (plane.axes.includes(axis)) throw new Error(`axis ${axis} is already shown in each tile`);
  const length = view.shape[axis]!;
  const first = question.integer("first", 0, length - 1);
  const count = Math.min(wanted, length - first);
  const shown = Array.from({ length: count }, (_, at) =>
    pictured({ ...plane, index: plane.index.with(axis, first + at) }, most),
  );
  const { row: _row, col: _col, ...grid } = shown[0]!.grid;
  const size = grid.rows * grid.cols;
  const cells = emptyCells(size * count, isWide(shown[0]!.cells));
  shown.forEach((row, at) => {
    for (const name of ["minimum", "maximum", "mean", "flags"] as const) {
      cells[name].set(row.cells[name], at * size);
    }
  });
  const planeSize = { planeRows: plane.rows, planeCols: plane.cols };
  return { result: { axis, first, count, length, ...grid, ...planeSize }, cells };
}

/** As many as `export/page/choice.py` makes. */
const POINTS = 4096;

/** The saved profile along an axis; null if there is none with so few points. */
export function storedProfile(
  data: StoredData,
  variant: number,
  shape: readonly number[],
  axis: number,
  question: Question,
): StoredLine | null {
  const points = question.integer("points", 1, MOST_SIDE);
  if (!data.has("profiles")) return null;
  const all = data.columns<"page profiles">("profiles");
  const row = all.variant.indexOf(variant);
  const steps = shape.map((length) => Math.ceil(length / POINTS));
  const counts = shape.map((length, axis) => Math.ceil(length / steps[axis]!));
  const count = counts[axis]!;
  if (row < 0 || count > points) return null;
  const total = counts.reduce((sum, size) => sum + size, 0);
  const before = counts.slice(0, axis).reduce((sum, size) => sum + size, 0);
  const at = all.at[row]!;
  const wide = all.wide[row] === 1;
  const size = (wide ? 24 : 12) * total;
  const numbers = floats(data.blob(at, size), wide);
  const part = (i: number) => numbers.subarray(i * total + before, i * total + before + count);
  const flags = all.flagged[row] ? data.blob(at + size + before, count) : new Uint8Array(count);
  const cells = { minimum: part(0), maximum: part(1), mean: part(2), flags };
  return {
    result: { axis: question.integer("axis"), length: shape[axis], step: steps[axis] },
    cells,
  };
}
