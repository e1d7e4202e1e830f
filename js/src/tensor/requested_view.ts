import type { Entry, PlaneView, TensorAnswer } from "../shared/client/tensor_questions.ts";
import { logicalIndex, physicalIndex, unfolded } from "../shared/unfold.ts";
import type { LayoutWish } from "./choose/layout_picker.ts";
import { type Axes, indexAt, locate, type Plane, type Point, planeOf, sameShape } from "./plane.ts";

/** What is asked for of an entry before anything is known of it; null leaves it open. */
export interface Opening {
  axes: Axes | null;
  index: readonly number[] | null;
  along: number | null;
  reading: string | null;
  layout: LayoutWish;
}

const AS_TOLD: LayoutWish = { layout: null, sizes: null };

/** What is wanted: an entry, how it is read and laid out, and a plane of it. */
export class RequestedView {
  entry: Entry | null = null;
  plane: Plane | null = null;
  /** Null leaves the choice to the run. */
  reading: string | null = null;
  layout = AS_TOLD;
  /** The axis that channels or a profile are to go along. */
  along: number | null = null;
  /** Letters of the plane's axes, where they are known. */
  names: readonly string[] = [];
  #answer: TensorAnswer | null = null;
  /** What was asked for of axes that are not the declared ones, and the plane that stands in for it till then. */
  #literal: { wish: Opening; plane: Plane } | null = null;
  /** The shape that the graph or file tells of the entry. */
  #declared: readonly number[] = [];

  /** Wants another entry; of the same shape it is shown like the one before. Says whether it is. */
  over(entry: Entry, shape: readonly number[], opening: Opening | null): boolean {
    const same = this.plane !== null && sameShape(this.#declared, shape);
    this.entry = entry;
    this.#declared = shape;
    this.#answer = null;
    this.reading = opening?.reading ?? null;
    if (opening || !same) {
      this.layout = opening?.layout ?? AS_TOLD;
      this.along = opening?.along ?? null;
      this.plane = planeOf(shape, opening?.axes ?? null, opening?.index ?? null);
      const open = opening && opening.index?.length !== shape.length;
      this.#literal = open ? { wish: opening, plane: this.plane } : null;
    }
    if (opening || !same || this.layout.layout === null) this.names = [];
    return same;
  }

  /** There is nothing to be shown. */
  none(entry: Entry | null): void {
    this.entry = entry;
    this.plane = null;
    this.#answer = null;
    this.#declared = [];
  }

  /** Null where nothing can be asked. */
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

  /** Takes over what the run chose. Says whether the plane is still that which was wanted. */
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

  /** Lays the axes out otherwise; returns where a value of the plane is then. */
  lay(wish: LayoutWish, point: Point | null): Point | null {
    const [before, plane] = [this.#answer, this.plane];
    this.layout = wish;
    this.#answer = null;
    const { layout } = wish;
    if (!before || !plane || layout === null) return null;
    const told = before.layouts.find((each) => each.layout === layout);
    const sizes = wish.sizes ?? told?.sizes ?? {};
    const after = layout
      ? unfolded(layout, before.storedShape, sizes)
      : { names: lettersOf(before.layout), shape: before.storedShape };
    if (!after) return null;
    const names = layout ? after.names : [];
    this.names = names;
    const moved = (index: readonly number[]) => {
      const stored = physicalIndex(before, index) ?? index;
      const found = logicalIndex({ layout, axisNames: names }, stored);
      return found.map((each, axis) => Math.min(each, after.shape[axis]! - 1));
    };
    const letters = before.layout ? before.axisNames : lettersOf(layout);
    const kept = (axis: number | null) =>
      axis === null ? null : after.names.indexOf(letters[axis] ?? "?");
    const [down, across] = [kept(plane.axes[0]), kept(plane.axes[1])];
    this.along = kept(this.along);
    if (this.along === -1) this.along = null;
    const sound = down !== -1 && across !== -1 && down !== across;
    this.plane = planeOf(
      after.shape,
      sound ? [down, across] : null,
      moved(indexAt(plane, point ?? { row: 0, col: 0 })),
    );
    return point && locate(this.plane, moved(indexAt(plane, point))).point;
  }
}

/** The letters of the axes as stored in a layout: upper case for the blocks, lower case for what was split off. */
function lettersOf(layout: string): string[] {
  return [...layout.matchAll(/[A-Z]|\d+([a-z])/g)].map(([letter, part]) => part ?? letter);
}
