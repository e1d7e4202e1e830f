import { AREA_BY } from "../../shared/client/timeline_columns.ts";
import { append } from "../../shared/many.ts";
import type { Row, Slices } from "../data/slices.ts";
import { type Range, type Sums, summing } from "./aggregate.ts";
import { type Called, type KeyOf, NO_GROUP } from "./called.ts";
import { NO_WORK } from "./frames.ts";

/** What the time of a range is shared out to: a page asks for callers elsewhere, and has tracks. */
export const RANGE_BY = [...AREA_BY.filter((by) => by !== "callers"), "track"] as const;
export type RangeBy = (typeof RANGE_BY)[number];

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
  by: RangeBy,
  slices: Slices,
  called: Called,
  range: Range,
  rows: readonly Row[],
): Generator<void, Part[]> {
  const summed = (size: number, key: KeyOf) => summing(slices, range, size, called.ran(key), rows);
  if (by === "track") {
    const sums = yield* summed(slices.tracks.length, (_, row) => row.track);
    return parts(sums, (track) => plain(slices.tracks[track]!.name));
  }
  if (by === "device") {
    const { devices } = called;
    const words = [...devices.words, ...NO_WORK];
    const sums = yield* summed(words.length, (slice, row) => {
      const role = slices.roleOf(slice);
      return role > 0
        ? devices.words.length + role - 1
        : devices.of(slices.nodeOf(slice), row.track);
    });
    return parts(sums, (device) => plain(words[device]!));
  }
  if (by === "name") {
    const sums = yield* summed(slices.names.length, (slice) => slices.nameCodeOf(slice));
    return parts(sums, (code) => plain(slices.nameLabel(code)));
  }
  const { operators } = called;
  const sums = yield* summed(operators.size, (slice) => operators.of(slice));
  const single = parts(sums, (operator) => ({
    operator,
    label: called.title(operator),
    kind: called.kind(operator),
    nodes: called.nodes(operator),
  }));
  if (by === "kind") return together(single, ({ kind }) => [kind]);
  if (by === "part") return together(single, ({ operator }) => called.parts(operator!));
  if (by === "module") return together(single, ({ operator }) => [called.module(operator!)]);
  if (by === "group") {
    const groups = together(single, ({ operator }) => [
      operators.noWork(operator!) || called.outermost(operator!),
    ]);
    const title = (group: string | number) => {
      if (typeof group === "string") return group;
      return group < 0 ? NO_GROUP : called.label(operators.size + group);
    };
    return groups.map((part) => ({ ...part, label: title(part.key) }));
  }
  return single;
}

function plain(label: string): Pick<Part, "label" | "kind" | "nodes"> {
  return { label, kind: "", nodes: [] };
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

/** Those of one key together; what has several counts to each. */
function together<Key extends string | number>(
  single: readonly Part[],
  keys: (part: Part) => readonly Key[],
): (Part & { key: Key })[] {
  const sums = new Map<Key, Part & { key: Key }>();
  for (const part of single) {
    for (const key of keys(part)) {
      const sum = sums.get(key);
      if (!sum) {
        sums.set(key, { ...part, key, label: `${key}`, nodes: [...part.nodes] });
        continue;
      }
      sum.count += part.count;
      sum.self += part.self;
      append(sum.nodes, part.nodes);
      if (sum.kind !== part.kind) sum.kind = "";
    }
  }
  for (const sum of sums.values()) sum.nodes = [...new Set(sum.nodes)];
  return [...sums.values()].sort((a, b) => b.self - a.self || a.slice - b.slice);
}
