/** Replies of a page with values, as in `answers/tensor`. */

import { ARRAYS } from "../shared/client/columns.ts";
import type { Plane } from "../tensor/plane.ts";
import { planeCols, planeRows } from "../tensor/plane.ts";
import type { StoredAnswers, StoredData, StoredReply } from "./stored_data.ts";
import {
  missing,
  readingOf,
  storedStatistics,
  type TensorQuestion,
  type TensorReading,
} from "./stored_facts.ts";
import {
  coarser,
  emptyCells,
  isWide,
  type PlanePart,
  picture,
  requestedCells,
  requestedPart,
  type StoredCells,
  type StoredPicture,
  type StoredPictures,
  sourceOf,
  spansOf,
  storedPicture,
} from "./stored_pictures.ts";
import {
  placeOf,
  planeData,
  requestedPlane,
  type StoredView,
  storedView,
  valueTexts,
} from "./stored_plane.ts";
import { complexScalars, type Scalars, scalarsOf } from "./stored_scalars.ts";

const MOST_CHANNELS = 4096;

/** All that is stored of the values of one variant. */
interface StoredValues {
  variant: number;
  scalars: Scalars | null;
  pictures: StoredPictures | null;
}

class StoredTensors {
  readonly #data: StoredData;
  #kept: StoredValues | null = null;

  constructor(data: StoredData) {
    this.#data = data;
  }

  tensor(question: TensorQuestion): StoredReply {
    const most = requestedCells(question);
    const { reading, view } = this.#asked(question);
    const plane = reading.drawn || reading.unordered ? requestedPlane(view.shape, question) : null;
    const { header: told, note } = reading;
    const header = {
      ...told,
      notes: note ? [...told.notes, note] : told.notes,
      layout: view.known?.layout ?? "",
      sizes: view.sizes,
      viewShape: view.shape,
      axisNames: view.known ? view.names : told.axisNames,
      along: (view.known ?? told).along,
      storedAxes: view.storedAxes,
      axes: plane ? plane.axes : [null, null],
      index: plane ? plane.index : view.shape.map(() => 0),
      tile: null,
    };
    const part = plane && !reading.unordered && requestedPart(plane, question);
    const shown = part && this.#picture(reading, view, plane, part, most);
    if (!shown) return { result: header, buffers: [] };
    const { grid, exact, cells } = shown;
    const { columns, buffers } = packed(cells);
    return { result: { ...header, tile: { ...grid, ...sizeOf(plane), exact, columns } }, buffers };
  }

  statistics(question: TensorQuestion): StoredReply {
    const reading = readingOf(this.#data, question);
    const { variant } = reading;
    const found = this.#data.recorded({ kind: "distribution", variant });
    const distribution = found ? { distribution: found.result } : {};
    const result = { ...storedStatistics(reading), ...distribution };
    return { result, buffers: found?.buffers ?? [] };
  }

  layout(question: TensorQuestion): StoredReply {
    return { result: this.#asked(question).view.known, buffers: [] };
  }

  values(question: TensorQuestion): StoredReply {
    const { reading, view, plane } = this.#asked(question);
    const scalars = this.#scalars(reading);
    return { result: valueTexts(scalars, view, plane(), question), buffers: [] };
  }

  data(question: TensorQuestion): StoredReply {
    const { reading, view, plane } = this.#asked(question);
    const { result, bytes } = planeData(this.#scalars(reading), view, plane(), question);
    return { result, buffers: [bytes] };
  }

  /** The same plane at `count` indices of one more axis. */
  channels(question: TensorQuestion): StoredReply {
    const { reading, view } = this.#asked(question);
    if (!reading.drawn) throw new Error("this tensor has no heatmap");
    const { axis, first } = question;
    const plane = requestedPlane(view.shape, question);
    const length = view.shape[axis] ?? 0;
    const count = Math.min(question.count, length - first);
    if (!(count >= 1 && count <= MOST_CHANNELS) || plane.axes.includes(axis)) {
      throw new Error(`axis ${axis} has no ${question.count} other pictures from ${first}`);
    }
    const most = requestedCells(question, question.count);
    const part: PlanePart = [0, 0, planeRows(plane), planeCols(plane)];
    const shown = Array.from({ length: count }, (_, at) => {
      const own = { ...plane, index: plane.index.with(axis, first + at) };
      const found = this.#picture(reading, view, own, part, most);
      if (!found) throw new Error(missing(reading, "the values of these tiles"));
      return coarser(found, own, most);
    });
    const { row: _row, col: _col, ...grid } = shown[0]!.grid;
    const size = grid.rows * grid.cols;
    const cells = emptyCells(size * count, isWide(shown[0]!.cells));
    for (const [at, one] of shown.entries()) {
      for (const name of ["minimum", "maximum", "mean", "flags"] as const) {
        cells[name].set(one.cells[name], at * size);
      }
    }
    const { columns, buffers } = packed(cells);
    const result = { axis, first, count, length, ...grid, ...sizeOf(plane), columns };
    return { result, buffers };
  }

  /** Null without a picture; stored ones have the complete plane, in the saved cells. */
  #picture(
    reading: TensorReading,
    view: StoredView,
    plane: Plane,
    part: PlanePart,
    most: [rows: number, cols: number],
  ): StoredPicture | null {
    const { scalars, pictures } = this.#values(reading);
    const [place, [down, across]] = [placeOf(view, plane), plane.axes];
    const turned = down !== null && across !== null && down > across;
    if (scalars) return picture(sourceOf(scalars), place, spansOf(plane, part, most), turned);
    return pictures && storedPicture(pictures, openedView(reading), place);
  }

  #asked(question: TensorQuestion) {
    const reading = readingOf(this.#data, question);
    const view = askedView(reading, question);
    const plane = () => (view.shape.includes(0) ? null : requestedPlane(view.shape, question));
    return { reading, view, plane };
  }

  #scalars(reading: TensorReading): Scalars {
    const { scalars } = this.#values(reading);
    if (!scalars) throw new Error(missing(reading, "exact values"));
    return scalars;
  }

  #values(reading: TensorReading): StoredValues {
    const { variant } = reading;
    if (this.#kept?.variant !== variant) {
      const pictures = this.#data.columns<"page pictures">({ kind: "pictures", variant });
      this.#kept = { variant, scalars: this.#read(reading), pictures };
    }
    return this.#kept;
  }

  #read(reading: TensorReading): Scalars | null {
    const scalars = scalarsOf(this.#data, reading.variant);
    const isComplex = scalars?.descr.includes("c");
    if (!reading.header.readings.includes("imag")) return isComplex ? null : scalars;
    const parts = ["real", "imag"].map((part) => {
      const { variant } = readingOf(this.#data, { ...reading.header, reading: part });
      return scalarsOf(this.#data, variant);
    });
    const [real, imag] = parts;
    return scalars && real && imag ? complexScalars(scalars, real, imag) : null;
  }
}

function sizeOf(plane: Plane) {
  return { planeRows: planeRows(plane), planeCols: planeCols(plane) };
}

function askedView(reading: TensorReading, { layout, sizes }: TensorQuestion): StoredView {
  const opened = openedView(reading);
  const text = layout ?? opened.known?.layout;
  if (!text) return storedView(reading.shape);
  const { header, own = [] } = reading;
  const known = [...header.layouts, ...own].find((one) => one.layout === text);
  if (!known?.axes) {
    throw new Error(
      `This page has no kernel, and no layout ${text}: open its files in a notebook.`,
    );
  }
  return storedView(reading.shape, known, sizes ?? known.sizes);
}

/** The view with the first stated layout that fits the shape. */
function openedView({ header, shape }: TensorReading): StoredView {
  return storedView(
    shape,
    header.layouts.find(({ axes, certainty }) => certainty === "stated" && axes),
  );
}

const KINDS = ["tensor", "layout", "statistics", "values", "channels", "data"] as const;

export function tensorAnswers(data: StoredData): StoredAnswers {
  const tensors = new StoredTensors(data);
  const answer = (kind: (typeof KINDS)[number]) => (message: unknown) =>
    tensors[kind](message as TensorQuestion);
  return Object.fromEntries(KINDS.map((kind) => [kind, answer(kind)]));
}

/** Packs cells into the columns of one buffer, as `engine.py` does. */
function packed(cells: StoredCells) {
  const kinds = { 1: "u1", 4: "f4", 8: "f8" } as const;
  let size = 0;
  const columns = Object.entries(cells).map(([name, values]) => {
    const kind = kinds[values.BYTES_PER_ELEMENT as 1 | 4 | 8];
    const offset = 8 * Math.ceil(size / 8);
    size = offset + values.byteLength;
    return { name, kind, offset, length: values.length };
  });
  const buffer = new ArrayBuffer(size);
  for (const { name, kind, offset, length } of columns) {
    new ARRAYS[kind](buffer, offset, length).set(cells[name as keyof StoredCells]);
  }
  return { columns, buffers: [new DataView(buffer)] };
}
