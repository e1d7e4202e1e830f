/** The traits of the MemoryView's model. */
export interface MemoryOptions {
  /** Show what the parameters take below the workspace. */
  parameters: boolean;
  color_by: "kind" | "size";
  /** The part of the order of execution in view, in steps; null is all. */
  step_range: [start: number, end: number] | null;
  /** CSS pixels. */
  height: number;
}
