import { bytes, counted, entryText, integer } from "../shared/format.ts";
import { nodeLabel, nodeTitle } from "../shared/node_title.ts";
import { ELSEWHERE } from "./offsets.ts";
import type { Plan } from "./plan.ts";

export type Fact = readonly [name: string, text: string];

const LISTED = 8;
/** Letters of a name that are shown; a file may hold names of any length. */
const LONGEST = 200;

/** Bytes without the exact count: `64.0 KiB`. */
export function short(count: number): string {
  return bytes(count).replace(/ \(.*/, "");
}

/** What the view says, in the words of `analysis/memory/sentences.py`. */
export class PlanDescriptions {
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

  /** `storage_id 3 on cpu, 64.0 KiB (65,536)`, `bytes 0 … 1,023 of buffer 1 on cpu, 1.0 KiB (1,024)`. */
  slot(slot: number): string {
    const { slotBuffer, slotBytes, slotOffset, slotStorage } = this.#plan.columns;
    const size = slotBytes[slot]!;
    const start = slotOffset[slot]!;
    const range = `bytes ${integer(start)} … ${integer(start + size - 1)}`;
    const place =
      slotBuffer[slot]! < 0
        ? `storage_id ${slotStorage[slot]}`
        : `${size ? range : `offset ${integer(start)}`} of buffer ${slotBuffer[slot]}`;
    return `${place}${this.#device(slot)}, ${bytes(size)}`;
  }

  /** `1,024`, `2: 1,024` where there are several buffers; empty outside of them. */
  offset(slot: number): string {
    const { info, slotBuffer, slotOffset } = this.#plan.columns;
    if (slotBuffer[slot]! < 0) return "";
    return `${info.buffers > 1 ? `${slotBuffer[slot]}: ` : ""}${integer(slotOffset[slot]!)}`;
  }

  /** What a row is at a step where it holds no entry, and who holds bytes of it. */
  free(row: number, step: number): [title: string, facts: Fact[]] {
    const { first, last } = this.#plan.columns;
    const held = this.#plan
      .elsewhere(row)
      .filter((each) => first[each]! <= step && step <= last[each]!);
    const facts: Fact[] = [["slot", this.slot(this.#plan.slots[row]!)]];
    if (!held.length) return ["free", facts];
    return [ELSEWHERE, [...facts, ["held", `by ${this.#listed(held)}`]]];
  }

  #device(slot: number): string {
    const { info, slotDevice } = this.#plan.columns;
    const device = slotDevice[slot]!;
    return device < 0 ? "" : ` on ${info.devices[device]}`;
  }

  /** What is live while the node of a step runs. */
  step(step: number): Fact[] {
    const { order, live, info } = this.#plan.columns;
    if (!order.length) return [["live", `${bytes(info.peak)}, nothing runs`]];
    const facts: Fact[] = [["live", `${bytes(live[step]!)} of the workspace`]];
    if (info.parameters) {
      facts.push(["parameters", [bytes(info.parameters), info.roles].filter(Boolean).join("; ")]);
    }
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
    const nowhere = columns.info.buffers
      ? "none: no memory in the program, not counted"
      : "none: no usable storage_id, not counted";
    facts.push(["slot", slot < 0 ? nowhere : this.slot(slot)]);
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
    const { entrySlot, slotBuffer } = this.#plan.columns;
    const what = slotBuffer[entrySlot[entry]!]! < 0 ? "its slot" : "its bytes";
    return `${what} with ${others.length ? this.#listed(others) : "no other entry"}`;
  }

  #listed(entries: Int32Array): string {
    const listed = Array.from(entries.subarray(0, LISTED), (each) => {
      const output = this.#plan.output(each);
      return `#${this.#plan.owner[each]}${output ? `:${output}` : ""}`;
    }).join(", ");
    const more = entries.length - LISTED;
    return `${listed}${more > 0 ? ` and ${integer(more)} more` : ""}`;
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
    const where = counted(slots.size, columns.info.buffers ? "place" : "slot");
    return [["Σ bytes", `${bytes(sum)}, in ${where}`]];
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
