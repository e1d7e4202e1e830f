import { bytes, counted, entryText, integer } from "../shared/format.ts";
import { nodeLabel, nodeTitle } from "../shared/node_title.ts";
import type { Plan } from "./plan.ts";

export type Fact = readonly [name: string, text: string];

const LISTED = 8;
/** Letters of a name that are shown; a file may hold names of any length. */
const LONGEST = 200;

/** Bytes without the exact count: `64.0 KiB`. */
export function short(count: number): string {
  return bytes(count).replace(/ \(.*/, "");
}

/** What the view says, in the words of `analysis/memory_words.py`. */
export class Words {
  readonly #plan: Plan;
  readonly #note: (node: number) => string;

  constructor(plan: Plan, note: (node: number) => string) {
    this.#plan = plan;
    this.#note = note;
  }

  /** `conv2d + add #12`. */
  node(node: number): string {
    return nodeTitle(nodeLabel(this.#plan.graph, node).slice(0, LONGEST), node);
  }

  /** The node of an entry, and which output where that is not the first. */
  title(entry: number): string {
    const output = this.#plan.output(entry);
    return this.node(this.#plan.owner[entry]!) + (output ? `:${output}` : "");
  }

  /** `storage_id 3 on cpu, 64.0 KiB (65,536)`. */
  slot(slot: number): string {
    const { slotBytes, slotStorage } = this.#plan.columns;
    return `storage_id ${slotStorage[slot]}${this.#device(slot)}, ${bytes(slotBytes[slot]!)}`;
  }

  #device(slot: number): string {
    const { info, slotDevice } = this.#plan.columns;
    const device = slotDevice[slot]!;
    return device < 0 ? "" : ` on ${info.devices[device]}`;
  }

  /** What is live while the node of a step runs. */
  step(step: number): Fact[] {
    const { order, live, info } = this.#plan.columns;
    if (!order.length) return [["live", `${bytes(info.allocated)}, nothing runs`]];
    const facts: Fact[] = [["live", `${bytes(live[step]!)} of the workspace`]];
    if (info.parameters) facts.push(["parameters", bytes(info.parameters)]);
    if (live[step] === info.peak) facts.push(["peak", "highest of all nodes"]);
    return facts;
  }

  entry(entry: number): Fact[] {
    const { columns, graph, lost, owner } = this.#plan;
    const { entryBytes, entrySlot, slotParameter } = columns;
    const node = owner[entry]!;
    const slot = entrySlot[entry]!;
    const size = entryBytes[entry]!;
    const facts: Fact[] = [];
    const note = this.#note(node);
    if (note) facts.push(["note", note]);
    facts.push(["tensor", entryText(graph, node, this.#plan.output(entry))]);
    facts.push(["bytes", size < 0 ? "unknown, not counted" : bytes(size)]);
    facts.push(["slot", slot < 0 ? "none: no usable storage_id, not counted" : this.slot(slot)]);
    const held = slotParameter[slot] ? ", separate from the workspace" : "";
    facts.push(["life", this.#life(entry) + held]);
    const place = lost[entry]!;
    if (place >= 0) facts.push(["lost", this.#loss(place)]);
    if (slot >= 0) facts.push(["shares", this.#shares(entry)]);
    return facts;
  }

  #life(entry: number): string {
    const { columns, owner, stepOf } = this.#plan;
    const { first, last, order } = columns;
    if (!order.length) return "throughout";
    const [from, to] = [first[entry]!, last[entry]!];
    const given = stepOf[owner[entry]!]! < 0;
    if (given && to === order.length - 1) return `throughout, ${counted(order.length, "step")}`;
    const until = to === order.length - 1 ? "the end" : `#${order[to]}`;
    if (from === to) return `while #${order[to]} runs, 1 step`;
    return `from #${order[from]} to ${until}, ${counted(to - from + 1, "step")}`;
  }

  #loss(place: number): string {
    const { lostReader, lostWriter } = this.#plan.columns;
    const reader = lostReader[place]!;
    const again = reader < 0 ? "needed at the end of the run" : `read again by #${reader}`;
    return `overwritten by ${this.node(lostWriter[place]!)}, ${again}`;
  }

  #shares(entry: number): string {
    const others = this.#plan.shares(entry);
    if (!others.length) return "its slot with no other entry";
    const listed = Array.from(others.subarray(0, LISTED), (each) => {
      const output = this.#plan.output(each);
      return `#${this.#plan.owner[each]}${output ? `:${output}` : ""}`;
    }).join(", ");
    const more = others.length - LISTED;
    return `its slot with ${listed}${more > 0 ? ` and ${integer(more)} more` : ""}`;
  }

  /** What several nodes write: how much, and into how many slots. */
  nodes(nodes: readonly number[]): Fact[] {
    const { columns, graph } = this.#plan;
    const slots = new Set<number>();
    let sum = 0;
    for (const node of nodes) {
      const end = graph.entryOffsets[node + 1] ?? 0;
      for (let entry = graph.entryOffsets[node] ?? 0; entry < end; entry++) {
        sum += Math.max(0, columns.entryBytes[entry]!);
        if (columns.entrySlot[entry]! >= 0) slots.add(columns.entrySlot[entry]!);
      }
    }
    return [["Σ bytes", `${bytes(sum)}, in ${counted(slots.size, "slot")}`]];
  }

  /** One sentence for the text mirror. */
  sentence(entry: number): string {
    const step = this.#plan.stepOf[this.#plan.owner[entry]!]!;
    const facts = [...this.entry(entry), ...(step < 0 ? [] : this.step(step))];
    return `${this.title(entry)}; ${said(facts)}`;
  }

  stepSentence(step: number): string {
    const { order } = this.#plan.columns;
    return `while ${this.node(order[step]!)} runs; ${said(this.step(step))}`;
  }
}

function said(facts: readonly Fact[]): string {
  return facts.map((fact) => fact.join(" ")).join("; ");
}
