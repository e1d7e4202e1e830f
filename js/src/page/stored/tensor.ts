/** Pictures, numbers and values of the tensors of a page, as `answers/tensor` answers them. */
import type { Distribution } from "../../shared/client/tensor_questions.ts";
import { type Along, channels, profile } from "./along.ts";
import { apartOf } from "./contrast.ts";
import type { StoredData } from "./data.ts";
import { exactPercentiles, numbersOf, unknownPercentile } from "./distribution.ts";
import { type Found, StoredFacts } from "./facts.ts";
import { same, storedView, unfoldedView, type View } from "./layout.ts";
import {
  askedCells,
  askedPart,
  coarser,
  type Part,
  picture,
  type Shown,
  spansOf,
} from "./picture.ts";
import { storedPicture } from "./pictures.ts";
import { askedPlane, type Plane, placeOf } from "./plane.ts";
import { storedProfile } from "./profiles.ts";
import type { Question } from "./question.ts";
import { region, regionOfPicture } from "./region.ts";
import { complexScalars, type Scalars, scalarsOf } from "./scalars.ts";
import { storedStatistics } from "./statistics.ts";
import { askedWindow, planeData, valueTexts } from "./values.ts";

/** Columns by their names. */
export type Numbers = { readonly [name: string]: Uint8Array | Float32Array | Float64Array };

/** A JSON value; columns go with the part of it that is named. */
export interface Told {
  result: object;
  columns?: { of: object; named: Numbers };
  bytes?: DataView;
}

export class StoredTensors {
  readonly #data: StoredData;
  readonly #facts: StoredFacts;
  #kept: { variant: number; scalars: Scalars | null } | null = null;

  constructor(data: StoredData) {
    this.#data = data;
    this.#facts = new StoredFacts(data);
  }

  tensor(question: Question): Told {
    const most = askedCells(question);
    const found = this.#facts.find(question);
    const view = this.#view(found, question);
    const plane = found.drawn || found.unordered ? askedPlane(view.shape, question) : null;
    const header = {
      ...this.#facts.header(found),
      layout: view.layout,
      sizes: view.sizes,
      viewShape: view.shape,
      axisNames: view.layout ? view.names : this.#facts.axisNames(found),
      axes: plane ? plane.axes : [null, null],
      index: plane ? plane.index : view.shape.map(() => 0),
      tile: null,
    };
    if (!plane || found.unordered) return { result: header };
    const shown = this.#picture(found, view, plane, askedPart(plane, question), most);
    if (!shown) return { result: header };
    const { grid, exact } = shown;
    const tile = { ...grid, planeRows: plane.rows, planeCols: plane.cols, exact };
    return { result: { ...header, tile }, columns: { of: tile, named: shown.cells } };
  }

  statistics(question: Question): Told {
    const found = this.#facts.find(question);
    const told = storedStatistics(this.#data, found);
    const scalars = found.drawn ? this.#scalars(found) : null;
    const numbers = scalars && numbersOf(scalars, told.total);
    return withBins(told, numbers && apartOf(numbers, told.statistics?.zero ?? 0));
  }

  cancelTensor(question: Question): Told {
    return this.statistics(question);
  }

  percentiles(question: Question): Told {
    const found = this.#facts.find(question);
    const percents = question.numbers("percents", 0, 100, 32);
    if (!found.drawn) return { result: percents.map(unknownPercentile) };
    const scalars = this.#values(found, "other percentiles");
    return { result: exactPercentiles(scalars, sizeOf(found.shape), percents, found.dtype) };
  }

  values(question: Question): Told {
    const found = this.#facts.find(question);
    const view = this.#view(found, question);
    const plane = view.shape.includes(0) ? null : askedPlane(view.shape, question);
    const part = askedWindow(plane, question);
    const place = plane && placeOf(view, plane);
    return { result: valueTexts(this.#values(found, "exact values"), place, part, question) };
  }

  data(question: Question): Told {
    const found = this.#facts.find(question);
    const view = this.#view(found, question);
    const plane = view.shape.includes(0) ? null : askedPlane(view.shape, question);
    const place = plane && placeOf(view, plane);
    return planeData(this.#values(found, "exact values"), place, plane, question);
  }

  region(question: Question): Told {
    const found = this.#facts.find(question);
    const view = this.#view(found, question);
    if (!found.drawn) throw new Error("this tensor has no heatmap");
    const plane = askedPlane(view.shape, question);
    const part = askedPart(plane, question);
    const scalars = this.#scalars(found);
    if (scalars) {
      const { limits } = storedStatistics(this.#data, found);
      const counted = region(scalars, placeOf(view, plane), part, limits);
      return withBins(counted, counted.distribution);
    }
    const shown = this.#picture(found, view, plane, part, [plane.rows, plane.cols]);
    if (!shown) throw new Error(this.#facts.missing(found, "the values of this region"));
    return { result: regionOfPicture(shown, part) };
  }

  profile(question: Question): Told {
    const found = this.#facts.find(question);
    const view = this.#view(found, question);
    if (!found.drawn) throw new Error("this tensor has no heatmap");
    const saved = this.#scalars(found) ? null : this.#profile(found, view, question);
    const { result, cells } =
      saved ?? profile(this.#values(found, "the values of this line plot"), view, question);
    return { result, columns: { of: result, named: cells } };
  }

  channels(question: Question): Told {
    const found = this.#facts.find(question);
    const view = this.#view(found, question);
    if (!found.drawn) throw new Error("this tensor has no heatmap");
    const { result, cells } = channels(view, question, (plane, most) => {
      const shown = this.#picture(found, view, plane, [0, 0, plane.rows, plane.cols], most);
      if (!shown) throw new Error(this.#facts.missing(found, "the values of these tiles"));
      return coarser(shown, plane, most);
    });
    return { result, columns: { of: result, named: cells } };
  }

  /** Null where there is none; of stored ones the whole plane, in the cells that were saved. */
  #picture(
    found: Found,
    view: View,
    plane: Plane,
    part: Part,
    most: [rows: number, cols: number],
  ): Shown | null {
    const scalars = this.#scalars(found);
    if (scalars) return picture(scalars, plane, placeOf(view, plane), spansOf(plane, part, most));
    return storedPicture(this.#data, found.variant, this.#opened(found), placeOf(view, plane));
  }

  /** Null where there is none of an axis with these steps, over the same values. */
  #profile(found: Found, view: View, question: Question): Along | null {
    const axis = question.integer("axis", 0, view.shape.length - 1);
    const saved = this.#opened(found);
    const values = sizeOf(found.shape);
    const whole = [view, saved].every(({ shape }) => sizeOf(shape) === values);
    const alike = String(view.offsets) === String(saved.offsets);
    if (!whole && !alike) return null;
    const at = saved.offsets.findIndex((offsets) => same(offsets, view.offsets[axis]!));
    if (at < 0) return null;
    return storedProfile(this.#data, found.variant, saved.shape, at, question);
  }

  #values(found: Found, what: string): Scalars {
    const scalars = this.#scalars(found);
    if (!scalars) throw new Error(this.#facts.missing(found, what));
    return scalars;
  }

  #scalars({ variant }: Found): Scalars | null {
    if (this.#kept?.variant !== variant) {
      this.#kept = { variant, scalars: this.#read(variant) };
    }
    return this.#kept.scalars;
  }

  #read(variant: number): Scalars | null {
    const found = scalarsOf(this.#data, variant);
    const isComplex = found?.descr.includes("c");
    const [real, imag] = this.#facts.parts(variant).map((each) => scalarsOf(this.#data, each));
    if (found && real && imag) return complexScalars(found, real, imag);
    return isComplex ? null : found;
  }

  #view(found: Found, question: Question): View {
    const layout = question.text("layout");
    const sizes = question.has("sizes") ? question.sizes() : null;
    const opened = this.#opened(found);
    const text = layout ?? opened.layout;
    if (!text) return storedView(found.shape);
    if (sizes === null && layout === null) return opened;
    const known = this.#facts.layouts(found.row).find((each) => each.layout === text);
    const wanted = Object.entries(sizes ?? known?.sizes ?? {});
    const own = wanted.filter(([letter]) => text.includes(letter));
    return unfoldedView(found.shape, text, Object.fromEntries(own));
  }

  /** The axes that views open with: those of the layout that the graph states. */
  #opened({ row, shape }: Found): View {
    for (const { layout, sizes, certainty } of this.#facts.layouts(row)) {
      if (certainty !== "stated") continue;
      const view = fitting(() => unfoldedView(shape, layout, sizes));
      if (view) return view;
    }
    return storedView(shape);
  }
}

/** A distribution goes as columns beside what it is a part of. */
function withBins(told: object, bins: Distribution | null): Told {
  if (!bins) return { result: told };
  const { low, high, count } = bins;
  const distribution = {};
  const columns = { of: distribution, named: { low, high, count } };
  return { result: { ...told, distribution }, columns };
}

function sizeOf(shape: number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Null where the shape is another than the layout's. */
function fitting(make: () => View): View | null {
  try {
    return make();
  } catch {
    return null;
  }
}
