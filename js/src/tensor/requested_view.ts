import type {
  Entry,
  KnownLayout,
  PlaneView,
  TensorAnswer,
  TensorRequest,
} from "../shared/client/tensor_questions.ts";
import { laidOut, logicalIndex, storedIndex } from "../shared/unfold.ts";
import type { ViewOptions } from "../shell/view.ts";
import type { CellChoice, ColorChoice } from "./picture/color_scale.ts";
import type { PlaneLayout } from "./picture/plane_layout.ts";
import { wantedFor } from "./picture/tiles.ts";
import { type Axes, indexAt, locate, type Plane, type Point, planeOf, sameShape } from "./plane.ts";
import {
  formatOf,
  type KeptOptions,
  type LayoutWish,
  type ShowChoice,
  showOf,
  type TensorOptions,
  type ValueLook,
} from "./state.ts";

/** Options requested before the entry's shape is known; null leaves one open. */
export interface Opening {
  axes: Axes | null;
  index: readonly number[] | null;
  along: number | null;
  reading: string | null;
  layout: LayoutWish;
}

/** Axes in a layout: names, lengths, and stored axes of each. */
type LaidAxes = ReturnType<typeof laidOut>;

const DEFAULT_LAYOUT: LayoutWish = { layout: null, sizes: null };

/** Rank above which a layout may unfold to other axes than the stored ones, so that their lengths are no guide. */
const PLAIN = 4;
const ANY = 256;

/** All that is wanted of a tensor: entry, reading, layout, plane and look; the questions about it come from here. */
export class RequestedView {
  colors: ColorChoice;
  values: ValueLook;
  show: ShowChoice;
  cells: CellChoice;
  entry: Entry | null = null;
  plane: Plane | null = null;
  /** Null leaves the choice to the run. */
  reading: string | null = null;
  layout = DEFAULT_LAYOUT;
  /** Axis of channels or a profile. */
  along: number | null = null;
  /** Letters of the plane's axes, if known. */
  names: readonly string[] = [];
  #answer: TensorAnswer | null = null;
  /** Options for axes other than the declared ones, and the plane shown until the axes are known. */
  #literal: { wish: Opening; plane: Plane } | null = null;
  #declared: readonly number[] = [];

  constructor(options: ViewOptions<TensorOptions>) {
    this.colors = {
      scale: options.get("color_scale") ?? "auto",
      map: options.get("color_map") ?? "auto",
      range: options.get("color_range") ?? "auto",
    };
    this.values = {
      format: formatOf(options.get("value_format")),
      scale: options.get("scale") ?? 1,
      zeroPoint: options.get("zero_point") ?? 0,
    };
    this.show = showOf(options.get("show"));
    this.cells = options.get("cells") ?? "mean";
  }

  get kept(): Partial<KeptOptions> {
    const { colors, values, plane } = this;
    return {
      color_scale: colors.scale,
      color_map: colors.map,
      color_range: typeof colors.range === "string" ? colors.range : [...colors.range],
      show: this.show,
      cells: this.cells,
      value_format: values.format,
      scale: values.scale,
      zero_point: values.zeroPoint,
      entry: this.entry && [...this.entry],
      data_layout: this.layout.layout,
      data_sizes: this.layout.sizes,
      reading: this.reading,
      along: this.along,
      ...(plane && { axes: [...plane.axes], index: [...plane.index] }),
    };
  }

  /** Requests another entry; keeps the view and returns true if the shape is the same. */
  over(entry: Entry, shape: readonly number[], opening: Opening | null): boolean {
    const same = this.plane !== null && sameShape(this.#declared, shape);
    this.entry = entry;
    this.#declared = shape;
    this.#answer = null;
    this.reading = opening?.reading ?? null;
    if (opening || !same) {
      this.layout = opening?.layout ?? DEFAULT_LAYOUT;
      this.along = opening?.along ?? null;
      this.plane = planeOf(shape, opening?.axes ?? null, opening?.index ?? null);
      const open = opening && opening.index?.length !== shape.length;
      this.#literal = open ? { wish: opening, plane: this.plane } : null;
    }
    if (opening || !same || this.layout.layout === null) this.names = [];
    return same;
  }

  none(entry: Entry | null): void {
    this.entry = entry;
    this.plane = null;
    this.#answer = null;
    this.#declared = [];
  }

  /** Null if nothing can be requested. */
  get view(): PlaneView | null {
    if (!this.entry || !this.plane) return null;
    const answer = this.#answer;
    const literal = !answer && this.#literal?.plane === this.plane ? this.#literal : null;
    return {
      entry: this.entry,
      reading: answer ? answer.reading : this.reading,
      layout: (answer ?? this.layout).layout,
      sizes: (answer ?? this.layout).sizes,
      axes: (literal?.wish ?? this.plane).axes,
      index: (literal?.wish ?? this.plane).index,
    };
  }

  /** Question for the part of the plane that a layout shows. */
  question(layout: PlaneLayout): TensorRequest | null {
    const { view, plane } = this;
    if (!view || !plane) return null;
    const isOpen = view.layout === null && plane.shape.length > PLAIN;
    const cells = isOpen ? { part: null, rows: ANY, cols: ANY } : wantedFor(layout);
    return { ...view, ...cells, exact: false };
  }

  /** Takes over the run's choices; returns true if the requested plane is unchanged. */
  answered(answer: TensorAnswer): boolean {
    this.#answer = answer;
    this.names = answer.axisNames;
    if (this.plane && sameShape(this.plane.shape, answer.viewShape)) return true;
    this.plane = planeOf(answer.viewShape, answer.axes, answer.index);
    return false;
  }

  read(reading: string | null): void {
    this.reading = reading;
    this.#answer = null;
  }

  /** Axes in a wanted layout that is given or that the answer knows; null for others. */
  laid({ layout, sizes }: LayoutWish, given?: KnownLayout): LaidAxes | null {
    const answer = this.#answer;
    const known = given ?? answer?.layouts.find((candidate) => candidate.layout === layout);
    if (!answer || layout === null || (layout && !known?.axes)) return null;
    return laidOut(answer.storedShape, known?.axes ?? null, sizes ?? known?.sizes ?? {});
  }

  /** Changes the layout; returns the new position of a value. */
  lay(wish: LayoutWish, point: Point | null, given?: KnownLayout): Point | null {
    const [before, plane, after] = [this.#answer, this.plane, this.laid(wish, given)];
    this.layout = wish;
    this.#answer = null;
    if (!before || !plane || !after) return null;
    this.names = after.axisNames;
    const moved = (index: readonly number[]) =>
      logicalIndex(after, storedIndex(before, index)).map((value, axis) =>
        Math.min(value, after.viewShape[axis]! - 1),
      );
    const first = ({ axisNames, storedAxes }: LaidAxes, axis: number) =>
      before.layout && wish.layout ? axisNames[axis] : storedAxes[axis]![0];
    const kept = (axis: number | null) =>
      axis === null
        ? null
        : after.storedAxes.findIndex((_, other) => first(after, other) === first(before, axis));
    const [down, across] = [kept(plane.axes[0]), kept(plane.axes[1])];
    this.along = kept(this.along);
    if (this.along === -1) this.along = null;
    const sound = down !== -1 && across !== -1 && down !== across;
    this.plane = planeOf(
      after.viewShape,
      sound ? [down, across] : null,
      moved(indexAt(plane, point ?? { row: 0, col: 0 })),
    );
    return point && locate(this.plane, moved(indexAt(plane, point))).point;
  }
}

/** True if two answers have the same values, in whatever layout. */
export function sameTensor(a: TensorAnswer | null, b: TensorAnswer | null): boolean {
  return !!a && !!b && a.entry.join() === b.entry.join() && a.reading === b.reading;
}

/** Answer to show; keeps the picture of the shown plane if a new reply has none. */
export function withPicture(answer: TensorAnswer, before: TensorAnswer | null): TensorAnswer {
  if (!answer.trouble || !before?.tile || !sameTensor(before, answer)) return answer;
  const plane = ({ layout, axes, index }: TensorAnswer) => JSON.stringify([layout, axes, index]);
  return plane(before) === plane(answer) ? { ...before, trouble: answer.trouble } : answer;
}

/** Options of an entry from all traits, or from those named. */
export function opening(
  options: ViewOptions<TensorOptions>,
  names: { has(name: string): boolean } = { has: () => true },
): Opening {
  const of = <K extends keyof KeptOptions & string>(name: K) =>
    names.has(name) ? (options.get(name) ?? null) : null;
  return {
    axes: of("axes"),
    index: of("index"),
    along: of("along"),
    reading: of("reading"),
    layout: { layout: of("data_layout"), sizes: of("data_sizes") },
  };
}
