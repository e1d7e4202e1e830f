import type { ValueFormat } from "../shared/client/tensor_questions.ts";
import type { CellChoice, MapChoice, ScaleChoice } from "./colors/color_scale.ts";
import type { ShowChoice } from "./state.ts";

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
