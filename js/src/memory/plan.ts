import type { GraphColumns, MemoryColumns } from "../shared/run_client.ts";
import { lowerBound, upperBound } from "../shared/sorted.ts";

/** How far back an entry is sought that is live beside later ones of its slot. */
const BACK = 16;

/** One slot of the workspace: its entries by the step that writes them. */
export interface Row {
  slot: number;
  entries: Int32Array;
  first: Int32Array;
}

/** The memory plan with what the view looks up in it; knows no DOM. */
export class Plan {
  readonly columns: MemoryColumns;
  readonly graph: GraphColumns;
  /** Slots of the workspace, the largest first. */
  readonly rows: readonly Row[];
  /** Row of a slot, -1 for parameters. */
  readonly rowOf: Int32Array;
  /** The node of each entry. */
  readonly owner: Int32Array;
  /** The step of each node, -1 where it does not run. */
  readonly stepOf: Int32Array;
  /** By entry: place in the columns of what is lost, -1 where it is not. */
  readonly lost: Int32Array;
  readonly largest: number;
  /** Maxima of `live` over 2, 4, 8 … steps. */
  readonly #maxima: Float64Array[];

  constructor(columns: MemoryColumns, graph: GraphColumns) {
    this.columns = columns;
    this.graph = graph;
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
    const slots = Int32Array.from(slotBytes.keys()).filter((slot) => !slotParameter[slot]);
    slots.sort((a, b) => slotBytes[b]! - slotBytes[a]! || a - b);
    this.rowOf = new Int32Array(slotBytes.length).fill(-1);
    slots.forEach((slot, row) => {
      this.rowOf[slot] = row;
    });
    this.rows = rowsOf(columns, slots);
    this.largest = entryBytes.reduce(
      (most, bytes, entry) => (this.rowOf[entrySlot[entry]!]! >= 0 ? Math.max(most, bytes) : most),
      0,
    );
    this.#maxima = pyramid(columns.live);
  }

  /** How many steps there are, at least one. */
  get steps(): number {
    return Math.max(1, this.columns.order.length);
  }

  /** The most that is live in [from, to), whole steps. */
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

  /** The row of an entry, -1 for parameters and what lies in no slot. */
  rowOfEntry(entry: number): number {
    const slot = this.columns.entrySlot[entry]!;
    return slot < 0 ? -1 : this.rowOf[slot]!;
  }

  /** The entry that a row holds at a step; of several the one that was written last. */
  at(row: number, step: number): number {
    const { entries, first } = this.rows[row]!;
    const end = upperBound(first, step);
    for (let i = end - 1; i >= Math.max(0, end - BACK); i--) {
      if (this.columns.last[entries[i]!]! >= step) return entries[i]!;
    }
    return -1;
  }

  /** The place in a row from where on its entries can be live at `step` or later. */
  from(row: number, step: number): number {
    return Math.max(0, lowerBound(this.rows[row]!.first, step) - BACK);
  }

  /** The next or previous entry of the same slot; -1 at its end. */
  beside(entry: number, by: number): number {
    const row = this.rows[this.rowOfEntry(entry)];
    return row?.entries[row.entries.indexOf(entry) + by] ?? -1;
  }

  /** The other entries of an entry's slot. */
  shares(entry: number): Int32Array {
    const { entrySlot } = this.columns;
    const slot = entrySlot[entry]!;
    if (slot < 0) return new Int32Array(0);
    const row = this.rows[this.rowOf[slot]!];
    const all = row ? row.entries : Int32Array.from(entrySlot.keys());
    return all.filter((each) => each !== entry && entrySlot[each] === slot);
  }

  output(entry: number): number {
    return entry - this.graph.entryOffsets[this.owner[entry]!]!;
  }
}

function rowsOf({ entrySlot, first }: MemoryColumns, slots: Int32Array): Row[] {
  const count = new Int32Array(slots.length ? entrySlot.length + 1 : 0);
  const row = new Map<number, number>();
  slots.forEach((slot, at) => {
    row.set(slot, at);
  });
  const places = Int32Array.from(entrySlot, (slot) => row.get(slot) ?? -1);
  for (const place of places) if (place >= 0) count[place]!++;
  const rows = Array.from(slots, (slot, at) => ({
    slot,
    entries: new Int32Array(count[at]!),
    first: new Int32Array(0),
  }));
  count.fill(0);
  places.forEach((place, entry) => {
    if (place >= 0) rows[place]!.entries[count[place]!++] = entry;
  });
  for (const each of rows) {
    const before = each.entries.some(
      (entry, i) => i > 0 && first[entry]! < first[each.entries[i - 1]!]!,
    );
    if (before) each.entries.sort((a, b) => first[a]! - first[b]! || a - b);
    each.first = each.entries.map((entry) => first[entry]!);
  }
  return rows;
}

function pyramid(values: Float64Array): Float64Array[] {
  const levels = [values];
  for (let below = values; below.length > 1; ) {
    const level = new Float64Array((below.length + 1) >> 1);
    for (let i = 0; i < below.length; i++) {
      level[i >> 1] = Math.max(level[i >> 1]!, below[i]!);
    }
    levels.push(level);
    below = level;
  }
  return levels;
}
