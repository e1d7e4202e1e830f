import type {
  Entry,
  PlaneView,
  StatisticsAnswer,
  TensorAnswer,
  ValueFormat,
} from "../shared/client/tensor_questions.ts";
import type { CellChoice, ColorChoice, ColorScale } from "./colors/color_scale.ts";
import type { Point } from "./plane.ts";

export const SHOWS = ["picture", "channels", "profile"] as const;
/** What stands at the left: a plane, a picture for each index of an axis, or a line along an axis. */
export type ShowChoice = (typeof SHOWS)[number];

/** A part of the plane in values: rows down, columns across. */
export type Region = readonly [row: number, col: number, rows: number, cols: number];

/** How single values are written. */
export interface ValueLook {
  format: ValueFormat;
  /** For "dequantised": (value - zeroPoint) * scale. */
  scale: number;
  zeroPoint: number;
}

/**
 * What the parts are shown. A new one is made for each change; fields that did not change are the same objects, so
 * that a part can tell by `===` what it need not draw again.
 */
export interface Shown {
  readonly entry: Entry;
  /** The facts, and the plane that is shown; its tile is the finest of what is in sight. Null where reading failed. */
  readonly answer: TensorAnswer | null;
  /** Of the whole tensor under the answer's reading; null where they are not known (yet). */
  readonly statistics: StatisticsAnswer | null;
  readonly show: ShowChoice;
  /** The axis that channels or a profile go along; null where there is none. */
  readonly along: number | null;
  /** What is in sight of the plane; null for all of it. */
  readonly region: Region | null;
  readonly colors: ColorChoice;
  /** Numbers to colors; null where nothing is finite. */
  readonly scale: ColorScale | null;
  /** Which number of a cell of several values the colors show. */
  readonly cells: CellChoice;
  readonly values: ValueLook;
}

/** What the parts ask of the inspector. */
export interface InspectorCommands {
  /** Goes to a value by its index along the axes of `viewShape`, or along those of `storedShape`. */
  go(index: readonly number[], space: "view" | "stored"): void;
  /** Puts the crosshair at a value of the plane. */
  mark(point: Point | null): void;
  recolor(change: Partial<ColorChoice>): void;
  look(change: Partial<ValueLook>): void;
  read(reading: string): void;
  along(axis: number): void;
  /** Goes along the next axis. */
  nextAlong(): void;
  /** Looks at every value, or stops doing so. */
  count(go: boolean): void;
  /** Gives the keys back to the view. */
  leave(): void;
}

/** Whether single values of the plane can be read. */
export function hasValues({ tile, unordered }: TensorAnswer): boolean {
  return tile !== null || unordered === true;
}

/** The plane of an answer, to ask more about just that. */
export function viewOf({ entry, reading, layout, sizes, axes, index }: TensorAnswer): PlaneView {
  return { entry, reading, layout, sizes, axes, index };
}
