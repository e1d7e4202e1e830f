import type { Entry } from "../shared/tensor_questions.ts";
import type { ViewContext } from "../shared/view.ts";
import type { ColorChoice } from "./color_scale.ts";
import type { Memory } from "./memory.ts";
import type { TensorOptions } from "./options.ts";
import { type Plane, planeOf } from "./plane.ts";

/** What an inspector can be told. */
interface Follower {
  show(entry: Entry): void;
  noted(): void;
  resize(): void;
  look(change: (plane: Plane) => Plane): void;
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
  const onOption = (
    name: "entry" | "axes" | "index" | "color_scale" | "color_map",
    run: () => void,
  ) => {
    options.onChange(name, () => memory.isEcho(name) || run(), signal);
  };
  onOption("entry", () => {
    const entry = options.get("entry");
    if (entry) inspector.show(entry);
  });
  onOption("axes", () =>
    inspector.look(({ shape, index }) => planeOf(shape, options.get("axes"), index)),
  );
  onOption("index", () =>
    inspector.look(({ shape, axes }) => planeOf(shape, axes, options.get("index"))),
  );
  onOption("color_scale", () => inspector.recolor(() => ({ scale: options.get("color_scale") })));
  onOption("color_map", () => inspector.recolor(() => ({ map: options.get("color_map") })));
}
