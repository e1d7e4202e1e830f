import type { Plan } from "./plan.ts";

/** What bytes are that a value at another offset holds. */
export const ELSEWHERE = "bytes held from another offset";
/** Opacity of what another row holds. */
export const FAINT = 0.3;

/** When values at other offsets hold bytes of a row, in pixels; what is less than one apart is one. */
export function heldElsewhere(
  plan: Plan,
  row: number,
  x: (step: number) => number,
): [left: number, right: number][] {
  const { first, last } = plan.columns;
  const found: [left: number, right: number][] = [];
  for (const entry of plan.elsewhere(row)) {
    const [left, right] = [x(first[entry]!), x(last[entry]! + 1)];
    const before = found.at(-1);
    if (before && left - before[1] < 1) before[1] = Math.max(before[1], right);
    else found.push([left, right]);
  }
  return found;
}
