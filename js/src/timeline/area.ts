import { lowerBound, upperBound } from "../shared/sorted.ts";
import type { Slices, Track } from "./slices.ts";

/** What lies in a range of time. */
export interface Area {
  from: number;
  to: number;
  /** Slices that share time with the range, and those of no duration in it. */
  slices: number;
  instants: number;
  /** Sum of the slices' time inside the range. */
  sum: number;
  tracks: { name: string; busy: number; gaps: number; longestGap: number }[];
  /** The operator that takes most of the range, as one of its slices, and its time there. */
  top: { slice: number; ns: number } | null;
}

export function area(slices: Slices, from: number, to: number): Area {
  const found: Area = { from, to, slices: 0, instants: 0, sum: 0, tracks: [], top: null };
  const { sliceNode, sliceNames, nodeNs } = slices.columns;
  const operatorOf = (slice: number) => {
    const node = sliceNode[slice]!;
    return node < 0 ? nodeNs.length + sliceNames.codes[slice]! : node;
  };
  const byOperator = new Float64Array(nodeNs.length + sliceNames.unique.length);
  let longest = -1;
  for (const track of slices.tracks) {
    for (const lane of track.lanes) {
      const [first, last] = lane.range(from, to);
      found.slices += last - first;
      found.sum += lane.busyOf(first, last, from, to);
      for (let at = first; at < last; at++) {
        const slice = lane.slice[at]!;
        const operator = operatorOf(slice);
        byOperator[operator]! += Math.min(lane.end[at]!, to) - Math.max(lane.start[at]!, from);
        if (longest < 0 || byOperator[operator]! > byOperator[operatorOf(longest)]!)
          longest = slice;
      }
    }
    found.instants += instantsIn(track, from, to);
    found.tracks.push({
      name: track.name,
      busy: track.busy.busy(from, to),
      ...gaps(track, from, to),
    });
  }
  if (longest >= 0) found.top = { slice: longest, ns: byOperator[operatorOf(longest)]! };
  return found;
}

/** Slices of no duration in [from, to]. */
export function instantsIn({ instants }: Track, from: number, to: number): number {
  return upperBound(instants.start, to) - lowerBound(instants.start, from);
}

/** Idle stretches of a track in [from, to]: how many, and the longest. */
export function gaps({ busy }: Track, from: number, to: number) {
  const [first, last] = busy.range(from, to);
  let [count, longest, idleSince] = [0, 0, from];
  for (let at = first; at <= last; at++) {
    const until = at < last ? busy.start[at]! : to;
    if (until > idleSince) {
      count++;
      longest = Math.max(longest, until - idleSince);
    }
    if (at < last) idleSince = Math.max(idleSince, busy.end[at]!);
  }
  return { gaps: count, longestGap: longest };
}
