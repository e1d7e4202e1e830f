import type {
  Entry,
  PlaneView,
  StatisticsAnswer,
  TensorAnswer,
  ValueFormat,
} from "../shared/client/tensor_questions.ts";
import type { ViewOptions } from "../shared/ui/view.ts";
import type {
  CellChoice,
  ColorChoice,
  ColorScale,
  MapChoice,
  ScaleChoice,
} from "./picture/color_scale.ts";
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
export interface ShownTensor {
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

/** Traits of the Python `TensorInspector`. */
export interface TensorOptions {
  entry: [node: number, output: number] | null;
  axes: [down: number | null, across: number | null] | null;
  index: number[] | null;
  color_scale: ScaleChoice;
  color_map: MapChoice;
  color_range: "auto" | "tensor" | "plane" | "robust" | [low: number, high: number];
  /** Null for the one that the graph states, "" for the axes as stored. */
  data_layout: string | null;
  /** Sizes that hide padding; null for those that are known with the layout. */
  data_sizes: Record<string, number> | null;
  reading: string | null;
  show: ShowChoice;
  /** Null leaves the choice to the view. */
  along: number | null;
  cells: CellChoice;
  region: [row: number, col: number, rows: number, cols: number] | null;
  marked_region: [row: number, col: number, rows: number, cols: number] | null;
  value_format: ValueFormat;
  scale: number;
  zero_point: number;
  height: number;
}

const REST_MS = 250;

/** All that is read back but for the height, which the host sets. */
export type KeptOptions = Omit<TensorOptions, "height">;

/** Tells Python what is shown, once things rest. */
export class Memory {
  readonly #options: ViewOptions<TensorOptions>;
  readonly #told = new Map<string, string>();
  #kept: Partial<KeptOptions> = {};
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ViewOptions<TensorOptions>, signal: AbortSignal) {
    this.#options = options;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  keep(kept: Partial<KeptOptions>): void {
    this.#kept = { ...this.#kept, ...kept };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      for (const [name, value] of Object.entries(this.#kept)) {
        this.#told.set(name, JSON.stringify(value));
        this.#options.set(name as keyof KeptOptions, value as never);
      }
    }, REST_MS);
  }

  /** Whether a change of the trait is only this view's own word coming back. */
  isEcho(name: keyof KeptOptions): boolean {
    return JSON.stringify(this.#options.get(name)) === this.#told.get(name);
  }
}

/** How a tensor is shown, whichever it is. */
export class DisplaySettings {
  colors: ColorChoice;
  values: ValueLook;
  show: ShowChoice;
  cells: CellChoice;

  constructor(options: ViewOptions<TensorOptions>) {
    this.colors = {
      scale: options.get("color_scale") ?? "auto",
      map: options.get("color_map") ?? "auto",
      range: options.get("color_range") ?? "auto",
    };
    this.values = {
      format: options.get("value_format") ?? "number",
      scale: options.get("scale") ?? 1,
      zeroPoint: options.get("zero_point") ?? 0,
    };
    this.show = options.get("show") ?? "picture";
    this.cells = options.get("cells") ?? "mean";
  }

  /** What of it is read back in Python. */
  get kept(): Partial<KeptOptions> {
    const { scale, map, range } = this.colors;
    return {
      color_scale: scale,
      color_map: map,
      color_range: typeof range === "string" ? range : [...range],
      show: this.show,
      cells: this.cells,
      value_format: this.values.format,
      scale: this.values.scale,
      zero_point: this.values.zeroPoint,
    };
  }
}
