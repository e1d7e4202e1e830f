import { duration, integer } from "../shared/format.ts";
import { TRUST_LABELS } from "../shared/run_client.ts";
import type { Area } from "./area.ts";
import type { Names } from "./names.ts";
import type { Ranking } from "./ranking.ts";
import type { Slices } from "./slices.ts";

export const NOISY_RULE = "noisy: 5 repeats or more and p90 / p10 above 1.2";
export const NO_REPEATS =
  "No repeats are known, only the mean. To see how it varies, keep the table that run() prints " +
  "(its Measurements column) beside the trace, and measure more with repeat=.";
export const SYNTHETIC =
  "synthetic: nodes laid end to end from mean times; the sum of nodes is not the latency";
export const WALL = "start and end times as recorded; what is empty was idle or not recorded";

/** A share to two decimals below 10 %. */
export function shareText(share: number): string {
  if (!Number.isFinite(share)) return "unknown";
  const value = 100 * share;
  if (value === 0) return "0 %";
  if (value < 0.01) return "< 0.01 %";
  return `${value.toFixed(value >= 10 ? 1 : 2)} %`;
}

export function counted(count: number, noun: string): string {
  return `${integer(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The facts about slices, in words. */
export class Words {
  readonly #slices: Slices;
  readonly #names: Names;
  readonly #ranking: Ranking;

  constructor(slices: Slices, names: Names, ranking: Ranking) {
    this.#slices = slices;
    this.#names = names;
    this.#ranking = ranking;
  }

  /** `#66 dense + add`, or the recorded name where the node is unknown. */
  title(slice: number): string {
    const node = this.#slices.columns.sliceNode[slice]!;
    const name = this.#names.ofSlice(slice);
    return node < 0 ? name : `#${node} ${name}`;
  }

  nodeTitle(node: number): string {
    return `#${node} ${this.#names.ofNode(node)}`.trim();
  }

  /** Rows of name and value about a node's times; empty where they are unknown. */
  ofNode(node: number): [string, string][] {
    const { columns } = this.#slices;
    const ns = columns.nodeNs[node]!;
    if (node < 0 || Number.isNaN(ns)) return [];
    const row = this.#ranking.rowOf(node);
    const facts: [string, string][] = [["mean time", this.#mean(node)]];
    if (row >= 0) {
      facts.push([
        "share",
        `${shareText(this.#ranking.share(row))} of Σ ${duration(this.#ranking.total)}`,
      ]);
      facts.push(["rank", `${row + 1} of ${integer(this.#ranking.length)}`]);
    }
    const spread = this.spread(node);
    if (spread) facts.push(["p10 / p50 / p90", spread]);
    facts.push(["time joined", TRUST_LABELS[columns.nodeTrust[node]!] ?? "unknown"]);
    return facts;
  }

  /** Name, times, share and trust of a slice, one a line. */
  ofSlice(slice: number): [string, string][] {
    const { columns } = this.#slices;
    const node = columns.sliceNode[slice]!;
    const facts: [string, string][] = [
      ["start", duration(columns.sliceStart[slice]!)],
      ["duration", duration(columns.sliceDuration[slice]!)],
    ];
    const occurrences = this.#slices.of(node).length;
    if (occurrences > 1) {
      facts.push([
        "slice",
        `${columns.sliceOccurrence[slice]! + 1} of ${integer(occurrences)} of this node`,
      ]);
    }
    facts.push(...this.ofNode(node));
    const trust = TRUST_LABELS[columns.sliceTrust[slice]!] ?? "unknown";
    facts.push(["slice joined", node < 0 ? "to no node" : trust]);
    return facts;
  }

  /** Percentiles of the repeats; "" without repeats. */
  spread(node: number): string {
    const { columns } = this.#slices;
    if (!columns.nodeCount[node]) return "";
    return [columns.nodeP10, columns.nodeP50, columns.nodeP90]
      .map((column) => duration(column[node]!))
      .join(" / ");
  }

  /** One sentence for the text mirror. */
  sentence(slice: number): string {
    const { columns } = this.#slices;
    const node = columns.sliceNode[slice]!;
    const name = this.#names.ofSlice(slice);
    const row = this.#ranking.rowOf(node);
    const parts = [
      node < 0 ? `Slice ${name}, of no known node` : `Slice of node ${node}, ${name}`,
      `starts ${duration(columns.sliceStart[slice]!)}`,
      `lasts ${duration(columns.sliceDuration[slice]!)}${this.#repeats(node)}`,
    ];
    if (row >= 0) parts.push(...this.#standing(row));
    const track =
      columns.tracks.length > 1 ? `, track ${columns.tracks.at(columns.sliceTrack[slice]!)}` : "";
    return `${parts.join(", ")}; ${columns.info.clock === "wall" ? "recorded" : "synthetic"} timeline${track}`;
  }

  nodeSentence(node: number): string {
    const { columns } = this.#slices;
    const ns = columns.nodeNs[node];
    const row = this.#ranking.rowOf(node);
    const parts = [`Node ${node}, ${this.#names.ofNode(node)}`];
    if (ns === undefined || Number.isNaN(ns)) parts.push("its time is unknown");
    else parts.push(`takes ${duration(ns)}${this.#repeats(node)}`);
    if (row >= 0) parts.push(...this.#standing(row));
    return `${parts.join(", ")}; no slice`;
  }

  areaSentence(found: Area): string {
    const span = found.to - found.from;
    const busy = found.tracks
      .map((track) => {
        const gap = track.gaps ? `, longest ${duration(track.longestGap)}` : "";
        return `${track.name}: busy ${shareText(track.busy / span)}, ${counted(track.gaps, "gap")}${gap}`;
      })
      .join("; ");
    const top = found.top
      ? `; most time: ${this.title(found.top.slice)} with ${duration(found.top.ns)}`
      : "";
    const instants = found.instants ? ` and ${integer(found.instants)} of no duration` : "";
    return (
      `Range of ${duration(span)} from ${duration(found.from)}: ${counted(found.slices, "slice")}${instants}, ` +
      `Σ ${duration(found.sum)}; ${busy}${top}`
    );
  }

  #standing(row: number): string[] {
    return [
      `${shareText(this.#ranking.share(row))} of ${duration(this.#ranking.total)}`,
      `rank ${row + 1} of ${integer(this.#ranking.length)}`,
    ];
  }

  #mean(node: number): string {
    const { columns } = this.#slices;
    const n = columns.nodeCount[node]!;
    return `${duration(columns.nodeNs[node]!)}${n ? ` (mean of ${counted(n, "repeat")})` : ""}`;
  }

  #repeats(node: number): string {
    const { columns } = this.#slices;
    const n = columns.nodeCount[node];
    if (!n) return "";
    const [low, high] = [duration(columns.nodeP10[node]!), duration(columns.nodeP90[node]!)];
    const noisy = columns.nodeNoisy[node] ? ", noisy" : "";
    return ` (mean of ${counted(n, "repeat")}, p10 … p90 ${low} … ${high}${noisy})`;
  }
}
