import type { Entry, PlaneView, TensorAnswer } from "../shared/tensor_questions.ts";
import { logicalIndex, physicalIndex, unfolded } from "../shared/unfold.ts";
import type { LayoutWish } from "./layout_picker.ts";
import { type Axes, indexAt, locate, type Plane, type Point, planeOf, sameShape } from "./plane.ts";

/** Axes and index as they were asked for, before the shape is known. */
export interface PlaneWish {
  axes: Axes | null;
  index: readonly number[] | null;
}

/** What is wanted: an entry, how it is read and laid out, and a plane of it. */
export class Wish {
  entry: Entry | null = null;
  plane: Plane | null = null;
  /** Null leaves the choice to the run. */
  reading: string | null = null;
  layout: LayoutWish | null = null;
  #answer: TensorAnswer | null = null;
  /** What was asked for of axes that are not the declared ones, and the plane that stands in for it till then. */
  #literal: { wish: PlaneWish; plane: Plane } | null = null;
  /** The shape that the graph or file tells of the entry. */
  #declared: readonly number[] = [];

  /** Wants another entry; of the same shape it is shown like the one before. Says whether it is. */
  over(entry: Entry, shape: readonly number[], plane: PlaneWish | null): boolean {
    const same = this.plane !== null && sameShape(this.#declared, shape);
    this.entry = entry;
    this.#declared = shape;
    this.#answer = null;
    if (!same) this.layout = null;
    if (plane) {
      this.plane = planeOf(shape, plane.axes, plane.index);
      const fits = plane.index?.length === shape.length;
      this.#literal = fits ? null : { wish: plane, plane: this.plane };
    } else if (!same) this.plane = planeOf(shape, null, null);
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
      layout: answer ? answer.layout : (this.layout?.layout ?? null),
      sizes: answer ? answer.sizes : (this.layout?.sizes ?? {}),
      ...(literal?.wish ?? { axes: this.plane.axes, index: this.plane.index }),
    };
  }

  /** Takes over what the run chose. Says whether the plane is still that which was wanted. */
  answered(answer: TensorAnswer): boolean {
    this.#answer = answer;
    if (this.plane && sameShape(this.plane.shape, answer.viewShape)) return true;
    this.plane = planeOf(answer.viewShape, answer.axes, answer.index);
    return false;
  }

  read(reading: string | null): void {
    this.reading = reading;
    this.#answer = null;
  }

  /** Lays the axes out otherwise; returns where a value of the plane is then. */
  lay(layout: LayoutWish | null, point: Point | null): Point | null {
    const [before, plane] = [this.#answer, this.plane];
    if (JSON.stringify(layout) === JSON.stringify(this.layout)) return point;
    this.layout = layout;
    this.#answer = null;
    if (!before || !plane || !layout) return null;
    const after =
      layout.layout === ""
        ? { names: lettersOf(before.layout), shape: before.storedShape }
        : unfolded(layout.layout, before.storedShape, layout.sizes);
    if (!after) return null;
    const names = layout.layout === "" ? [] : after.names;
    const moved = (index: readonly number[]) => {
      const stored = physicalIndex(before, index) ?? index;
      const found = logicalIndex({ layout: layout.layout, axisNames: names }, stored);
      return found.map((each, axis) => Math.min(each, after.shape[axis]! - 1));
    };
    const letters = before.layout ? before.axisNames : lettersOf(layout.layout);
    const kept = plane.axes.map((axis) =>
      axis === null ? null : after.names.indexOf(letters[axis] ?? "?"),
    );
    const [down, across] = kept as [number | null, number | null];
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
