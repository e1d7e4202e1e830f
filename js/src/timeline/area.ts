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
  const { nodeNs } = slices.columns;
  const operatorOf = (slice: number) => {
    const node = slices.nodeOf(slice);
    return node < 0 ? nodeNs.length + slices.nameCodeOf(slice) : node;
  };
  const byOperator = new Float64Array(nodeNs.length + slices.names.length);
  let longest = -1;
  for (const track of slices.tracks) {
    for (const row of track.rows) {
      const [first, last] = row.range(from, to);
      found.slices += last - first;
      found.sum += row.busyOf(first, last, from, to);
      for (let slice = first; slice < last; slice++) {
        const operator = operatorOf(slice);
        const inside = Math.min(slices.endOf(slice), to) - Math.max(slices.startOf(slice), from);
        byOperator[operator]! += inside;
        if (longest < 0 || byOperator[operator]! > byOperator[operatorOf(longest)]!)
          longest = slice;
      }
    }
    found.instants += instantsIn(track, from, to);
    found.tracks.push({
      name: track.name,
      busy: track.busy(from, to),
      ...gaps(track, from, to),
    });
  }
  if (longest >= 0) found.top = { slice: longest, ns: byOperator[operatorOf(longest)]! };
  return found;
}

/** Slices of no duration in [from, to]. */
export function instantsIn({ instants }: Track, from: number, to: number): number {
  if (!instants) return 0;
  const [first, last] = instants.range(from, to);
  return last - first;
}

/** Idle stretches of a track in [from, to]: how many, and the longest. */
export function gaps(track: Track, from: number, to: number) {
  let [count, longest] = [0, 0];
  track.eachIdle(from, to, (start, end) => {
    count++;
    longest = Math.max(longest, end - start);
  });
  return { gaps: count, longestGap: longest };
}
