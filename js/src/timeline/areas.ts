import { TRUST_LABELS } from "../shared/client/answers.ts";
import { AREA_BY } from "../shared/client/timeline_columns.ts";
import { counted, duration, exactNs, integer, percent } from "../shared/format.ts";
import { append } from "../shared/many.ts";
import {
  type Area,
  type SliceSums,
  selfInside,
  summing,
  type TimeRange,
} from "./data/aggregate.ts";
import { NO_WORK } from "./data/frames.ts";
import { type KeyNames, type KeyOf, NO_GROUP } from "./data/key_names.ts";
import { type Names, timeText } from "./data/names.ts";
import { besides, type Gap, type GapStanding, lengthOf } from "./data/neighbors.ts";
import type { Row } from "./data/row.ts";
import type { Slices } from "./data/slices.ts";
import type { SliceDescriptions, SliceFact } from "./descriptions.ts";
import type { Edge, Measure } from "./tracks/measure.ts";

/** Nanoseconds below which all digits are shown. */
const SHORT = 10_000;

/** An exact time with a readable one: `2,571,033 ns ≈ 2.571 ms`. */
export function exactly(ns: number): string {
  if (!Number.isFinite(ns)) return "unknown";
  const all = digits(ns);
  if (Math.abs(ns) < SHORT) return all;
  const sign = Number(ns.toPrecision(4)) === ns ? "=" : "≈";
  return `${all} ${sign} ${duration(ns)}`;
}

/** As many digits as a source prints; ≈ if the time has more. */
export function digits(ns: number): string {
  const text = exactNs(ns);
  const isAll = Number(text.replace(/,| ns/g, "")) === ns;
  return `${isAll ? "" : "≈ "}${text}`;
}

/** Groupings of a range's time: a page asks for callers elsewhere, and has tracks. */
export const RANGE_BY = [...AREA_BY.filter((by) => by !== "callers"), "track"] as const;
export type RangeBy = (typeof RANGE_BY)[number];

export interface AreaPart {
  label: string;
  /** Op kind; "" for several. */
  kind: string;
  operator?: number;
  nodes: number[];
  slice: number;
  count: number;
  self: number;
}

/** Time of a range by one grouping, the largest first; with pauses. */
export function* areaBy(
  by: RangeBy,
  slices: Slices,
  called: KeyNames,
  range: TimeRange,
  rows: readonly Row[],
): Generator<void, AreaPart[]> {
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

function plain(label: string): Pick<AreaPart, "label" | "kind" | "nodes"> {
  return { label, kind: "", nodes: [] };
}

function parts(
  sums: SliceSums,
  tell: (key: number) => Pick<AreaPart, "label" | "kind" | "nodes" | "operator">,
): AreaPart[] {
  const parts: AreaPart[] = [];
  sums.count.forEach((count, key) => {
    if (!count) return;
    parts.push({ ...tell(key), slice: sums.slice[key]!, count, self: sums.self[key]! });
  });
  return parts.sort((a, b) => b.self - a.self || a.slice - b.slice);
}

/** Sums by key; a slice with several keys counts for all of them. */
function together<Key extends string | number>(
  single: readonly AreaPart[],
  keys: (part: AreaPart) => readonly Key[],
): (AreaPart & { key: Key })[] {
  const sums = new Map<Key, AreaPart & { key: Key }>();
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

/** Lines between two pauses. */
const PART = 4096;

const HEAD = [
  "slice",
  "name",
  "label",
  "node",
  "occurrence",
  "kind",
  "track",
  "depth",
  "start_ns",
  "duration_ns",
  "self_ns",
  "self_in_range_ns",
  "trust",
];

/** Slices that touch a range as comma-separated values, in parts; `slice` is the index in `run.timeline`. */
export function* csvParts(
  slices: Slices,
  names: Names,
  range: TimeRange,
  rows: readonly Row[],
): Generator<string> {
  let lines = [HEAD.join(",")];
  for (const row of rows) {
    const [first, last] = row.range(...range);
    const track = quoted(slices.tracks[row.track]!.name);
    for (let slice = first; slice < last; slice++) {
      const node = slices.nodeOf(slice);
      lines.push(
        [
          slices.sourceOf(slice),
          quoted(slices.nameOf(slice)),
          quoted(names.ofNode(node)),
          node < 0 ? "" : node,
          node < 0 ? "" : slices.occurrenceOf(slice),
          quoted(node < 0 ? names.nameKind(slices.nameCodeOf(slice)) : names.opKind(node)),
          track,
          row.depth,
          slices.startOf(slice),
          slices.durationOf(slice),
          slices.selfOf(slice),
          selfInside(slices, slice, range),
          node < 0 ? "" : (TRUST_LABELS[slices.trustOf(slice)] ?? ""),
        ].join(","),
      );
      if (lines.length < PART) continue;
      yield `${lines.join("\r\n")}\r\n`;
      lines = [];
    }
  }
  if (lines.length) yield `${lines.join("\r\n")}\r\n`;
}

/** A text cell; an apostrophe keeps spreadsheets from reading it as a formula. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Ranges, measures and gaps in words. */
export class RangeWords {
  readonly #slices: Slices;
  readonly #words: SliceDescriptions;

  constructor(slices: Slices, words: SliceDescriptions) {
    this.#slices = slices;
    this.#words = words;
  }

  ofArea({ range, count, instants, sum, whole, tracks }: Area): SliceFact[] {
    const span = range[1] - range[0];
    const facts: SliceFact[] = [
      ["range", `${exactly(span)}, ${this.#between(range)}`],
      ["overlaps", this.#touching(count, instants)],
      ["Σ self time", `${exactly(sum)}, ${this.#against(sum, span, tracks.length)}`],
    ];
    if (whole.count) {
      const { min, mean, p50, p90, max } = whole;
      const entries = Object.entries({ min, mean, p50, p90, max });
      const five = entries.map(([name, ns]) => `${name} ${Number.isNaN(ns) ? "…" : duration(ns)}`);
      const those = `of the ${counted(whole.count, "slice")} entirely inside`;
      facts.push(["durations", `${five.join(", ")} ${those}`]);
    }
    for (const { track, busy, gaps, longestGap, idle } of tracks) {
      const known = busy + idle;
      if (!known) continue;
      const longest = gaps > 1 ? `, longest ${duration(longestGap)}` : "";
      const idly = gaps ? ` of ${duration(idle)}${longest}` : "";
      const { name } = this.#slices.tracks[track]!;
      facts.push([name, `busy ${percent(busy / known)}, ${counted(gaps, "gap")}${idly}`]);
    }
    return facts;
  }

  #touching(count: number, instants: number): string {
    const some = counted(count - instants, "slice");
    const none = instants ? ` and ${integer(instants)} ${this.#slices.noTime}` : "";
    const inner = this.#slices.nested ? ", some nested" : "";
    return `${some}${none}${inner}`;
  }

  #against(sum: number, span: number, tracks: number): string {
    const share = `${percent(sum / span)} of the range`;
    if (tracks > 1) return `${share}: ${counted(tracks, "track")} side by side, not wall time`;
    if (this.#slices.columns.info.synthetic) return `${share}; not model latency`;
    return sum === span ? share : `${share}; not wall time`;
  }

  #between([from, to]: readonly [number, number]): string {
    const edge = (ns: number) => timeText(ns, (to - from) / 1000, to);
    return `${edge(from)} – ${edge(to)}`;
  }

  areaSentence(area: Area): string {
    return this.ofArea(area)
      .map((fact) => fact.join(": "))
      .join("; ");
  }

  ofGap(gap: Gap, { rank, count, sum }: GapStanding): SliceFact[] {
    const { name } = this.#slices.tracks[gap.track]!;
    const [before, after] = besides(this.#slices, gap);
    return [
      ["idle", exactly(lengthOf(gap))],
      ["track", `${name}, ${this.#between([gap.from, gap.to])}`],
      ["before it", before < 0 ? "nothing: start of the timeline" : this.#words.title(before)],
      ["after it", after < 0 ? "nothing: end of the timeline" : this.#words.title(after)],
      ["length", `rank ${integer(rank)} of ${counted(count, "gap")}, together ${duration(sum)}`],
    ];
  }

  gapSentence(gap: Gap, standing: GapStanding): string {
    const [idle, ...others] = this.ofGap(gap, standing);
    return `Gap: ${idle!.join(" ")}; ${others.map((fact) => fact.join(": ")).join("; ")}`;
  }

  ofMeasure({ first, second, range, open }: Measure): SliceFact[] {
    if (!first || !second || !range) return [["from", "click an edge, or press → or ←"]];
    return [
      ["from", this.edge(first)],
      ["to", this.edge(second)],
      ["between", exactly(range[1] - range[0])],
      ...(open ? [["then", "click or Enter sets the second mark"] as const] : []),
    ];
  }

  measureSentence(measure: Measure): string {
    const facts = this.ofMeasure(measure).map((fact) => fact.join(" "));
    return `Measure: ${facts.join("; ")}`;
  }

  /** `start of #66 dense + add at 34.75 ms`. */
  edge({ ns, slice, end }: Edge): string {
    const at = exactly(ns);
    return slice < 0 ? at : `${end} of ${this.#words.title(slice)} at ${at}`;
  }
}
