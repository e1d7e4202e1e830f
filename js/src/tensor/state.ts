import type { Client } from "../shared/client/client.ts";
import type { TensorOptions } from "../shared/client/options.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import type {
  Entry,
  KnownLayout,
  PlaneView,
  StatisticsAnswer,
  TensorAnswer,
  ValueFormat,
} from "../shared/client/tensor_questions.ts";
import { VALUE_FORMATS } from "../shared/client/tensor_questions.ts";
import type { Mirror } from "../shell/dom.ts";
import type { Entries } from "./entries.ts";
import type { CellChoice, ColorChoice, ColorScale } from "./picture/color_scale.ts";
import type { Plane, Point } from "./plane.ts";

export const SHOWS = ["heatmap", "channels", "line plot"] as const;
/** Left pane: a plane, pictures of the indices of an axis, or a line along an axis. */
export type ShowChoice = (typeof SHOWS)[number];

/** A choice, also by the name that saved states have from earlier versions. */
export function showOf(name: string | undefined): ShowChoice {
  if (name === "profile") return "line plot";
  return SHOWS.find((show) => show === name) ?? "heatmap";
}

/** A format, also as saved states of earlier versions spell it. */
export function formatOf(name: string | undefined): ValueFormat {
  return VALUE_FORMATS.find((format) => format === name?.replace("tised", "tized")) ?? "number";
}

/** A part of the plane in values: rows down, columns across. */
export type Region = readonly [row: number, col: number, rows: number, cols: number];

/** The region inside of a plane; null if that is all of it. */
export function clipped(region: Region, planeRows: number, planeCols: number): Region | null {
  const [row, col] = [Math.min(region[0], planeRows - 1), Math.min(region[1], planeCols - 1)];
  const [rows, cols] = [Math.min(region[2], planeRows - row), Math.min(region[3], planeCols - col)];
  return rows === planeRows && cols === planeCols ? null : [row, col, rows, cols];
}

export interface ValueLook {
  format: ValueFormat;
  /** For "dequantized": (value - zeroPoint) * scale. */
  scale: number;
  zeroPoint: number;
}

/** State shown by the parts; unchanged fields stay the same objects, so parts compare them by `===`. */
export interface ShownTensor {
  readonly entry: Entry;
  /** Facts and the shown plane; its tile is the finest of the visible part. Null after an error. */
  readonly answer: TensorAnswer | null;
  /** Statistics of the complete tensor under the answer's reading; null until known. */
  readonly statistics: StatisticsAnswer | null;
  readonly show: ShowChoice;
  readonly along: number | null;
  /** Visible region; null for the complete plane. */
  readonly region: Region | null;
  readonly colors: ColorChoice;
  /** Numbers to colors; null without finite values. */
  readonly scale: ColorScale | null;
  readonly cells: CellChoice;
  readonly values: ValueLook;
}

/** Layout to unfold ("" for the axes as stored) and sizes that hide padding; null for those of the graph. */
export interface LayoutWish {
  layout: string | null;
  sizes: Record<string, number> | null;
}

/** The inspector, as its parts know it. */
export interface TensorHost {
  readonly root: HTMLElement;
  readonly run: Client;
  readonly session: SessionClient;
  readonly entries: Entries;
  readonly wish: { readonly colors: ColorChoice };
  /** Aborts with the view. */
  readonly signal: AbortSignal;
  /** Goes to a value by its index along the axes of `viewShape`, or along those of `storedShape`. */
  go(index: readonly number[], space: "view" | "stored"): void;
  /** Goes to a typed index; returns an error, or "". */
  typed(text: string): string;
  pick(entry: Entry): void;
  /** Shows an entry unless the user has chosen one. */
  openAt(entry: Entry): void;
  step(step: 1 | -1): void;
  /** Shows the plane at an index of a free axis. */
  open(axis: number, index: number): void;
  look(change: (plane: Plane) => Plane): void;
  /** Changes the layout; its axes may be known. */
  lay(layout: LayoutWish, known?: KnownLayout): void;
  read(reading: string): void;
  along(axis: number): void;
  nextAlong(): void;
  recolor(change: Partial<ColorChoice>): void;
  cells(cells: CellChoice): void;
  value(change: Partial<ValueLook>): void;
  display(show: ShowChoice): void;
  whole(): void;
  copy(): void;
  /** Writes the choices to the traits. */
  remember(): void;
  moved(): void;
  painted(): void;
  resized(): void;
  /** Returns the keyboard focus to the view. */
  leave(): void;
  readonly viewing: {
    /** Asks again after an error. */
    again(): void;
    count(go: boolean): void;
    words(): string;
  };
  readonly steering: {
    index(steps: number): void;
    /** False at the end of the first fixed axis, or without one. */
    turns(by: number): boolean;
    region(region: Region | null): void;
    zoom(factor: number): void;
  };
  readonly panels: {
    readonly cross: {
      mark(point: Point | null): void;
      place(point: Point | null): void;
      readAgain(): void;
    };
    readonly marked: {
      readonly region: Region | null;
      between(from: Point, to: Point): void;
      mark(region: Region | null): void;
    };
    readonly mirror: Mirror;
  };
}

/** True if single values of the plane can be read. */
export function hasValues({ tile, unordered }: TensorAnswer): boolean {
  return tile !== null || unordered === true;
}

/** The plane of an answer or a request, for further questions about it. */
export function viewOf({ entry, reading, layout, sizes, axes, index }: PlaneView): PlaneView {
  return { entry, reading, layout, sizes, axes, index };
}

export type { TensorOptions };

/** Options to be read back: all but the height, which the host sets. */
export type KeptOptions = Omit<TensorOptions, "height">;
