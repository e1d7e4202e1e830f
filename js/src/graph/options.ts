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
  /** Draw closed groups as one box and frames around what is in open ones. */
  grouped: boolean;
  /** Groups that are open; null: as many as can be taken in at one look. */
  open_groups: readonly number[] | null;
  /** A long graph in columns side by side; null: where it can so be read. */
  wrapped: boolean | null;
  /** The selected group. */
  group: number | null;
}
