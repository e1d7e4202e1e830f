import type { Entry } from "../shared/tensor_questions.ts";
import type { ViewContext } from "../shared/view.ts";
import type { ColorChoice } from "./color_scale.ts";
import type { LayoutWish } from "./layout_picker.ts";
import type { Kept, Memory } from "./memory.ts";
import type { TensorOptions } from "./options.ts";
import { type Plane, planeOf } from "./plane.ts";
import type { Region, ShowChoice, ValueLook } from "./state.ts";

/** What an inspector can be told. */
interface Follower {
  show(entry: Entry): void;
  noted(): void;
  resize(): void;
  look(change: (plane: Plane) => Plane): void;
  lay(layout: LayoutWish | null): void;
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
    if (session.entry) inspector.show(session.entry);
  };
  session.onChange(selected, signal, ["selected", "entry"]);
  session.onChange(() => inspector.noted(), signal, ["notes"]);
  options.onChange("height", () => inspector.resize(), signal);
  const on = <K extends keyof Kept & string>(name: K, run: (value: Kept[K]) => void) => {
    options.onChange(name, () => memory.isEcho(name) || run(options.get(name)), signal);
  };
  on("entry", (entry) => entry && inspector.show(entry));
  on("axes", (axes) => inspector.look(({ shape, index }) => planeOf(shape, axes, index)));
  on("index", (index) => inspector.look(({ shape, axes }) => planeOf(shape, axes, index)));
  on("color_scale", (scale) => inspector.recolor(() => ({ scale })));
  on("color_map", (map) => inspector.recolor(() => ({ map })));
  on("color_range", (range) => inspector.recolor(() => ({ range })));
  on("data_layout", (layout) => inspector.lay(layout === null ? null : { layout, sizes: {} }));
  on("reading", (reading) => inspector.read(reading));
  on("show", (show) => inspector.display(() => show));
  on("region", (region) => inspector.steering.region(region));
  on("value_format", (format) => inspector.value({ format }));
  on("scale", (scale) => inspector.value({ scale }));
  on("zero_point", (zeroPoint) => inspector.value({ zeroPoint }));
}
