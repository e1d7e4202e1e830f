import type { Wires } from "./color/coloring.ts";
import type { Isolation } from "./data/isolate.ts";
import type { CameraPlace } from "./stage/camera_place.ts";
import type { Bookmark, History } from "./stage/history.ts";

/** Traits of the Python `GraphView`: how it opens, and read back there as the user changes it. */
export interface GraphOptions {
  /** Name or id of the node to open at. */
  focus: string | number | null;
  /** Show only what is so many edges from the focus (or the selected node). */
  hops: number | null;
  /** What the colors show, and between which values they lie. */
  color_by: string;
  color_limits: readonly [low: number, high: number] | null;
  /** Template of the labels; empty for the usual ones. */
  label: string;
  _color_columns: Wires;
  /** Whether what is worked out for the colors was stopped. */
  _color_paused: boolean;
  fold_parameters: boolean;
  direction: "down" | "right";
  /** Height of the view, CSS px. */
  height: number;
  search: string;
  /** The part that alone is shown. */
  isolate: Isolation | null;
  /** Queries; what they find is not shown. */
  hidden: readonly string[];
  camera: CameraPlace | null;
  history: History;
  bookmarks: Readonly<Record<string, Bookmark>>;
  /** Draw closed groups as one box and frames around what is in open ones. */
  grouped: boolean;
  /** Groups that are open; null: as many as can be read in the room there is, told in `_opened`. */
  open_groups: readonly number[] | null;
  _opened: readonly number[] | null;
  /** A long graph in columns side by side; null: where it can so be read. */
  wrapped: boolean | null;
  /** The selected group. */
  group: number | null;
}
