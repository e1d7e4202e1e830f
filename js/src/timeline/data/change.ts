import type { ChangeColumns, ChangeRows } from "../../shared/client/answers.ts";
import {
  channels,
  divergingStops,
  kindFill,
  ramp,
  type Theme,
} from "../../shared/drawing/theme.ts";
import { duration, speed } from "../../shared/format.ts";

/** Verdicts by number, as in `compare_times/verdicts.py`. */
export const Verdict = {
  SLOWER: 0,
  FASTER: 1,
  NOISE: 2,
  UNKNOWN: 3,
  ONLY_A: 4,
  ONLY_B: 5,
} as const;
const SIGNS = ["▲", "▼", "≈", "?", "−", "+"];
const NO_MATCH = 255;
/** Number of ids in a text; the others are counted. */
const IDS = 4;

export type ChangeOrder = "change" | "order";

export class Change {
  colored = false;
  /** The largest difference that has a color, nanoseconds. */
  readonly most: number;
  readonly byNode: ChangeRows;
  readonly byKind: ChangeRows;
  readonly #rowOfNode = new Map<number, number>();
  readonly #rowOfSlice = new Map<number, number>();
  readonly #named = new Map<string, number>();

  constructor(readonly columns: ChangeColumns) {
    this.byNode = columns;
    this.byKind = {
      label: columns.kindLabel,
      nsA: columns.kindNsA,
      nsB: columns.kindNsB,
      p: columns.kindP,
      q: columns.kindQ,
      shift: columns.kindShift,
      low: columns.kindLow,
      high: columns.kindHigh,
      verdict: columns.kindVerdict,
      shown: columns.kindShown,
      why: columns.kindWhy,
    };
    let most = 0;
    for (let row = 0; row < this.length; row++) {
      for (const node of this.nodesA(row)) this.#rowOfNode.set(node, row);
      const [first, last] = [columns.bStart[row]!, columns.bStart[row + 1]!];
      for (const slice of columns.bSlices.subarray(first, last)) {
        if (slice >= 0) this.#rowOfSlice.set(slice, row);
      }
      if (columns.shown[row]) most = Math.max(most, Math.abs(this.of(row)) || 0);
    }
    this.most = most;
    columns.sliceNames.codes.forEach((_, at) => {
      this.#named.set(columns.sliceNames.at(at), at);
    });
  }

  get length(): number {
    return this.columns.nsA.length;
  }

  timeText(ns: number, side: 0 | 1): string {
    return duration(ns, this.columns.info.roundings[side]);
  }

  /** B minus A. */
  of(row: number, rows: ChangeRows = this.byNode): number {
    return rows.nsB[row]! - rows.nsA[row]!;
  }

  /** True if the difference is more than noise, as far as known. */
  isSignificant(row: number, rows: ChangeRows = this.byNode): boolean {
    const verdict = rows.verdict[row]!;
    return verdict !== Verdict.NOISE && verdict !== Verdict.UNKNOWN;
  }

  nodesA(row: number): Int32Array {
    const { aStart, aNodes } = this.columns;
    return aNodes.subarray(aStart[row]!, aStart[row + 1]!);
  }

  nodesB(row: number): Int32Array {
    const { bStart, bNodes } = this.columns;
    return bNodes.subarray(bStart[row]!, bStart[row + 1]!);
  }

  /** Row of a node of A; -1 for inputs and parameters. */
  rowOf(node: number): number {
    return this.#rowOfNode.get(node) ?? -1;
  }

  /** Row of a slice of B by its index in the timeline; -1 unless it is the first of its node. */
  rowOfSlice(source: number): number {
    return this.#rowOfSlice.get(source) ?? -1;
  }

  sliceB(row: number): number {
    const { bSlices, bStart } = this.columns;
    return bStart[row] === bStart[row + 1] ? -1 : bSlices[bStart[row]!]!;
  }

  /** Label and op kind of slices of B by their name. */
  named(name: string): readonly [label: string, kind: string] | null {
    const at = this.#named.get(name);
    if (at === undefined) return null;
    const { sliceLabels, sliceKinds } = this.columns;
    return [sliceLabels.at(at) || name, sliceKinds.at(at)];
  }

  repeats(row: number): readonly [a: Float64Array, b: Float64Array] {
    const { repeatsA, repeatsAStart, repeatsB, repeatsBStart } = this.columns;
    return [
      repeatsA.subarray(repeatsAStart[row]!, repeatsAStart[row + 1]!),
      repeatsB.subarray(repeatsBStart[row]!, repeatsBStart[row + 1]!),
    ];
  }

  /** Rows by the size of the difference, or in the run order of A. */
  rows(order: ChangeOrder, verdict: number | null = null): number[] {
    const all = Array.from({ length: this.length }, (_, row) => row);
    const kept = verdict === null ? all : all.filter((row) => this.byNode.verdict[row] === verdict);
    if (order === "change") return kept;
    const { node, bNodes, bStart } = this.columns;
    const place = (row: number) => (node[row]! < 0 ? Number.MAX_SAFE_INTEGER : node[row]!);
    return kept.sort((a, b) => place(a) - place(b) || bNodes[bStart[a]!]! - bNodes[bStart[b]!]!);
  }

  /** Number of rows by verdict, without verdicts that do not occur. */
  counts(): [verdict: number, count: number][] {
    const counts = new Map<number, number>();
    for (const verdict of this.byNode.verdict) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    return [...counts].sort((a, b) => a[0] - b[0]);
  }

  /** Position of a difference between the largest saving (0) and the largest loss (1); null for noise. */
  share(row: number): number | null {
    if (!this.byNode.shown[row] || !(this.most > 0)) return null;
    return 0.5 + this.of(row) / (2 * this.most);
  }

  verdictLabel(verdict: number): string {
    return this.columns.info.verdicts[verdict] ?? "unknown";
  }

  /** `likely`, `possible`; "" for an exact match or none. */
  matchLabel(row: number): string {
    const match = this.columns.match[row]!;
    return match === NO_MATCH || match === 0 ? "" : (this.columns.info.matches[match] ?? "");
  }

  /** Both sides by their ids: `#3 ~ #2, #4, #5`; or by the first and the last: `#3 ~ #2 … #5`. */
  nodesText(row: number, ids = idsText): string {
    const sides = [this.nodesA(row), this.nodesB(row)].filter((nodes) => nodes.length);
    const [a, b] = sides.map((nodes) => ids(nodes));
    return b === undefined || a === b ? a! : `${a} ~ ${b}`;
  }

  sentence(row: number, rows: ChangeRows = this.byNode): string {
    const ids = rows === this.byNode ? ` (${this.nodesText(row)})` : "";
    const times = `${this.timeText(rows.nsA[row]!, 0)} in A, ${this.timeText(rows.nsB[row]!, 1)} in B`;
    const change = `${changeText(this.of(row, rows))} (${ratioText(row, rows)})`;
    const verdict = this.verdictLabel(rows.verdict[row]!);
    return `${rows.label.at(row)}${ids}: ${times}, ${change}, ${verdict}: ${rows.why.at(row)}`;
  }
}

export function verdictSign(verdict: number): string {
  return SIGNS[verdict] ?? "?";
}

/** A difference with its sign: `+1.820 ms`, `−340.0 µs`. */
export function changeText(ns: number): string {
  if (!ns) return duration(ns);
  return `${ns > 0 ? "+" : "−"}${duration(Math.abs(ns))}`;
}

/** Speed of B: `1.21× faster`. */
export function ratioText(row: number, { nsA, nsB }: ChangeRows): string {
  return nsA[row]! > 0 && nsB[row]! > 0 ? speed(nsB[row]! / nsA[row]!) : "–";
}

export function pText(p: number): string {
  if (Number.isNaN(p)) return "–";
  return p < 1e-4 ? "< 0.0001" : String(Number(p.toPrecision(2)));
}

function idsText(nodes: Int32Array): string {
  const ids = Array.from(nodes.subarray(0, IDS), (node) => `#${node}`).join(", ");
  return nodes.length > IDS ? `${ids} … (${nodes.length})` : ids;
}

export function endsText(nodes: Int32Array): string {
  return nodes.length > 2 ? `#${nodes[0]} … #${nodes.at(-1)}` : idsText(nodes);
}

const STEPS = 21;

/** Colors from the largest saving to the largest loss, then the color of noise. */
export function changeFills(theme: Theme): string[] {
  const stops = divergingStops(theme);
  const base = channels(kindFill(theme, "other"));
  const towards = channels(theme.background);
  const noise = base.map((value, i) => Math.round(value + (towards[i]! - value) * 0.6));
  return [
    ...Array.from({ length: STEPS }, (_, i) => ramp(stops, i / (STEPS - 1))),
    `rgb(${noise.join(", ")})`,
  ];
}

/** Index of a row's color; the last for noise, unknown times and no row. */
export function fillOfChange(change: Change, row: number): number {
  const share = row < 0 ? null : change.share(row);
  return share === null ? STEPS : Math.round(share * (STEPS - 1));
}
