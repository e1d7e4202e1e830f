/** Header, statistics, picture and values of one tensor, as `widgets/answers_tensor.py` answers them. */
import type { StringColumn } from "../shared/columns.ts";
import { type Entry, type TensorColumns, TRUST_LABELS } from "../shared/run_client.ts";
import type { StoredData } from "./stored_data.ts";
import { storedPicture } from "./stored_pictures.ts";
import { askedPlane, type Cells, knownPlane, picture, placeOf } from "./stored_plane.ts";
import type { Question } from "./stored_question.ts";
import { type Scalars, scalarsOf } from "./stored_scalars.ts";
import { floatText } from "./stored_text.ts";

const MOST_CELLS = 2 ** 20;
const MOST_VALUES = 64 * 64;
const BINS = 64;

interface Facts {
  keys: StringColumn;
  files: StringColumn;
  offsets: Float64Array;
  readable: Uint8Array;
  noteOffsets: Int32Array;
  notes: StringColumn;
  pageNotes: StringColumn;
}

type Counts = "size" | "finite" | "nan" | "posInf" | "negInf" | "zero" | "negative";

type Variants = Record<Counts | "minimum" | "maximum" | "mean" | "std", Float64Array> &
  Record<"argmin" | "argmax" | "first" | "last" | "edges" | "shapeDims", Float64Array> &
  Record<"tensor" | "shapeOffsets" | "histogram" | "uneven", Int32Array> &
  Record<"reading" | "minimumText" | "maximumText", StringColumn> & {
    applicable: Uint8Array;
    counts: Int32Array | Float64Array;
  };

interface Found {
  row: number;
  variant: number;
  shape: number[];
}

/** The tensors of a page. */
export class StoredTensors {
  readonly #data: StoredData;
  readonly #list: TensorColumns;
  readonly #facts: Facts;
  readonly #variants: Variants;
  #kept: { variant: number; scalars: Scalars | null } | null = null;

  constructor(data: StoredData) {
    if (!data.has("tensors")) throw new Error("this run has no tensors");
    this.#data = data;
    this.#list = data.columns<TensorColumns>("tensors");
    this.#facts = data.columns<Facts>("facts");
    this.#variants = data.columns<Variants>("variants");
  }

  tensor(question: Question): { header: object; tile: object | null; cells: Cells | null } {
    const found = this.#found(question);
    const [rows, cols] = [question.integer("rows", 1, 8192), question.integer("cols", 1, 8192)];
    if (rows * cols > MOST_CELLS) {
      throw new Error(`a picture has at most ${MOST_CELLS} cells, asked for ${rows} x ${cols}`);
    }
    question.integer("bins", 1, 1024);
    const { shape, variant } = found;
    const applies = this.#variants.applicable[variant] === 1;
    const plane = applies && !shape.includes(0) ? knownPlane(shape, question) : null;
    const header = {
      ...this.#header(found),
      axes: plane ? plane.axes : [null, null],
      index: plane ? plane.index : shape.map(() => 0),
      statistics: applies ? this.#statistics(found) : null,
      histogram: this.#histogram(variant),
    };
    if (!plane) return { header, tile: null, cells: null };
    const scalars = this.#scalars(found);
    const cells = scalars
      ? picture(scalars, plane, rows, cols)
      : storedPicture(this.#data, variant, plane);
    if (!cells) return { header, tile: null, cells };
    const { rowStep, colStep } = cells;
    const size = { planeRows: plane.rows, planeCols: plane.cols };
    return {
      header,
      tile: { rows: cells.rows, cols: cells.cols, rowStep, colStep, ...size },
      cells,
    };
  }

  values(question: Question): object {
    const found = this.#found(question);
    if (found.shape.includes(0)) return { row: 0, col: 0, rows: 0, cols: 0, text: [] };
    const plane = askedPlane(found.shape, question);
    const row = Math.min(question.integer("row"), plane.rows - 1);
    const col = Math.min(question.integer("col"), plane.cols - 1);
    const rows = Math.min(question.integer("rows", 1, 4096), plane.rows - row);
    const cols = Math.min(question.integer("cols", 1, 4096), plane.cols - col);
    if (rows * cols > MOST_VALUES) {
      throw new Error(`at most ${MOST_VALUES} values at a time, asked for ${rows} x ${cols}`);
    }
    const scalars = this.#scalars(found);
    if (!scalars) {
      throw new Error(
        'exact values of this tensor are not in this page; open the dump, or save_html(share="tensors")',
      );
    }
    const { first, down, across } = placeOf(plane);
    const text = Array.from({ length: rows * cols }, (_, i) =>
      scalars.text(first + (row + Math.floor(i / cols)) * down + (col + (i % cols)) * across),
    );
    return { row, col, rows, cols, text };
  }

  #found(question: Question): Found {
    const [node, output] = question.integers("entry", 2) as unknown as Entry;
    const row = this.#list.node.findIndex(
      (each, at) => each === node && this.#list.output[at] === output,
    );
    if (row < 0) throw new Error(`no tensor for node ${node}, output ${output}`);
    const reading = question.reading();
    const { tensor, reading: readings, shapeOffsets, shapeDims } = this.#variants;
    const first = tensor.indexOf(row);
    if (first < 0) throw new Error("the data of this page are damaged");
    let variant = first;
    for (let at = first; tensor[at] === row; at++) if (readings.at(at) === reading) variant = at;
    const shape = Array.from(
      shapeDims.subarray(shapeOffsets[variant]!, shapeOffsets[variant + 1]!),
    );
    return { row, variant, shape };
  }

  #scalars({ row, variant }: Found): Scalars | null {
    if (this.#kept?.variant !== variant) {
      this.#kept = { variant, scalars: scalarsOf(this.#data, row, variant) };
    }
    return this.#kept.scalars;
  }

  #header({ row, variant, shape }: Found): object {
    const [list, facts] = [this.#list, this.#facts];
    const dims = list.shapeDims.subarray(list.shapeOffsets[row]!, list.shapeOffsets[row + 1]!);
    const notes: string[] = [];
    for (let at = facts.noteOffsets[row]!; at < facts.noteOffsets[row + 1]!; at++) {
      notes.push(facts.notes.at(at));
    }
    const own = facts.pageNotes.at(row);
    const readable = facts.readable[row] === 1;
    return {
      entry: [list.node[row], list.output[row]],
      name: list.names.at(row),
      key: facts.keys.at(row),
      dtype: list.dtypes.at(row),
      shape: Array.from(dims),
      viewShape: shape,
      nbytes: list.nbytes[row],
      offset: facts.offsets[row],
      file: facts.files.at(row),
      trust: TRUST_LABELS[list.trust[row]!],
      notes: own ? [...notes, own] : notes,
      readings: readable ? ["packed", "bytes"] : [],
      reading: readable ? this.#variants.reading.at(variant) : null,
    };
  }

  #statistics({ variant, shape }: Found): object {
    const all = this.#variants;
    const count = (name: Counts) => all[name][variant]!;
    const bound = (value: number, text: string) => ({
      text,
      value: Number.isFinite(value) ? value : null,
    });
    const float = (value: number) => bound(value, Number.isNaN(value) ? "none" : floatText(value));
    return {
      size: count("size"),
      finite: count("finite"),
      nan: count("nan"),
      posInf: count("posInf"),
      negInf: count("negInf"),
      zero: count("zero"),
      negative: count("negative"),
      minimum: bound(all.minimum[variant]!, all.minimumText.at(variant)),
      maximum: bound(all.maximum[variant]!, all.maximumText.at(variant)),
      mean: float(all.mean[variant]!),
      std: float(all.std[variant]!),
      argmin: indexOf(all.argmin[variant]!, shape),
      argmax: indexOf(all.argmax[variant]!, shape),
    };
  }

  #histogram(variant: number): object | null {
    const { histogram, counts, first, last, uneven, edges } = this.#variants;
    const at = histogram[variant]!;
    if (at < 0) return null;
    const own = uneven[at]!;
    const length = BINS + 1;
    const step = (last[at]! - first[at]!) / BINS;
    return {
      counts: Array.from(counts.subarray(at * BINS, (at + 1) * BINS)),
      edges:
        own < 0
          ? Array.from({ length }, (_, i) => (i < BINS ? i * step + first[at]! : last[at]!))
          : Array.from(edges.subarray(own * length, (own + 1) * length)),
    };
  }
}

/** A flat position, in C order, as an index; null where there is none. */
function indexOf(flat: number, shape: number[]): number[] | null {
  if (Number.isNaN(flat)) return null;
  let rest = flat;
  return shape
    .toReversed()
    .map((size) => {
      const at = rest % size;
      rest = Math.floor(rest / size);
      return at;
    })
    .reverse();
}
