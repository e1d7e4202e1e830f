import { type Range, type Sums, summing } from "./aggregate.ts";
import type { Called } from "./called.ts";
import type { Row, Slices } from "./slices.ts";

/** What the time of a range is shared out to. */
export const AREA_BY = ["node", "kind", "name", "track"] as const;
export type AreaBy = (typeof AREA_BY)[number];

export interface Part {
  label: string;
  /** Op kind, "" where several have part in it. */
  kind: string;
  nodes: number[];
  /** The first slice of it in the range. */
  slice: number;
  count: number;
  self: number;
}

/** The time of a range by one thing, the largest first; pauses now and then. */
export function* areaBy(
  by: AreaBy,
  slices: Slices,
  called: Called,
  range: Range,
  rows: readonly Row[],
): Generator<void, Part[]> {
  if (by === "track") {
    const sums = yield* summing(slices, range, slices.tracks.length, (_, row) => row.track, rows);
    return parts(sums, (track) => ({ label: slices.tracks[track]!.name, kind: "", nodes: [] }));
  }
  if (by === "name") {
    const { length } = slices.names;
    const name = (slice: number) => slices.nameCodeOf(slice);
    const sums = yield* summing(slices, range, length, name, rows);
    return parts(sums, (code) => ({ label: slices.names.at(code), kind: "", nodes: [] }));
  }
  const { operators } = called;
  const key = (slice: number) => operators.of(slice);
  const sums = yield* summing(slices, range, operators.size, key, rows);
  const single = parts(sums, (operator) => ({
    label: called.title(operator),
    kind: called.kind(operator),
    nodes: called.nodes(operator),
  }));
  return by === "node" ? single : byKind(single);
}

function parts(sums: Sums, tell: (key: number) => Pick<Part, "label" | "kind" | "nodes">): Part[] {
  const found: Part[] = [];
  sums.count.forEach((count, key) => {
    if (!count) return;
    found.push({ ...tell(key), slice: sums.slice[key]!, count, self: sums.self[key]! });
  });
  return found.sort((a, b) => b.self - a.self || a.slice - b.slice);
}

function byKind(single: readonly Part[]): Part[] {
  const kinds = new Map<string, Part>();
  for (const part of single) {
    const sum = kinds.get(part.kind);
    if (!sum) {
      kinds.set(part.kind, { ...part, label: part.kind, nodes: [...part.nodes] });
      continue;
    }
    sum.count += part.count;
    sum.self += part.self;
    sum.nodes.push(...part.nodes);
  }
  return [...kinds.values()].sort((a, b) => b.self - a.self);
}
