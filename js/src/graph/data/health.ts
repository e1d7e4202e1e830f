import {
  Fault,
  faultsOf,
  firstFault,
  nextSuspicious,
  opensOn,
  severity,
  VERDICT_LABELS,
  Verdict,
  verdictCounts,
} from "../../shared/client/health.ts";
import type { HealthAnswer } from "../../shared/client/tensor_questions.ts";
import { addTo } from "../../shared/many.ts";
import { foldedInto, type GraphScene, membersOf } from "../layout/scene.ts";

/** Code of nodes without values in the dump; smaller codes are those of `Verdict`. */
export const NO_VALUES = VERDICT_LABELS.length;
const LABELS = [...VERDICT_LABELS, "no values"];
/** Signs beside the colors. */
const SIGNS = ["", "", "!", "✕", "?", ""];
const NO_VALUES_SEVERITY = 1.5;
/** Words for the badge of a warning, and by fault for badge and border. */
export const MARKS = ["first warning", "fault begins here", "fault spread here"] as const;

export function verdictLabel(verdict: number): string {
  return LABELS[verdict] ?? "";
}

export function verdictSign(verdict: number): string {
  return SIGNS[verdict] ?? "";
}

export function weight(verdict: number): number {
  return verdict === NO_VALUES ? NO_VALUES_SEVERITY : severity(verdict);
}

export function isUnknown(verdict: number): boolean {
  return verdict === Verdict.UNKNOWN || verdict === NO_VALUES;
}

/** Number of nodes by verdict, the worst first. */
export function countsByWeight(verdicts: Uint8Array): [verdict: number, count: number][] {
  return verdictCounts(verdicts).sort(([a], [b]) => weight(b) - weight(a));
}

/** Health of the nodes: that of their worst outputs. */
export class NodeHealth {
  readonly verdict: Uint8Array;
  /** The most suspicious node, or -1. */
  readonly worst: number;
  readonly fault: Uint8Array;
  /** Node of the first fault, or -1. */
  readonly origin: number;
  /** Node that the findings name first, or -1; and that node if it has no fault. */
  readonly opens: number;
  readonly warned: number;
  /** Row of the most suspicious output by node; -1 if the dump has none. */
  readonly #row: Int32Array;
  readonly #rows = new Map<number, number[]>();

  constructor(
    readonly answer: HealthAnswer,
    nodes: number,
  ) {
    this.verdict = new Uint8Array(nodes).fill(NO_VALUES);
    this.#row = new Int32Array(nodes).fill(-1);
    const first = nextSuspicious(answer, -1);
    this.worst = first < 0 ? -1 : answer.node[first]!;
    this.fault = faultsOf(answer, nodes);
    this.origin = answer.node[firstFault(answer)] ?? -1;
    this.opens = opensOn(answer)?.[0] ?? -1;
    this.warned = this.fault[this.opens] === Fault.NONE ? this.opens : -1;
    for (const [row, node] of answer.node.entries()) {
      if (node >= nodes) continue;
      addTo(this.#rows, node, row);
      const here = this.#row[node]!;
      const worse = severity(answer.verdict[row]!) - severity(answer.verdict[here] ?? 0);
      if (here >= 0 && (worse < 0 || (worse === 0 && answer.rank[row]! > answer.rank[here]!))) {
        continue;
      }
      this.#row[node] = row;
      this.verdict[node] = answer.verdict[row]!;
    }
  }

  /** Marks that nodes have, as places in `MARKS`. */
  get marks(): number[] {
    return [...MARKS.keys()].filter((mark) =>
      mark ? this.fault.includes(mark) : this.warned >= 0,
    );
  }

  /** Two or three words: `59 Inf`, `OK`. */
  brief(node: number): string {
    return this.answer.brief[this.#row[node]!] || verdictLabel(this.verdict[node]!);
  }

  lines(node: number): string[] {
    const { verdict, words, output } = this.answer;
    const rows = this.#rows.get(node) ?? [];
    const listed = rows.filter((row) => words[row]);
    if (listed.length === 0) return [verdictLabel(this.verdict[node]!)];
    return listed.map((row) => {
      const where = rows.length > 1 ? `output ${output[row]} ` : "";
      return `${where}${verdictLabel(verdict[row]!)}: ${words[row]}`;
    });
  }

  next(verdict: number, after: number): number {
    const next = this.verdict.indexOf(verdict, after + 1);
    return next >= 0 ? next : this.verdict.indexOf(verdict);
  }
}

export class BoxHealth {
  readonly fault: Uint8Array;
  /** Box of the node with a warning, or -1. */
  readonly warned: number = -1;
  readonly #scene: GraphScene;
  readonly #node: Int32Array;

  constructor(
    readonly nodes: NodeHealth,
    scene: GraphScene,
  ) {
    this.#scene = scene;
    this.#node = Int32Array.from(scene.node);
    this.fault = new Uint8Array(scene.count);
    for (let box = 0; box < scene.count; box++) {
      const folded = foldedInto(scene, box);
      for (const held of [membersOf(scene, box), folded]) {
        for (const inside of held) {
          const fault = nodes.fault[inside]!;
          if (inside === nodes.warned) this.warned = box;
          if (fault === Fault.ORIGIN || this.fault[box] === Fault.NONE) this.fault[box] = fault;
          const [here, there] = [this.verdict(box), nodes.verdict[inside]!];
          const isLess = here === NO_VALUES && there !== NO_VALUES && held !== folded;
          if (isLess || weight(there) > Math.max(weight(here), NO_VALUES_SEVERITY)) {
            this.#node[box] = inside;
          }
        }
      }
    }
  }

  verdict(box: number): number {
    return this.nodes.verdict[this.#node[box]!]!;
  }

  weight(box: number): number {
    return weight(this.verdict(box));
  }

  /** Two or three words: `59 Inf`, `4 NaN in #37`. */
  brief(box: number): string {
    const code = this.#node[box]!;
    const isOwn = code === this.#scene.node[box] || this.weight(box) < NO_VALUES_SEVERITY;
    return `${this.nodes.brief(code)}${isOwn ? "" : ` in #${code}`}`;
  }
}
