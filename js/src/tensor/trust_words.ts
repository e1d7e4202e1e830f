/** How far a picture can be believed: when it was captured, of how many values it is, and what was assumed. */
import type { KnownLayout, TensorAnswer } from "../shared/client/tensor_questions.ts";

const CAPTURED = {
  node: "captured after the node ran",
  later: "read after the run: its buffer may have been reused",
  file: "a constant of the model's file",
  unknown: "capture time unknown",
} as const;

export type Believed = Pick<
  TensorAnswer,
  "captured" | "layout" | "layouts" | "missingLanes" | "reading"
>;

/** Whether something is to be said of when the values were read. */
export function isUnsure({ captured }: Believed): boolean {
  return captured !== "node" && captured !== "file";
}

/**
 * The first is when it was captured.
 *
 * @param exact   whether every value was looked at; null where none is drawn.
 * @param misfit  why a layout that was asked for does not fit.
 */
export function trustWords(believed: Believed, exact: boolean | null, misfit = ""): string[] {
  const { captured, layout, layouts, missingLanes, reading } = believed;
  const words: string[] = [CAPTURED[captured]];
  const stored = missingLanes ? "all stored values" : "all values";
  if (exact !== null) words.push(exact ? stored : "sampled values");
  if (layout) words.push(`layout ${layout} ${sourceOf(layouts, layout)}`);
  else if (misfit) words.push(`axes as stored: ${misfit}`);
  else if (layouts.length > 0) words.push("axes as stored");
  if (reading !== null) words.push(`read as ${reading.replace(/^as /, "")}`);
  return words;
}

/** "from out_layout of node 4", or that it was given by hand. */
export function sourceOf(layouts: readonly KnownLayout[], layout: string): string {
  const known = layouts.find((each) => each.layout === layout);
  if (!known) return "(custom)";
  return `from ${known.source}${known.certainty === "likely" ? " (likely)" : ""}`;
}
