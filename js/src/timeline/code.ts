import { rangeCode, sliceCode, timesCode } from "../shared/client/code.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import type { Data } from "./data.ts";

/** Python for the marked range (null: it is not looked at), the selected slice, or the times of the selected nodes. */
export function codeFor(
  { slices, scene, change }: Data,
  { selected, slice }: SessionClient,
  range: readonly [number, number] | null,
): string {
  const { current } = scene;
  if (range) return rangeCode(range);
  if (selected.length === 0 && current >= 0) {
    return `run.timeline.slice(${slices.sourceOf(current)})`;
  }
  if (selected.length === 1 && slice && slices.of(slice[0]).length > 1) return sliceCode(...slice);
  if (change && selected.length) return `run.compared.row_of(${selected.at(-1)})`;
  return slices.columns.info.words.byName ? "run.top()" : timesCode(selected);
}
