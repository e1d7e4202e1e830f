import type { Links } from "./links.ts";

/** Edges that are followed at most; tvmdbg_widgets/model/graph/isolation.py follows as many. */
const MOST_FOLLOWED = 1_000_000;
/** Nodes and edges between two pauses. */
const STRIDE = 16_384;

/** Shown nodes with nothing but hidden ones between them, and how many those are. */
export interface Bridge {
  source: number;
  target: number;
  through: number;
}

/** What hidden nodes connect: sources ascending, and targets of each; where it would take too long, the rest is left out. */
export function* bridges(links: Links, hidden: Uint8Array): Generator<void, Bridge[]> {
  const { edgeSource, edgeTarget } = links.graph;
  const found: Bridge[] = [];
  const ahead = new Int32Array(hidden.length);
  const behind = new Int32Array(hidden.length);
  let mark = 0;
  let followed = 0;
  let pause = 0;
  for (let start = 0; start < hidden.length; start++) {
    if (start % STRIDE === 0) yield;
    if (hidden[start]) continue;
    mark += 1;
    const ends = new Set<number>();
    let work = [start];
    while (work.length && followed <= MOST_FOLLOWED) {
      if (followed >= pause) {
        pause = followed + STRIDE;
        yield;
      }
      const node = work.pop()!;
      const edges = links.outOf(node);
      if (node !== start) followed += edges.length;
      for (let at = 0; at < edges.length; at++) {
        const other = edgeTarget[edges[at]!]!;
        if (!hidden[other]) {
          if (node !== start && other !== start) ends.add(other);
        } else if (ahead[other] !== mark) {
          ahead[other] = mark;
          work.push(other);
        }
      }
    }
    for (const target of Int32Array.from(ends).sort()) {
      let through = 0;
      work = [target];
      const stamp = found.length + 1;
      while (work.length && followed <= MOST_FOLLOWED) {
        if (followed >= pause) {
          pause = followed + STRIDE;
          yield;
        }
        const [first, end] = links.range(work.pop()!);
        followed += end - first;
        for (let edge = first; edge < end; edge++) {
          const other = edgeSource[edge]!;
          if (other < 0 || ahead[other] !== mark || behind[other] === stamp) continue;
          behind[other] = stamp;
          through += 1;
          work.push(other);
        }
      }
      if (followed > MOST_FOLLOWED) return found;
      found.push({ source: start, target, through });
    }
  }
  return found;
}
