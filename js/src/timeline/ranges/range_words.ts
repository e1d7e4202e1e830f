import { counted, duration, integer, percent } from "../../shared/format.ts";
import { exactly } from "../data/exact.ts";
import { besides, type Gap, type GapStanding, lengthOf } from "../data/gaps.ts";
import type { Slices } from "../data/slices.ts";
import { timeText } from "../data/ticks.ts";
import type { Fact, SliceDescriptions } from "../descriptions.ts";
import type { Area } from "../sums/aggregate.ts";
import type { Measure } from "../tracks/measure.ts";
import type { Edge } from "../tracks/snap.ts";

/** Ranges, measures and gaps in words. */
export class RangeWords {
  readonly #slices: Slices;
  readonly #words: SliceDescriptions;

  constructor(slices: Slices, words: SliceDescriptions) {
    this.#slices = slices;
    this.#words = words;
  }

  ofArea({ range, count, instants, sum, whole, tracks }: Area): Fact[] {
    const span = range[1] - range[0];
    const facts: Fact[] = [
      ["range", `${exactly(span)}, ${this.#between(range)}`],
      ["overlaps", this.#touching(count, instants)],
      ["Σ self time", `${exactly(sum)}, ${this.#against(sum, span, tracks.length)}`],
    ];
    if (whole.count) {
      const { min, mean, p50, p90, max } = whole;
      const said = Object.entries({ min, mean, p50, p90, max });
      const five = said.map(([name, ns]) => `${name} ${Number.isNaN(ns) ? "…" : duration(ns)}`);
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

  /** A sum is no time that passed on a clock. */
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

  areaSentence(found: Area): string {
    return this.ofArea(found)
      .map((fact) => fact.join(": "))
      .join("; ");
  }

  ofGap(gap: Gap, { rank, count, sum }: GapStanding): Fact[] {
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

  ofMeasure({ first, second, range, open }: Measure): Fact[] {
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
