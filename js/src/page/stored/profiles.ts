/** Profiles that were made when the page was saved: one an axis of a tensor, all in a row. */
import type { Along } from "./along.ts";
import { floats, type StoredData } from "./data.ts";
import { MOST_SIDE } from "./picture.ts";
import type { Question } from "./question.ts";

/** As many as `export/page/stored_profiles.py` makes. */
const POINTS = 4096;

/** The profile along an axis of the shape that was saved; null where there is none with so few points. */
export function storedProfile(
  data: StoredData,
  variant: number,
  shape: readonly number[],
  axis: number,
  question: Question,
): Along | null {
  const points = question.integer("points", 1, MOST_SIDE);
  if (!data.has("profiles")) return null;
  const all = data.columns<"page profiles">("profiles");
  const row = all.variant.indexOf(variant);
  const steps = shape.map((length) => Math.ceil(length / POINTS));
  const counts = shape.map((length, each) => Math.ceil(length / steps[each]!));
  const count = counts[axis]!;
  if (row < 0 || count > points) return null;
  const total = counts.reduce((sum, each) => sum + each, 0);
  const before = counts.slice(0, axis).reduce((sum, each) => sum + each, 0);
  const at = all.at[row]!;
  const wide = all.wide[row] === 1;
  const size = (wide ? 24 : 12) * total;
  const numbers = floats(data.blob(at, size), wide);
  const part = (i: number) => numbers.subarray(i * total + before, i * total + before + count);
  const flags = all.flagged[row] ? data.blob(at + size + before, count) : new Uint8Array(count);
  const cells = { minimum: part(0), maximum: part(1), mean: part(2), flags };
  return {
    result: { axis: question.integer("axis"), length: shape[axis], step: steps[axis] },
    cells,
  };
}
