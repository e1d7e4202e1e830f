import type { Entry } from "../../shared/client/tensor_questions.ts";
import type { ViewContext } from "../../shared/ui/view.ts";
import type { ViewOptions } from "../../shared/ui/view_options.ts";
import type { CellChoice, ColorChoice } from "../colors/color_scale.ts";
import type { Kept, Memory } from "../memory.ts";
import type { TensorOptions } from "../options.ts";
import { type Plane, planeOf } from "../plane.ts";
import type { Opening } from "../requested_view.ts";
import type { Region, ShowChoice, ValueLook } from "../state.ts";
import type { LayoutWish } from "./layout_picker.ts";

/** What an inspector can be told. */
interface Follower {
  shows(entry: Entry): boolean;
  show(entry: Entry, opening: Opening | null): void;
  noted(): void;
  look(change: (plane: Plane) => Plane): void;
  lay(layout: LayoutWish): void;
  along(axis: number | null): void;
  cells(change: (cells: CellChoice) => CellChoice): void;
  read(reading: string | null): void;
  display(change: (show: ShowChoice) => ShowChoice): void;
  readonly steering: { region(region: Region | null): void };
  readonly panels: { readonly marked: { mark(region: Region | null): void } };
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
  const told = new Set<string>();
  const lay = () => inspector.lay(opening(options).layout);
  const plane = () =>
    inspector.look(({ shape, axes, index }) =>
      planeOf(
        shape,
        told.has("axes") ? options.get("axes") : axes,
        told.has("index") ? options.get("index") : index,
      ),
    );
  /** In an order in which nothing undoes the other. */
  const takes: { [K in keyof Kept]: (value: Kept[K]) => void } = {
    entry: (entry) => {
      const more = ["axes", "index", "along", "reading", "data_layout", "data_sizes"];
      // Another view of the same model tells the entry, too, when it first rests: what is chosen of it stays.
      if (!entry || inspector.shows(entry)) return;
      inspector.show(entry, more.some((name) => told.has(name)) ? opening(options, told) : null);
    },
    reading: (reading) => inspector.read(reading),
    data_layout: lay,
    data_sizes: lay,
    axes: plane,
    index: plane,
    along: (along) => inspector.along(along),
    show: (show) => inspector.display(() => show),
    region: (region) => inspector.steering.region(region),
    marked_region: (region) => inspector.panels.marked.mark(region),
    color_scale: (scale) => inspector.recolor(() => ({ scale })),
    color_map: (map) => inspector.recolor(() => ({ map })),
    color_range: (range) => inspector.recolor(() => ({ range })),
    cells: (cells) => inspector.cells(() => cells),
    value_format: (format) => inspector.value({ format }),
    scale: (scale) => inspector.value({ scale }),
    zero_point: (zeroPoint) => inspector.value({ zeroPoint }),
  };
  const names = Object.keys(takes) as (keyof Kept)[];
  const take = () => {
    for (const name of names) {
      if (told.has(name) && !signal.aborted) takes[name](options.get(name) as never);
    }
    told.clear();
  };
  for (const name of names) {
    const changed = () => {
      if (memory.isEcho(name)) return;
      if (told.size === 0) queueMicrotask(take);
      told.add(name);
    };
    options.onChange(name, changed, signal);
  }
}

/** What the traits ask of an entry: all of them, or those that were told. */
export function opening(
  options: ViewOptions<TensorOptions>,
  told: { has(name: string): boolean } = { has: () => true },
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
