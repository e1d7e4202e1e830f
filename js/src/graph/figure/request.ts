import type { GraphColumns } from "../../shared/client/run_client.ts";
import type { HealthAnswer } from "../../shared/client/tensor_questions.ts";
import type { FigureRequest } from "../../shared/drawing/figure.ts";
import type { Note } from "../../shared/drawing/figure_parts.ts";
import type { Wire } from "../color/columns.ts";
import type { Bridge } from "../data/bridges.ts";
import type { Direction } from "../layout/types.ts";

/** What Python tells of the figure of a graph beside the columns of the run; see `figures/request.py`. */
export interface GraphData {
  title: string;
  /** What alone is shown, in words; empty for all. */
  part: string;
  /** Of all values, in words. */
  health: string;
  /** Said above the picture. */
  notes: Note[];
  /** Nodes that alone are shown, null for all; and what leads over hidden ones between them. */
  only: number[] | null;
  bridges: Bridge[];
  /** -1 for none. */
  focus: number;
  selected: number[];
  /** Nodes that are outlined besides. */
  outlined: number[];
  hits: number[];
  /** What the colors show, where the graph does not know it of itself; its rows are a column of the request. */
  column: Omit<Wire, "data" | "terms"> | null;
  /** Of each node, where the label asks for it. */
  layouts: string[] | null;
  most: { boxes: number; bytes: number };
  /** Draw every box, however large that makes the figure. */
  whole: boolean;
  /** From where a part of the whole graph is seen, px of the graph away from the middle of a node's box. */
  camera: { node: number; dx: number; dy: number; scale: number } | null;
  /** px, of what a camera sees. */
  height: number;
}

/** Traits of the live view. */
export interface GraphTraits {
  color_by: string;
  color_limits: [low: number, high: number] | null;
  direction: Direction;
  fold_parameters: boolean;
  label: string;
  /** Null: nobody has chosen. */
  open_groups: number[] | null;
  grouped: boolean;
}

export interface GraphAnswers {
  graph: GraphColumns;
  /** Of the values, where they are looked at. */
  health?: HealthAnswer;
}

export type GraphRequest = FigureRequest<GraphData, GraphTraits, GraphAnswers>;
