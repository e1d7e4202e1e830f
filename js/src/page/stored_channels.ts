/** Pictures at several indices of an axis. */

import {
  emptyCells,
  isWide,
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
