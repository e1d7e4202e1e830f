/** Columns<"page pictures"> that were made when the page was saved. */

import type { Floats } from "../../shared/client/tensor_questions.ts";
import type { Columns } from "../../shared/client/wire.ts";
import { floats, type StoredData } from "./data.ts";
import { same, type View } from "./layout.ts";
import type { Shown } from "./picture.ts";
import { type Place, placeOf, planeOf } from "./plane.ts";

/**
 * The picture of the values at a place, which another layout may call otherwise than the `saved` one; null where the
 * tensor has none at all. Throws where it has those of other planes.
 */
export function storedPicture(
  data: StoredData,
  variant: number,
  saved: View,
  asked: Place,
): Shown | null {
  if (!data.has("pictures")) return null;
  const all = data.columns<"page pictures">("pictures");
  const planes: string[] = [];
  for (
    let row = all.variant.indexOf(variant);
    row >= 0;
    row = all.variant.indexOf(variant, row + 1)
  ) {
    const [down, across] = [all.down[row]!, all.across[row]!].map((axis) =>
      axis < 0 ? null : axis,
    );
    const index = Array.from(
      all.index.subarray(all.indexOffsets[row]!, all.indexOffsets[row + 1]!),
    );
    const plane = planeOf(saved.shape, [down!, across!], index);
    const place = placeOf(saved, plane);
    if (place.first === asked.first) {
      if (same(place.down, asked.down) && same(place.across, asked.across)) {
        return cellsOf(data, all, row);
      }
      if (same(place.down, asked.across) && same(place.across, asked.down)) {
        return turned(cellsOf(data, all, row));
      }
    }
    planes.push(`[${index.map((at, axis) => (plane.axes.includes(axis) ? ":" : at)).join(", ")}]`);
  }
  if (!planes.length) return null;
  const shown = planes.slice(0, 8).join(" ");
  const more = planes.length > 8 ? ` and ${planes.length - 8} more` : "";
  const axes = saved.layout ? ` in ${saved.layout}` : "";
  throw new Error(
    `not in this page: this plane; only heatmaps of ${shown}${more}${axes} were ` +
      'saved; open the dump, or save_html(share="tensors")',
  );
}

function cellsOf(data: StoredData, all: Columns<"page pictures">, row: number): Shown {
  const [rows, cols] = [all.rows[row]!, all.cols[row]!];
  const count = rows * cols;
  const wide = all.wide[row] === 1;
  const size = (wide ? 8 : 4) * count * (all.single[row] ? 1 : 3);
  const at = all.at[row]!;
  const numbers = floats(data.blob(at, size), wide);
  const part = (i: number) =>
    all.single[row] ? numbers : numbers.subarray(i * count, (i + 1) * count);
  return {
    exact: !all.sampled[row],
    grid: { row: 0, col: 0, rows, cols, rowStep: all.rowStep[row]!, colStep: all.colStep[row]! },
    cells: {
      minimum: part(0),
      maximum: part(1),
      mean: part(2),
      flags: all.flagged[row] ? data.blob(at + size, count) : new Uint8Array(count),
    },
  };
}

/** The same cells with down and across exchanged. */
function turned({ exact, grid, cells }: Shown): Shown {
  const { rows, cols, rowStep, colStep } = grid;
  const turn = <T extends Floats | Uint8Array>(values: T): T =>
    values.map((_, to) => values[(to % rows) * cols + Math.floor(to / rows)]!) as T;
  return {
    exact,
    grid: { row: 0, col: 0, rows: cols, cols: rows, rowStep: colStep, colStep: rowStep },
    cells: {
      minimum: turn(cells.minimum),
      maximum: turn(cells.maximum),
      mean: turn(cells.mean),
      flags: turn(cells.flags),
    },
  };
}
