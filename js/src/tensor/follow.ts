import type { Entry } from "../shared/tensor_questions.ts";
import type { ViewContext, ViewOptions } from "../shared/view.ts";
import type { CellChoice, ColorChoice } from "./color_scale.ts";
import type { LayoutWish } from "./layout_picker.ts";
import type { Kept, Memory } from "./memory.ts";
import type { TensorOptions } from "./options.ts";
import { type Plane, planeOf } from "./plane.ts";
import type { Region, ShowChoice, ValueLook } from "./state.ts";
import type { Opening } from "./wish.ts";

const NAMES = [
  "entry",
  "axes",
  "index",
  "color_scale",
  "color_map",
  "color_range",
  "cells",
  "data_layout",
  "data_sizes",
  "reading",
  "show",
  "along",
  "region",
  "value_format",
  "scale",
  "zero_point",
] as const satisfies readonly (keyof Kept)[];

/** What an inspector can be told. */
interface Follower {
  show(entry: Entry, opening: Opening | null): void;
  noted(): void;
  resize(): void;
  look(change: (plane: Plane) => Plane): void;
  lay(layout: LayoutWish): void;
  along(axis: number | null): void;
  cells(change: (cells: CellChoice) => CellChoice): void;
  read(reading: string | null): void;
  display(change: (show: ShowChoice) => ShowChoice): void;
  readonly steering: { region(region: Region | null): void };
  value(change: Partial<ValueLook>): void;
  recolor(change: (colors: ColorChoice) => Partial<ColorChoice>): void;
}

/** Lets the inspector follow what Python and the other views say. */
export function follow(
  inspector: Follower,
  { options, session, signal }: ViewContext<TensorOptions>,
  memory: Memory,
): void {
  const selected = () => {
    if (session.entry) inspector.show(session.entry, null);
  };
  session.onChange(selected, signal, ["selected", "entry"]);
  session.onChange(() => inspector.noted(), signal, ["notes"]);
  options.onChange("height", () => inspector.resize(), signal);
  const told = new Set<keyof Kept>();
  /** Takes all that was told at once, in an order in which nothing undoes the other. */
  const take = () => {
    const has = (...names: (keyof Kept)[]) => names.some((name) => told.has(name));
    const on = <K extends keyof Kept & string>(name: K, run: (value: Kept[K]) => void) => {
      if (has(name)) run(options.get(name));
    };
    const entry = has("entry") && options.get("entry");
    if (entry) {
      const plain = !has("axes", "index", "along", "reading", "data_layout", "data_sizes");
      inspector.show(entry, plain ? null : opening(options, told));
    } else {
      on("reading", (reading) => inspector.read(reading));
      if (has("data_layout", "data_sizes")) inspector.lay(opening(options).layout);
      on("axes", (axes) => inspector.look(({ shape, index }) => planeOf(shape, axes, index)));
      on("index", (index) => inspector.look(({ shape, axes }) => planeOf(shape, axes, index)));
      on("along", (along) => inspector.along(along));
    }
    on("show", (show) => inspector.display(() => show));
    on("region", (region) => inspector.steering.region(region));
    on("color_scale", (scale) => inspector.recolor(() => ({ scale })));
    on("color_map", (map) => inspector.recolor(() => ({ map })));
    on("color_range", (range) => inspector.recolor(() => ({ range })));
    on("cells", (cells) => inspector.cells(() => cells));
    on("value_format", (format) => inspector.value({ format }));
    on("scale", (scale) => inspector.value({ scale }));
    on("zero_point", (zeroPoint) => inspector.value({ zeroPoint }));
    told.clear();
  };
  for (const name of NAMES) {
    const changed = () => {
      if (memory.isEcho(name)) return;
      if (told.size === 0) queueMicrotask(() => signal.aborted || take());
      told.add(name);
    };
    options.onChange(name, changed, signal);
  }
}

/** What the traits ask of an entry: all of them, or those that were told. */
export function opening(
  options: ViewOptions<TensorOptions>,
  told: { has(name: keyof Kept): boolean } = { has: () => true },
): Opening {
  const of = <K extends keyof Kept & string>(name: K) =>
    told.has(name) ? (options.get(name) ?? null) : null;
  return {
    axes: of("axes"),
    index: of("index"),
    along: of("along"),
    reading: of("reading"),
    layout: { layout: of("data_layout"), sizes: of("data_sizes") },
  };
}
