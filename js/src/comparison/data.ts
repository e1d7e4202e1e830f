import type { GivenColumns } from "../graph/data/coloring.ts";
import type { ColumnsReply } from "../shared/client/answers.ts";
import type { Columns } from "../shared/client/wire.ts";
import { integer } from "../shared/format.ts";
import { addTo, largest } from "../shared/many.ts";

/** Pairs of nodes (P) and groups (G) of differences; see `comparison_answer` in `widgets/comparison.py`. */
export type ComparisonColumns = Columns<"comparison">;

export interface Info {
  titles: [a: string, b: string];
  sentence: string;
  /** Number of matched nodes, by certainty. */
  matched: string;
  kinds: string[];
  certainties: string[];
  reasons: string[];
  /** Omissions of the ratios and differences of times, for both graphs; empty without times. */
  speedNotes: string[];
  changeNotes: string[];
  speedRange: [number, number] | null;
}

/** Replies of a comparison, as they travel; see `RunAnswers`. */
export interface ComparisonAnswers {
  /** In the first buffer. */
  code: null;
  comparison: ColumnsReply<Info>;
}

export interface ComparisonReplies {
  comparison: ComparisonColumns & { info: Info };
}

export const SPEED = "speed";
export const CHANGE = "time change";

/** 0 is the left one, 1 the right one. */
export type Side = 0 | 1;

export const OTHER: Readonly<Record<Side, Side>> = { 0: 1, 1: 0 };
export const LETTER: Readonly<Record<Side, string>> = { 0: "A", 1: "B" };

export class ComparisonData {
  readonly columns: ComparisonColumns;
  readonly info: Info;
  readonly #rows: [Map<number, number[]>, Map<number, number[]>] = [new Map(), new Map()];

  constructor(reply: ComparisonReplies["comparison"]) {
    this.columns = reply;
    this.info = reply.info;
    const { pairA, pairB } = this.columns;
    for (let row = 0; row < pairA.length; row++) {
      addTo(this.#rows[0], pairA[row]!, row);
      addTo(this.#rows[1], pairB[row]!, row);
    }
  }

  matches(side: Side, node: number): { node: number; certainty: number; reason: number }[] {
    const { pairA, pairB, certainty, reason } = this.columns;
    const others = side === 0 ? pairB : pairA;
    return (this.#rows[side].get(node) ?? []).map((row) => ({
      node: others[row]!,
      certainty: certainty[row]!,
      reason: reason[row]!,
    }));
  }

  partner(side: Side, node: number): number | null {
    const others = this.matches(side, node).map((match) => match.node);
    return others.length ? largest(others) : null;
  }

  /** All matching nodes on the other side, the one to select last. */
  parts(side: Side, node: number, last: number): number[] {
    const others = this.matches(side, node).map((match) => match.node);
    return [...others.filter((other) => other !== last), last];
  }

  /** Certainty of the nodes' matches, and a code for unmatched ones. */
  codes(side: Side): Int32Array {
    const { pairA, pairB, certainty, labelA, labelB } = this.columns;
    const alone = this.info.certainties.length;
    const codes = new Int32Array((side === 0 ? labelA : labelB).length).fill(alone);
    const nodes = side === 0 ? pairA : pairB;
    for (let row = 0; row < nodes.length; row++) {
      const node = nodes[row]!;
      const known = codes[node]!;
      codes[node] = known === alone ? certainty[row]! : Math.max(known, certainty[row]!);
    }
    return codes;
  }

  /** Slowdown of nodes in B as a binary logarithm, and the times of A and B behind the sums. */
  speed(side: Side): { ratio: Float64Array; terms: [a: Float64Array, b: Float64Array] } | null {
    const { speedA, speedB, beforeA, beforeB, afterA, afterB } = this.columns;
    if (!speedA || !speedB) return null;
    return side === 0
      ? { ratio: speedA, terms: [beforeA!, afterA!] }
      : { ratio: speedB, terms: [beforeB!, afterB!] };
  }

  label(side: Side, node: number): string {
    return (side === 0 ? this.columns.labelA : this.columns.labelB).at(node);
  }

  shape(side: Side, node: number): string {
    return (side === 0 ? this.columns.shapeA : this.columns.shapeB).at(node);
  }

  /** Slowdown of nodes in B in nanoseconds, and the limits of the colors of both graphs. */
  change(side: Side): { values: Float64Array; most: number; note: string } | null {
    const { changeA, changeB } = this.columns;
    if (!changeA || !changeB) return null;
    let most = 0;
    for (const values of [changeA, changeB]) {
      for (const value of values) most = Math.max(most, Math.abs(value) || 0);
    }
    const note = this.info.changeNotes[side] ?? "";
    return { values: side === 0 ? changeA : changeB, most, note };
  }

  /** Node that a comparison opens on: that of the first difference, which is the largest of times; or -1. */
  answer(side: Side): number {
    const { groupStart, memberA, memberB } = this.columns;
    if (groupStart.length < 2) return -1;
    return (side === 0 ? memberA : memberB)[groupStart[0]!] ?? -1;
  }

  counts(): Int32Array {
    const { groupKind, groupStart } = this.columns;
    const counts = new Int32Array(this.info.kinds.length);
    for (let group = 0; group < groupKind.length; group++) {
      counts[groupKind[group]!]! += groupStart[group + 1]! - groupStart[group]!;
    }
    return counts;
  }

  sentence(side: Side, node: number): string {
    const here = `${LETTER[side]} #${node} ${this.label(side, node)}`;
    const matches = this.matches(side, node);
    const first = matches[0];
    if (!first) return `${here} has no match in ${LETTER[OTHER[side]]}`;
    const others = matches.slice(0, SHOWN).map((match) => `#${match.node}`);
    const more = matches.length > SHOWN ? ` and ${integer(matches.length - SHOWN)} more` : "";
    const { certainties, reasons } = this.info;
    const sure = certainties[largest(matches.map((match) => match.certainty))];
    return `${here} ~ ${LETTER[OTHER[side]]} ${others.join(", ")}${more}: ${sure}, ${reasons[first.reason]}`;
  }
}

const SHOWN = 6;
/** Letters of a name that is shown as it is. */
const SHORT = 20;

/** Names of both runs; what long ones begin with alike is left out where they go on: `…_fp16_overflow`. */
export function namesApart(names: readonly [string, string]): string[] {
  const [a, b] = names;
  let alike = 0;
  while (alike < a.length && a[alike] === b[alike]) alike++;
  const isInWord = (name: string) => /[^\W_]{2}/.test(name.slice(alike - 1, alike + 1));
  while (alike && names.some(isInWord)) alike--;
  return names.map((name) =>
    name.length > SHORT && alike > 1 && alike < name.length ? `…${name.slice(alike)}` : name,
  );
}

/** Certainties up to here, then unmatched nodes: in both themes their colors are farthest apart. */
const SURE = 1;
export const ALONE = "unmatched";

const OF_NODES = { of: "nodes", scale: "diverging" } as const;

/** Columns by which a side's nodes can be colored. */
export function colorColumns(data: ComparisonData, side: Side): GivenColumns {
  const { certainties, speedRange, speedNotes } = data.info;
  const classes = [...certainties.slice(0, SURE + 1), ALONE, ...certainties.slice(SURE + 1)];
  const codes = data.codes(side).map((code) => classes.indexOf(certainties[code] ?? ALONE));
  const [change, speed] = [data.change(side), data.speed(side)];
  const hatched = classes.indexOf(ALONE);
  return {
    ...(speed && {
      [SPEED]: {
        ...OF_NODES,
        name: SPEED,
        unit: "×",
        range: speedRange,
        note: speedNotes[side] ?? "",
        together: "ratio",
        values: speed.ratio,
        terms: speed.terms,
      },
    }),
    match: { of: "nodes", name: "match", classes, ordered: true, hatched, codes },
    ...(change && {
      [CHANGE]: {
        ...OF_NODES,
        name: CHANGE,
        unit: "ns",
        range: change.most > 0 ? [-change.most, change.most] : null,
        together: "sum",
        note: change.note,
        values: change.values,
      },
    }),
  };
}
