/** Replies of a page with values, as in `answers/tensor`. */

import type {
  KnownLayout,
  StatisticsAnswer,
  TensorAnswer,
} from "../shared/client/tensor_questions.ts";
import type { Plane } from "../tensor/plane.ts";
import { planeCols, planeRows } from "../tensor/plane.ts";
import type { StoredAnswers, StoredData, StoredReply } from "./stored_data.ts";
import {
  coarser,
  eachColumn,
  emptyCells,
  isWide,
  picture,
  type StoredPicture,
  type StoredPictures,
  sourceOf,
  spansOf,
  storedPicture,
} from "./stored_pictures.ts";
import {
  placeOf,
  planeData,
  planePart,
  requestedPlane,
  type StoredView,
  storedView,
  type TensorQuestion,
  valueTexts,
} from "./stored_plane.ts";
import { complexScalars, type Scalars, scalarsOf } from "./stored_scalars.ts";

/** Replies about a tensor under one reading, as `Variant.stored` of `export/page/facts.py` records them. */
interface StoredVariant {
  /** Its number. */
  variant: number;
  /** Along the axes as stored, without a picture. */
  header: TensorAnswer;
  /** The layout that a view opens with. */
  opened: string;
  /** Layout that the saved view was given by hand, if the tensor can have it. */
  own?: KnownLayout[];
  /** True if it has pictures. */
  drawn: boolean;
  statistics: StatisticsAnswer;
  /** Why values are missing, and a call that makes a page with them. */
  remedy: string;
}

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
    const { stored, view, plane } = this.#asked(question);
    const { header, drawn } = stored;
    const isPlane = drawn || header.unordered;
    const shown =
      drawn && this.#picture(stored, view, plane, planePart(view, plane, question.part), question);
    const result = {
      ...header,
      layout: view.known?.layout ?? "",
      sizes: view.sizes,
      viewShape: view.shape,
      axisNames: view.known ? view.names : header.axisNames,
      along: (view.known ?? header).along,
      storedAxes: view.storedAxes,
      axes: isPlane ? plane.axes : [null, null],
      index: isPlane ? plane.index : view.shape.map(() => 0),
      tile: shown ? { ...shown, ...sizeOf(plane) } : null,
    };
    return { result, buffers: [] };
  }

  statistics(question: TensorQuestion): StoredReply {
    const { result, buffers } = this.#stored(question);
    return { result: result.statistics, buffers };
  }

  layout(question: TensorQuestion): StoredReply {
    return { result: this.#asked(question).view.known, buffers: [] };
  }

  values(question: TensorQuestion): StoredReply {
    const { stored, view, plane } = this.#asked(question);
    return { result: valueTexts(this.#scalars(stored), view, plane, question), buffers: [] };
  }

  data(question: TensorQuestion): StoredReply {
    const { stored, view, plane } = this.#asked(question);
    return planeData(this.#scalars(stored), view, plane, question);
  }

  /** The same plane at `count` indices of one more axis. */
  channels(question: TensorQuestion): StoredReply {
    const { stored, view, plane } = this.#asked(question);
    if (!stored.drawn) throw new Error("this tensor has no heatmap");
    const { axis, first } = question;
    const length = view.shape[axis] ?? 0;
    const count = Math.min(question.count, length - first);
    if (!(count >= 1) || plane.axes.includes(axis)) {
      throw new Error(`axis ${axis} has no ${question.count} other pictures from ${first}`);
    }
    const part = planePart(view, plane, null);
    const shown = Array.from({ length: count }, (_, at) => {
      const own = { ...plane, index: plane.index.with(axis, first + at) };
      const found = this.#picture(stored, view, own, part, question);
      if (!found) throw new Error(missing(stored, "the values of these tiles"));
      return coarser(found, own, question);
    });
    const { rows, cols, rowStep, colStep } = shown[0]!;
    const size = rows * cols;
    const cells = emptyCells(size * count, isWide(shown[0]!));
    eachColumn((name) => {
      for (const [at, one] of shown.entries()) cells[name].set(one[name], at * size);
    });
    const grid = { rows, cols, rowStep, colStep, ...sizeOf(plane) };
    return { result: { axis, first, count, length, ...grid, ...cells }, buffers: [] };
  }

  /** Null without a picture; stored ones have the complete plane, in the saved cells. */
  #picture(
    stored: StoredVariant,
    view: StoredView,
    plane: Plane,
    part: ReturnType<typeof planePart>,
    most: TensorQuestion,
  ): StoredPicture | null {
    const { scalars, pictures } = this.#values(stored);
    const [place, [down, across]] = [placeOf(view, plane), plane.axes];
    const turned = down !== null && across !== null && down > across;
    if (scalars) return picture(sourceOf(scalars), place, spansOf(plane, part, most), turned);
    return pictures && storedPicture(pictures, viewOf(stored), place);
  }

  #stored({ entry, reading = null }: Pick<TensorQuestion, "entry" | "reading">) {
    const found = this.#data.recorded({ kind: "variant", entry, reading });
    if (!found) throw new Error(`no tensor for node ${entry?.[0]}, output ${entry?.[1]}`);
    return { result: found.result as StoredVariant, buffers: found.buffers };
  }

  #asked(question: TensorQuestion) {
    const stored = this.#stored(question).result;
    const view = viewOf(stored, question);
    return { stored, view, plane: requestedPlane(view.shape, question) };
  }

  #scalars(stored: StoredVariant): Scalars {
    const { scalars } = this.#values(stored);
    if (!scalars) throw new Error(missing(stored, "exact values"));
    return scalars;
  }

  #values(stored: StoredVariant): StoredValues {
    const { variant } = stored;
    if (this.#kept?.variant !== variant) {
      const pictures = this.#data.columns<"page pictures">({ kind: "pictures", variant });
      this.#kept = { variant, scalars: this.#read(stored), pictures };
    }
    return this.#kept;
  }

  #read({ variant, header }: StoredVariant): Scalars | null {
    const scalars = scalarsOf(this.#data, variant);
    const isComplex = scalars?.descr.includes("c");
    if (!header.readings.includes("imag")) return isComplex ? null : scalars;
    const [real, imag] = ["real", "imag"].map((reading) =>
      scalarsOf(this.#data, this.#stored({ ...header, reading }).result.variant),
    );
    return scalars && real && imag ? complexScalars(scalars, real, imag) : null;
  }
}

/** Why a fact about the values is missing, and how to get it. */
function missing({ remedy }: StoredVariant, what: string): string {
  return `not in this page: ${what} ${remedy}`;
}

function sizeOf(plane: Plane) {
  return { planeRows: planeRows(plane), planeCols: planeCols(plane) };
}

/** The axes of a question, by default those that a view opens with. */
function viewOf(
  { header, opened, own = [] }: StoredVariant,
  { layout, sizes }: Partial<TensorQuestion> = {},
): StoredView {
  const text = layout ?? opened;
  if (!text) return storedView(header.storedShape);
  const known = [...header.layouts, ...own].find((one) => one.layout === text);
  if (!known?.axes) {
    throw new Error(
      `This page has no kernel, and no layout ${text}: open its files in a notebook.`,
    );
  }
  return storedView(header.storedShape, known, sizes ?? known.sizes);
}

const KINDS = ["tensor", "layout", "statistics", "values", "channels", "data"] as const;

export function tensorAnswers(data: StoredData): StoredAnswers {
  const tensors = new StoredTensors(data);
  const answer = (kind: (typeof KINDS)[number]) => (message: unknown) =>
    tensors[kind](message as TensorQuestion);
  return Object.fromEntries(KINDS.map((kind) => [kind, answer(kind)]));
}
