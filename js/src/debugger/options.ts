import type { GraphOptions } from "../graph/options.ts";
import type { TensorOptions } from "../tensor/options.ts";
import type { TimelineOptions } from "../timeline/state.ts";

export const VIEWS = ["findings", "graph", "tensor", "timeline"] as const;
export type ViewName = (typeof VIEWS)[number];

/** Traits of the Python `Debugger`. */
export interface DebuggerOptions
  extends GraphOptions,
    Omit<TensorOptions, "show">,
    TimelineOptions {
  /** What the tensor inspector knows as `show`. */
  tensor_show: TensorOptions["show"];
  height: number;
  layout_sizes: number[];
  collapsed: ViewName[];
  findings_folded: boolean;
}
