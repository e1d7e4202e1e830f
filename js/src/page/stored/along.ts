/** Pictures at several indices of an axis, and a line along one, of values that the page holds. */
import { type Cells, emptyCells, isWide, merged, setCell, sumsOf } from "./cells.ts";
import type { View } from "./layout.ts";
import { askedCells, MOST_SIDE, type Shown } from "./picture.ts";
import { askedPlane, type Plane } from "./plane.ts";
import type { Question } from "./question.ts";
import type { Scalars } from "./scalars.ts";

const MOST_CHANNELS = 4096;

export interface Along {
  result: object;
  cells: Cells;
}

/** The same plane at `count` indices of one more axis, each as `pictured` shows it. */
export function channels(
  view: View,
  question: Question,
  pictured: (plane: Plane, most: [rows: number, cols: number]) => Shown,
): Along {
  const wanted = question.integer("count", 1, MOST_CHANNELS);
  const most = askedCells(question, wanted);
  const plane = askedPlane(view.shape, question);
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
  shown.forEach((each, at) => {
    for (const name of ["minimum", "maximum", "mean", "flags"] as const) {
      cells[name].set(each.cells[name], at * size);
    }
  });
  const planeSize = { planeRows: plane.rows, planeCols: plane.cols };
  return { result: { axis, first, count, length, ...grid, ...planeSize }, cells };
}

/** All other axes reduced. */
export function profile(scalars: Scalars, view: View, question: Question): Along {
  const points = question.integer("points", 1, MOST_SIDE);
  const axis = question.integer("axis", 0, view.shape.length - 1);
  const own = view.offsets[axis]!;
  const length = own.length;
  const step = Math.ceil(length / points);
  const [lower, higher] = [
    positions(view.offsets.slice(0, axis)),
    positions(view.offsets.slice(axis + 1)),
  ];
  const cells = emptyCells(Math.ceil(length / step), scalars.wide);
  for (let cell = 0; cell < cells.flags.length; cell++) {
    const each = own.subarray(cell * step, (cell + 1) * step);
    const all = Array.from(each, (first) => sumsOf(scalars, { first, lower, higher }));
    setCell(cells, cell, merged(all));
  }
  return { result: { axis, length, step }, cells };
}

/** Where the values of all indices of some axes are, in C order. */
function positions(offsets: Float64Array[]): Float64Array {
  return offsets.reduce((found, axis) => {
    const next = new Float64Array(found.length * axis.length);
    for (let i = 0, at = 0; i < found.length; i++) {
      for (const offset of axis) next[at++] = found[i]! + offset;
    }
    return next;
  }, new Float64Array(1));
}
