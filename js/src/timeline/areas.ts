import { TRUST_LABELS } from "../shared/client/answers.ts";
import {
  AREA_BY,
  type AreaInfo,
  RowKind,
  type TrackArea,
} from "../shared/client/timeline_columns.ts";
import { counted, duration, exactNs, integer, percent } from "../shared/format.ts";
import { type Names, rangeText } from "./data/names.ts";
import { besides, type Gap, type GapStanding, lengthOf } from "./data/neighbors.ts";
import type { Row } from "./data/row.ts";
import type { Slices } from "./data/slices.ts";
import type { TimeRange } from "./data/state.ts";
import type { SliceDescriptions, SliceFact } from "./descriptions.ts";
import type { Edge, Measure } from "./tracks/measure.ts";

/** Nanoseconds below which all digits are shown. */
const SHORT = 10_000;

/** A readable time with an exact one: `2.571 ms (2,571,033 ns)`. */
export function exactly(ns: number): string {
  if (!Number.isFinite(ns)) return "unknown";
  return Math.abs(ns) < SHORT ? digits(ns) : `${duration(ns)} (${integer(ns)} ns)`;
}

/** As many digits as a source prints; ≈ if the time has more. */
export function digits(ns: number): string {
  const text = exactNs(ns);
  const isAll = Number(text.replace(/,| ns/g, "")) === ns;
  return `${isAll ? "" : "≈ "}${text}`;
}

/** Groupings of a range's time. */
export const RANGE_BY = [...AREA_BY.filter((by) => by !== "callers"), "track"] as const;
export type RangeBy = (typeof RANGE_BY)[number];

/** A range of time with what is known of it: sums only after Python has answered. */
export interface Area extends Partial<Pick<AreaInfo, "sum" | "whole">> {
  range: TimeRange;
  count: number;
  instants: number;
  tracks: (Pick<TrackArea, "track" | "busy" | "idle"> & Partial<TrackArea>)[];
}

/** What the level of detail tells of a range under the hand: slices that touch it, and busy time. */
export function areaPreview(slices: Slices, range: TimeRange, rows: readonly Row[]): Area {
  let [count, instants] = [0, 0];
  for (const row of rows) {
    const [first, last] = row.range(...range);
    count += last - first;
    if (row.kind === RowKind.INSTANT) instants += last - first;
  }
  const numbers = slices.columns.info.synthetic ? [] : new Set(rows.map(({ track }) => track));
  const tracks = Array.from(numbers, (track) => {
    const known = slices.tracks[track]!.known(...range);
    const busy = slices.tracks[track]!.busy(...known);
    return { track, busy, idle: Math.max(0, known[1] - known[0]) - busy };
  });
  return { range, count, instants, tracks };
}

/** Lines between two pauses. */
const PART = 4096;

const HEAD =
  "slice,name,label,node,occurrence,kind,track,depth,start_ns,duration_ns,self_ns,self_in_range_ns,trust";

/**
 * Slices that touch a range as comma-separated values, in parts; `slice` is the index in `run.timeline`, `cut` the self
 * time in the range of slices that its ends cut.
 */
export function* csvParts(
  slices: Slices,
  names: Names,
  range: TimeRange,
  rows: readonly Row[],
  cut: ReadonlyMap<number, number>,
): Generator<string> {
  let lines = [HEAD];
  for (const row of rows) {
    const [first, last] = row.range(...range);
    const track = quoted(slices.tracks[row.track]!.name);
    for (let slice = first; slice < last; slice++) {
      const node = slices.nodeOf(slice);
      const isInside = slices.startOf(slice) >= range[0] && slices.endOf(slice) <= range[1];
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
          isInside ? slices.selfOf(slice) : (cut.get(slice) ?? ""),
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
      ["range", `${exactly(span)}, ${rangeText(range)}`],
      ["overlaps", this.#touching(count, instants)],
    ];
    if (sum !== undefined) {
      facts.push(["Σ self time", `${exactly(sum)}, ${this.#against(sum, span, tracks.length)}`]);
    }
    if (whole?.count) {
      const { min, mean, p50, p90, max } = whole;
      const entries = Object.entries({ min, mean, p50, p90, max });
      const five = entries.map(([name, ns]) => `${name} ${duration(ns!)}`);
      const those = `of the ${counted(whole.count, "slice")} entirely inside`;
      facts.push(["durations", `${five.join(", ")} ${those}`]);
    }
    for (const { track, busy, gaps, longestGap, idle } of tracks) {
      const known = busy + idle;
      if (!known) continue;
      const longest = gaps && gaps > 1 ? `, longest ${duration(longestGap!)}` : "";
      const idly = gaps ? ` of ${duration(idle)}${longest}` : "";
      const { name } = this.#slices.tracks[track]!;
      const all = gaps === undefined ? "" : `, ${counted(gaps, "gap")}${idly}`;
      facts.push([name, `busy ${percent(busy / known)}${all}`]);
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
    if (tracks > 1) return `over ${counted(tracks, "track")} side by side, not wall time`;
    const share = `${percent(sum / span)} of the range`;
    if (this.#slices.columns.info.synthetic) return `${share}; not model latency`;
    return sum === span ? share : `${share}; not wall time`;
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
      ["track", `${name}, ${rangeText([gap.from, gap.to])}`],
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
