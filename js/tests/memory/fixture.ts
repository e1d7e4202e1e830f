import { Plan } from "../../src/memory/plan.ts";
import { type MemoryColumns, NodeKind } from "../../src/shared/client/answers.ts";
import { columns, type NodeSpec } from "../graph/fixture.ts";

interface EntrySpec {
  slot: number;
  first: number;
  last: number;
  bytes?: number;
  /** Where its slot lies in planned buffer 1. */
  offset?: number;
}

/** A plan of entries, one a node; nodes that run are `order`. */
export function planOf(
  entries: readonly EntrySpec[],
  {
    order,
    live = [],
    parameter = [],
    lost = [],
  }: {
    order: number[];
    live?: number[];
    parameter?: number[];
    lost?: [node: number, writer: number, reader: number][];
  },
): Plan {
  const slots = Math.max(-1, ...entries.map(({ slot }) => slot)) + 1;
  const slotBytes = new Float64Array(slots);
  for (const { slot, bytes = 64 } of entries) {
    if (slot >= 0) slotBytes[slot] = Math.max(slotBytes[slot]!, bytes);
  }
  const slotOffset = new Float64Array(slots);
  for (const { slot, offset = 0 } of entries) {
    if (slot >= 0) slotOffset[slot] = offset;
  }
  const planned = entries.some(({ offset }) => offset !== undefined);
  const runs = new Set(order);
  const nodes: NodeSpec[] = entries.map((_, node) => ({
    kind: runs.has(node) ? NodeKind.OPERATOR : NodeKind.INPUT,
    label: runs.has(node) ? "add" : "",
  }));
  const memory: MemoryColumns = {
    order: Int32Array.from(order),
    live: Float64Array.from(live.length ? live : order.map(() => 0)),
    entryBytes: Float64Array.from(entries, ({ bytes = 64 }) => bytes),
    entrySlot: Int32Array.from(entries, ({ slot }) => slot),
    first: Int32Array.from(entries, ({ first }) => first),
    last: Int32Array.from(entries, ({ last }) => last),
    slotStorage: Int32Array.from({ length: slots }, (_, slot) => slot + 10),
    slotDevice: new Int32Array(slots).fill(1),
    slotBytes,
    slotParameter: Uint8Array.from({ length: slots }, (_, slot) => +parameter.includes(slot)),
    slotBuffer: new Int32Array(slots).fill(planned ? 1 : -1),
    slotOffset,
    lostNode: Int32Array.from(lost, ([node]) => node),
    lostOutput: new Int32Array(lost.length),
    lostWriter: Int32Array.from(lost, ([, writer]) => writer),
    lostReader: Int32Array.from(lost, ([, , reader]) => reader),
    info: {
      said: [],
      wrong: [],
      allocated: slotBytes.reduce(
        (sum, bytes, slot) => sum + (parameter.includes(slot) ? 0 : bytes),
        0,
      ),
      parameters: 0,
      buffers: planned ? 1 : 0,
      peak: Math.max(0, ...live),
      peakNodes: [],
      devices: { 1: "cpu" },
    },
  };
  return new Plan(memory, columns(nodes));
}
