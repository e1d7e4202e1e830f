/** Replies of a page with values, as in `answers/tensor`. */

import { channels } from "./stored_channels.ts";
import type { StoredAnswers, StoredData, StoredReply } from "./stored_data.ts";
import { missing, StoredFacts, storedStatistics, type TensorReading } from "./stored_facts.ts";
import {
  coarser,
  type PlanePart,
  picture,
  requestedCells,
  requestedPart,
  type StoredPicture,
  spansOf,
  storedPicture,
} from "./stored_pictures.ts";
import {
  placeOf,
  planeData,
  requestedPlane,
  requestedWindow,
  type StoredPlane,
  type StoredView,
  storedView,
  unfoldedView,
  valueTexts,
} from "./stored_plane.ts";
import { Question } from "./stored_questions.ts";
import { complexScalars, type Scalars, scalarsOf } from "./stored_scalars.ts";

type NamedColumns = { readonly [name: string]: Uint8Array | Float32Array | Float64Array };

interface StoredAnswer {
  result: object;
  columns?: { of: object; named: NamedColumns };
  bytes?: DataView;
}

class StoredTensors {
  readonly #data: StoredData;
  readonly #facts: StoredFacts;
  #kept: { variant: number; scalars: Scalars | null } | null = null;

  constructor(data: StoredData) {
    this.#data = data;
    this.#facts = new StoredFacts(data);
  }

  tensor(question: Question): StoredAnswer {
    const most = requestedCells(question);
    const reading = this.#facts.find(question);
    const view = this.#view(reading, question);
    const plane = reading.drawn || reading.unordered ? requestedPlane(view.shape, question) : null;
    const { header: told, note } = reading;
    const header = {
      ...told,
      notes: note ? [...told.notes, note] : told.notes,
      layout: view.layout,
      sizes: view.sizes,
      viewShape: view.shape,
      axisNames: view.layout ? view.names : told.axisNames,
      axes: plane ? plane.axes : [null, null],
      index: plane ? plane.index : view.shape.map(() => 0),
      tile: null,
    };
    if (!plane || reading.unordered) return { result: header };
    const shown = this.#picture(reading, view, plane, requestedPart(plane, question), most);
    if (!shown) return { result: header };
    const { grid, exact } = shown;
    const tile = { ...grid, planeRows: plane.rows, planeCols: plane.cols, exact };
    return { result: { ...header, tile }, columns: { of: tile, named: shown.cells } };
  }

  statistics(question: Question): StoredAnswer {
    const reading = this.#facts.find(question);
    const result = storedStatistics(reading);
    const name = `distribution ${reading.variant}`;
    if (!this.#data.has(name)) return { result };
    const { headers, buffer } = this.#data.table(name);
    const distribution = { columns: headers };
    return { result: { ...result, distribution }, bytes: new DataView(buffer) };
  }

  cancelTensor(question: Question): StoredAnswer {
    return this.statistics(question);
  }

  values(question: Question): StoredAnswer {
    const reading = this.#facts.find(question);
    const view = this.#view(reading, question);
    const plane = view.shape.includes(0) ? null : requestedPlane(view.shape, question);
    const part = requestedWindow(plane, question);
    const place = plane && placeOf(view, plane);
    return { result: valueTexts(this.#values(reading, "exact values"), place, part, question) };
  }

  data(question: Question): StoredAnswer {
    const reading = this.#facts.find(question);
    const view = this.#view(reading, question);
    const plane = view.shape.includes(0) ? null : requestedPlane(view.shape, question);
    const place = plane && placeOf(view, plane);
    return planeData(this.#values(reading, "exact values"), place, plane, question);
  }

  channels(question: Question): StoredAnswer {
    const reading = this.#facts.find(question);
    const view = this.#view(reading, question);
    if (!reading.drawn) throw new Error("this tensor has no heatmap");
    const { result, cells } = channels(view, question, (plane, most) => {
      const shown = this.#picture(reading, view, plane, [0, 0, plane.rows, plane.cols], most);
      if (!shown) throw new Error(missing(reading, "the values of these tiles"));
      return coarser(shown, plane, most);
    });
    return { result, columns: { of: result, named: cells } };
  }

  /** Null without a picture; stored ones have the complete plane, in the saved cells. */
  #picture(
    reading: TensorReading,
    view: StoredView,
    plane: StoredPlane,
    part: PlanePart,
    most: [rows: number, cols: number],
  ): StoredPicture | null {
    const scalars = this.#scalars(reading);
    if (scalars) return picture(scalars, plane, placeOf(view, plane), spansOf(plane, part, most));
    return storedPicture(this.#data, reading.variant, this.#opened(reading), placeOf(view, plane));
  }

  #values(reading: TensorReading, what: string): Scalars {
    const scalars = this.#scalars(reading);
    if (!scalars) throw new Error(missing(reading, what));
    return scalars;
  }

  #scalars(reading: TensorReading): Scalars | null {
    const { variant } = reading;
    if (this.#kept?.variant !== variant) this.#kept = { variant, scalars: this.#read(reading) };
    return this.#kept.scalars;
  }

  #read(reading: TensorReading): Scalars | null {
    const scalars = scalarsOf(this.#data, reading.variant);
    const isComplex = scalars?.descr.includes("c");
    const [real, imag] = this.#facts.parts(reading).map((part) => scalarsOf(this.#data, part));
    if (scalars && real && imag) return complexScalars(scalars, real, imag);
    return isComplex ? null : scalars;
  }

  #view(reading: TensorReading, question: Question): StoredView {
    const layout = question.text("layout");
    const sizes = question.has("sizes") ? question.sizes() : null;
    const opened = this.#opened(reading);
    const text = layout ?? opened.layout;
    if (!text) return storedView(reading.shape);
    if (sizes === null && layout === null) return opened;
    const known = reading.header.layouts.find((layout) => layout.layout === text);
    const wanted = Object.entries(sizes ?? known?.sizes ?? {});
    const own = wanted.filter(([letter]) => text.includes(letter));
    return unfoldedView(reading.shape, text, Object.fromEntries(own));
  }

  #opened({ header, shape }: TensorReading): StoredView {
    for (const { layout, sizes, certainty } of header.layouts) {
      if (certainty !== "stated") continue;
      const view = fitting(() => unfoldedView(shape, layout, sizes));
      if (view) return view;
    }
    return storedView(shape);
  }
}

/** Null if the shape is not the layout's. */
function fitting(make: () => StoredView): StoredView | null {
  try {
    return make();
  } catch {
    return null;
  }
}

const KINDS = ["tensor", "statistics", "values", "channels", "data", "cancelTensor"] as const;

export function tensorAnswers(data: StoredData): StoredAnswers {
  let tensors: StoredTensors | undefined;
  const answer = (kind: (typeof KINDS)[number]) => (message: unknown) => {
    tensors ??= new StoredTensors(data);
    return reply(tensors[kind](new Question(message)));
  };
  return Object.fromEntries(KINDS.map((kind) => [kind, answer(kind)]));
}

/** Packs numbers into the columns of one buffer, as `engine.py` does. */
function reply({ result, columns, bytes }: StoredAnswer): StoredReply {
  if (!columns) return { result, buffers: bytes ? [bytes] : [] };
  const { headers, buffer } = packed(columns.named);
  Object.assign(columns.of, { columns: headers });
  return { result, buffers: [buffer] };
}

function packed(named: NamedColumns) {
  const kinds = { 1: "u1", 4: "f4", 8: "f8" } as const;
  let size = 0;
  const placed = Object.entries(named).map(([name, values]) => {
    const kind = kinds[values.BYTES_PER_ELEMENT as 1 | 4 | 8];
    const offset = 8 * Math.ceil(size / 8);
    size = offset + values.byteLength;
    return { header: { name, kind, offset, length: values.length }, values };
  });
  const bytes = new Uint8Array(size);
  for (const { header, values } of placed) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), header.offset);
  }
  return { headers: placed.map(({ header }) => header), buffer: new DataView(bytes.buffer) };
}
