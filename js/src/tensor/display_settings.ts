import type { ViewOptions } from "../shared/ui/view_options.ts";
import type { CellChoice, ColorChoice } from "./colors/color_scale.ts";
import type { Kept } from "./memory.ts";
import type { TensorOptions } from "./options.ts";
import type { ShowChoice, ValueLook } from "./state.ts";

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
  get kept(): Partial<Kept> {
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
