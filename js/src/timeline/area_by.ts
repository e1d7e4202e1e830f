import { type Range, type Sums, summing } from "./aggregate.ts";
import type { Called } from "./called.ts";
import type { Row, Slices } from "./slices.ts";

/** What the time of a range is shared out to. */
export const AREA_BY = ["node", "kind", "part", "group", "device", "name", "track"] as const;
export type AreaBy = (typeof AREA_BY)[number];

export interface Part {
  label: string;
  /** Op kind, "" where several have part in it. */
  kind: string;
  /** What it stands for, where that is one. */
  operator?: number;
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
  if (by === "track" || by === "device") {
    const sums = yield* summing(slices, range, slices.tracks.length, (_, row) => row.track, rows);
    const { trackDevice } = slices.columns;
    const single = parts(sums, (track) => ({
      label: (by === "device" && trackDevice.at(track)) || slices.tracks[track]!.name,
      kind: "",
      nodes: [],
    }));
    return together(single, ({ label }) => [label]);
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
    operator,
    label: called.title(operator),
    kind: called.kind(operator),
    nodes: called.nodes(operator),
  }));
  if (by === "kind") return together(single, ({ kind }) => [kind]);
  if (by === "part") return together(single, ({ operator }) => called.parts(operator!));
  if (by === "group") return together(single, ({ operator }) => [outermost(called, operator!)]);
  return single;
}

function parts(
  sums: Sums,
  tell: (key: number) => Pick<Part, "label" | "kind" | "nodes" | "operator">,
): Part[] {
  const found: Part[] = [];
  sums.count.forEach((count, key) => {
    if (!count) return;
    found.push({ ...tell(key), slice: sums.slice[key]!, count, self: sums.self[key]! });
  });
  return found.sort((a, b) => b.self - a.self || a.slice - b.slice);
}

/** Those of one word together; what has several words counts to each. */
function together(single: readonly Part[], words: (part: Part) => readonly string[]): Part[] {
  const sums = new Map<string, Part>();
  for (const part of single) {
    for (const word of new Set(words(part))) {
      const sum = sums.get(word);
      if (!sum) {
        sums.set(word, { ...part, label: word, nodes: [...part.nodes] });
        continue;
      }
      sum.count += part.count;
      sum.self += part.self;
      sum.nodes.push(...part.nodes);
      if (sum.kind !== part.kind) sum.kind = "";
    }
  }
  return [...sums.values()].sort((a, b) => b.self - a.self || a.slice - b.slice);
}

/** The outermost group around the node of an operator. */
function outermost(called: Called, operator: number): string {
  const { graph, operators } = called;
  const node = operators.node(operator);
  let group = node < 0 ? -1 : (graph?.nodeGroup[node] ?? -1);
  while (group >= 0 && graph!.groupParent[group]! >= 0) group = graph!.groupParent[group]!;
  return group < 0 ? "in no group" : called.label(operators.size + group);
}
