import type { MapChoice, ScaleKind } from "./color_scale.ts";

/** Traits of the Python `TensorInspector`. */
export interface TensorOptions {
  entry: [node: number, output: number] | null;
  axes: [down: number | null, across: number | null] | null;
  index: number[] | null;
  color_scale: ScaleKind;
  color_map: MapChoice;
  height: number;
}

export const DEFAULT_HEIGHT = 360;
