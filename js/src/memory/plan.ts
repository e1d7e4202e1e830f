import type { GraphColumns, MemoryColumns } from "../shared/client/answers.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import { bytes, counted, entryText, integer, nodeLabel, nodeTitle } from "../shared/format.ts";
import { lowerBound, upperBound } from "../shared/many.ts";
import type { Fact } from "../shell/tooltip.ts";

/** How many entries back an entry is searched that is live beside later ones of its slot. */
const BACK = 16;

export class Plan {
  /** Slots of the workspace, the largest first, in planned buffers by offset: one per row. */
  readonly slots: Int32Array;
  readonly hidden: number;
  readonly rowOf: Int32Array;
  readonly owner: Int32Array;
  readonly stepOf: Int32Array;
  /** By entry: index in the columns of lost entries, or -1. */
  readonly lost: Int32Array;
  readonly largest: number;
  /** Entries of all rows, those of row r from `#starts[r]` to `#starts[r + 1]`, and their first steps. */
  readonly #entries: Int32Array;
  readonly #first: Int32Array;
  readonly #starts: Int32Array;
  readonly #elsewhere = new Map<number, Int32Array>();
  /** Maxima of `live` over 2, 4, 8 … steps. */
  readonly #maxima: Float64Array[];

  /** @param most Limit of the rows. */
  constructor(
    readonly columns: MemoryColumns,
    readonly graph: GraphColumns,
    most = Number.POSITIVE_INFINITY,
  ) {
    const { entrySlot, entryBytes, order, slotBytes, slotParameter } = columns;
    this.stepOf = new Int32Array(graph.kinds.length).fill(-1);
    order.forEach((node, step) => {
      this.stepOf[node] = step;
    });
    this.owner = new Int32Array(entrySlot.length);
    for (let node = 0; node < graph.kinds.length; node++) {
      this.owner.fill(node, graph.entryOffsets[node]!, graph.entryOffsets[node + 1]!);
    }
    this.lost = new Int32Array(entrySlot.length).fill(-1);
    columns.lostNode.forEach((node, place) => {
      this.lost[graph.entryOffsets[node]! + columns.lostOutput[place]!] = place;
    });
    const own = Int32Array.from(slotBytes.keys()).filter((slot) => !slotParameter[slot]);
    const slots = own.sort((a, b) => slotBytes[b]! - slotBytes[a]! || a - b).slice(0, most);
    this.hidden = own.length - slots.length;
    const { info, slotBuffer, slotOffset } = columns;
    if (info.buffers) {
      slots.sort(
        (a, b) => slotBuffer[a]! - slotBuffer[b]! || slotOffset[a]! - slotOffset[b]! || a - b,
      );
    }
    this.rowOf = new Int32Array(slotBytes.length).fill(-1);
    slots.forEach((slot, row) => {
      this.rowOf[slot] = row;
    });
    this.slots = slots;
    [this.#entries, this.#starts] = this.#sorted();
    this.#first = this.#entries.map((entry) => columns.first[entry]!);
    this.largest = entryBytes.reduce(
      (most, bytes, entry) => (this.rowOf[entrySlot[entry]!]! >= 0 ? Math.max(most, bytes) : most),
      0,
    );
    this.#maxima = pyramid(columns.live);
  }

  #sorted(): [entries: Int32Array, starts: Int32Array] {
    const { entrySlot, first } = this.columns;
    const starts = new Int32Array(this.slots.length + 1);
    for (let entry = 0; entry < entrySlot.length; entry++) {
      const row = this.rowOfEntry(entry);
      if (row >= 0) starts[row + 1]!++;
    }
    for (let row = 0; row < this.slots.length; row++) starts[row + 1]! += starts[row]!;
    const entries = new Int32Array(starts.at(-1)!);
    const next = starts.slice();
    for (let entry = 0; entry < entrySlot.length; entry++) {
      const row = this.rowOfEntry(entry);
      if (row >= 0) entries[next[row]!++] = entry;
    }
    for (let row = 0; row < this.slots.length; row++) {
      const own = entries.subarray(starts[row], starts[row + 1]);
      if (own.some((entry, i) => i > 0 && first[entry]! < first[own[i - 1]!]!)) {
        own.sort((a, b) => first[a]! - first[b]! || a - b);
      }
    }
    return [entries, starts];
  }

  row(row: number): { entries: Int32Array; first: Int32Array } {
    const [start, end] = [this.#starts[row], this.#starts[row + 1]];
    return { entries: this.#entries.subarray(start, end), first: this.#first.subarray(start, end) };
  }

  get steps(): number {
    return Math.max(1, this.columns.order.length);
  }

  most(from: number, to: number): number {
    let most = 0;
    for (let level = 0; from < to; level++) {
      const values = this.#maxima[level]!;
      if (from & 1) most = Math.max(most, values[from++]!);
      if (to & 1) most = Math.max(most, values[--to]!);
      from >>= 1;
      to >>= 1;
    }
    return most;
  }

  /** The row of an entry, -1 for parameters and entries outside of slots. */
  rowOfEntry(entry: number): number {
    const slot = this.columns.entrySlot[entry]!;
    return slot < 0 ? -1 : this.rowOf[slot]!;
  }

  /** Entry of a row at a step; of several the one written last. */
  at(row: number, step: number): number {
    const { entries, first } = this.row(row);
    const end = upperBound(first, step);
    for (let i = end - 1; i >= Math.max(0, end - BACK); i--) {
      if (this.columns.last[entries[i]!]! >= step) return entries[i]!;
    }
    return -1;
  }

  /** The index in a row from which its entries can be live at `step` or later. */
  from(row: number, step: number): number {
    return Math.max(0, lowerBound(this.row(row).first, step) - BACK);
  }

  beside(entry: number, by: number): number {
    const row = this.rowOfEntry(entry);
    if (row < 0) return -1;
    const { entries } = this.row(row);
    return entries[entries.indexOf(entry) + by] ?? -1;
  }

  /** The other entries of an entry's slot; in planned buffers those with common bytes. */
  shares(entry: number): Int32Array {
    const { entryBytes, entrySlot, slotBuffer } = this.columns;
    const slot = entrySlot[entry]!;
    if (slot < 0) return new Int32Array(0);
    if (slotBuffer[slot]! >= 0) {
      return this.#overlapping(slot, entryBytes[entry]!).filter((other) => other !== entry);
    }
    const row = this.rowOf[slot]!;
    const all = row < 0 ? Int32Array.from(entrySlot.keys()) : this.row(row).entries;
    return all.filter((other) => other !== entry && entrySlot[other] === slot);
  }

  /** Entries at other offsets that use bytes of a row, by the step that writes them. */
  elsewhere(row: number): Int32Array {
    const slot = this.slots[row]!;
    const { entrySlot, first, slotBuffer, slotBytes } = this.columns;
    if (slotBuffer[slot]! < 0) return new Int32Array(0);
    let entries = this.#elsewhere.get(slot);
    if (!entries) {
      entries = this.#overlapping(slot, slotBytes[slot]!).filter(
        (other) => entrySlot[other] !== slot,
      );
      entries.sort((a, b) => first[a]! - first[b]! || a - b);
      this.#elsewhere.set(slot, entries);
    }
    return entries;
  }

  /** The entries that overlap the first bytes of a slot. */
  #overlapping(slot: number, bytes: number): Int32Array {
    const { entryBytes, entrySlot, slotBuffer, slotOffset } = this.columns;
    const start = slotOffset[slot]!;
    return Int32Array.from(entrySlot.keys()).filter((entry) => {
      const at = entrySlot[entry]!;
      if (at < 0 || slotBuffer[at] !== slotBuffer[slot]) return false;
      const low = Math.max(start, slotOffset[at]!);
      return low < Math.min(start + bytes, slotOffset[at]! + entryBytes[entry]!);
    });
  }

  output(entry: number): number {
    return entry - this.graph.entryOffsets[this.owner[entry]!]!;
  }
}

function pyramid(values: Float64Array): Float64Array[] {
  const levels = [values];
  for (let below = values; below.length > 1; ) {
    const level = new Float64Array((below.length + 1) >> 1);
    for (let i = 0; i < below.length; i++) level[i >> 1] = Math.max(level[i >> 1]!, below[i]!);
    levels.push(level);
    below = level;
  }
  return levels;
}

/** Title of bytes used by a value at another offset. */
export const ELSEWHERE = "bytes held from another offset";
/** Opacity of bytes used from another offset. */
export const FAINT = 0.3;

/** Times when values at other offsets use bytes of a row, in pixels; close ones are merged. */
export function heldElsewhere(
  plan: Plan,
  row: number,
  x: (step: number) => number,
): [left: number, right: number][] {
  const { first, last } = plan.columns;
  const spans: [left: number, right: number][] = [];
  for (const entry of plan.elsewhere(row)) {
    const [left, right] = [x(first[entry]!), x(last[entry]! + 1)];
    const before = spans.at(-1);
    if (before && left - before[1] < 1) before[1] = Math.max(before[1], right);
    else spans.push([left, right]);
  }
  return spans;
}

const LISTED = 8;
const LONGEST = 200;

export function short(count: number): string {
  return bytes(count).replace(/ \(.*/, "");
}

export class PlanDescriptions {
  readonly #plan: Plan;
  readonly #notes: Pick<SessionClient, "note"> | undefined;

  constructor(plan: Plan, notes?: Pick<SessionClient, "note">) {
    this.#plan = plan;
    this.#notes = notes;
  }

  node(node: number, output = 0): string {
    return nodeTitle(nodeLabel(this.#plan.graph, node).slice(0, LONGEST), node, output);
  }

  title(entry: number): string {
    return this.node(this.#plan.owner[entry]!, this.#plan.output(entry));
  }

  /** At most three lines: an entry with its size and its life, or if it is lost with why. */
  brief(entry: number): string[] {
    const { columns, lost } = this.#plan;
    const size = columns.entryBytes[entry]!;
    const held = columns.slotBytes[columns.entrySlot[entry]!] ?? size;
    const place = lost[entry]!;
    return [
      this.title(entry),
      size < 0
        ? "unknown size, not counted"
        : `${short(size)}${held === size ? "" : ` in a slot of ${short(held)}`}`,
      place < 0 ? `live ${this.#life(entry)}` : this.#loss(place),
    ];
  }

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

  /** `1,024`, `2: 1,024` for several buffers; empty outside of them. */
  offset(slot: number): string {
    const { info, slotBuffer, slotOffset } = this.#plan.columns;
    if (slotBuffer[slot]! < 0) return "";
    return `${info.buffers > 1 ? `${slotBuffer[slot]}: ` : ""}${integer(slotOffset[slot]!)}`;
  }

  /** Facts of a row without an entry at a step, with the users of its bytes. */
  free(row: number, step: number): [title: string, facts: Fact[]] {
    const { first, last } = this.#plan.columns;
    const held = this.#plan
      .elsewhere(row)
      .filter((user) => first[user]! <= step && step <= last[user]!);
    const facts: Fact[] = [["slot", this.slot(this.#plan.slots[row]!)]];
    if (!held.length) return ["free", facts];
    return [ELSEWHERE, [...facts, ["held", `by ${this.#listed(held)}`]]];
  }

  #device(slot: number): string {
    const { info, slotDevice } = this.#plan.columns;
    const device = slotDevice[slot]!;
    return device < 0 ? "" : ` on ${info.devices[device]}`;
  }

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
    const note = this.#notes?.note(node);
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
    const listed = Array.from(entries.subarray(0, LISTED), (entry) => {
      const output = this.#plan.output(entry);
      return `#${this.#plan.owner[entry]}${output ? `:${output}` : ""}`;
    }).join(", ");
    const more = entries.length - LISTED;
    return `${listed}${more > 0 ? ` and ${integer(more)} more` : ""}`;
  }

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
    return `${this.title(entry)}; ${factsText(facts)}`;
  }

  stepSentence(step: number): string {
    const { order } = this.#plan.columns;
    return `while ${this.node(order[step]!)} runs; ${factsText(this.step(step))}`;
  }
}

function factsText(facts: readonly Fact[]): string {
  return facts.map((fact) => fact.join(" ")).join("; ");
}
