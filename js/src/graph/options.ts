import type { ColorBy } from "./picture.ts";

/** Traits of the Python `GraphView`: how it opens, and read back there as the user changes it. */
export interface GraphOptions {
  /** Name or id of the node to open at. */
  focus: string | number | null;
  /** Show only what is so many edges from the focus (or the selected node). */
  hops: number | null;
  color_by: ColorBy;
  fold_parameters: boolean;
  direction: "down" | "right";
  /** Height of the view, CSS px. */
  height: number;
  search: string;
}
