// Seeded graphs: networks made of the stages real ones are made of, and random ones.
import type { LayoutInput } from "../../../src/graph/layout/types.ts";

/** Mulberry32: uniform numbers in [0, 1). */
export function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** No group is open. */
export function unframed(count: number): Pick<LayoutInput, "frameOf" | "frames"> {
  const frames = { parent: new Int32Array(0), minWidth: new Float64Array(0) };
  return { frameOf: new Int32Array(count).fill(-1), frames };
}

export function inputOf(
  widths: ArrayLike<number>,
  source: number[],
  target: number[],
  slot: number[] = source.map(() => 0),
): LayoutInput {
  const count = widths.length;
  return {
    count,
    width: Float64Array.from(widths),
    height: new Float64Array(count).fill(36),
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    sourceSlot: Int32Array.from(slot),
    direction: "down",
    ...unframed(count),
  };
}

/** About `size` nodes: residual, transformer, inception, dense and mixture-of-experts blocks with their parameters. */
export function network(size: number, seed = 1): LayoutInput {
  const next = random(seed);
  const int = (n: number) => Math.floor(next() * n);
  const widths: number[] = [];
  const source: number[] = [];
  const target: number[] = [];
  const slot: number[] = [];
  const node = (inputs: number[], output = 0) => {
    const id = widths.push(90 + int(91)) - 1;
    for (const input of inputs) {
      source.push(input);
      target.push(id);
      slot.push(output);
    }
    return id;
  };
  const op = (inputs: number[], parameters = 0) => {
    const all = [...inputs];
    for (let k = 0; k < parameters; k++) all.push(node([]));
    return node(all);
  };
  const mask = node([]);
  const residual = (x: number): number => {
    const a = op([op([x], 1)], 1);
    const b = op([op([op([a])], 1)], 1);
    return op([op([b, int(3) === 0 ? op([x], 1) : x])]);
  };
  const transformer = (x: number): number => {
    const q = op([op([x], 1)]);
    const k = op([op([x], 1)]);
    const v = op([op([x], 1)]);
    const scores = op([op([op([q, k])]), mask]);
    const mixed = op([op([op([scores]), v])], 1);
    const y = op([mixed, x], 1);
    return op([op([op([op([y], 1)])], 1), y], 1);
  };
  const inception = (x: number): number => {
    const a = op([x], 1);
    const b = op([op([x], 1)], 1);
    const c = op([op([op([x], 1)], 1)], 1);
    return op([a, b, c, op([op([x])], 1)]);
  };
  const dense = (x: number): number => {
    const seen = [x];
    for (let k = 0; k < 4; k++) seen.push(op([op([...seen])], 1));
    return op(seen);
  };
  const experts = (x: number): number => {
    const router = op([x], 1);
    const parts: number[] = [];
    for (let k = 0; k < 8; k++) {
      const picked = op([x]);
      source.push(router);
      target.push(picked);
      slot.push(k % 2);
      parts.push(op([op([picked], 1)], 1));
    }
    return op(parts);
  };
  const stages = [residual, transformer, inception, dense, experts];
  let x = node([]);
  while (widths.length < size) {
    const stage = stages[int(stages.length)]!;
    const repeats = 2 + int(6);
    for (let k = 0; k < repeats && widths.length < size; k++) x = stage(x);
  }
  return inputOf(widths, source, target, slot);
}

/** Edges between random pairs, most of them short; several components, isolated nodes, doubled edges. */
export function scattered(size: number, edges: number, seed: number, cyclic = false): LayoutInput {
  const next = random(seed);
  const widths: number[] = [];
  for (let v = 0; v < size; v++) widths.push(40 + Math.floor(next() * 160));
  const source: number[] = [];
  const target: number[] = [];
  const slot: number[] = [];
  for (let e = 0; e < edges && size > 1; e++) {
    const s = Math.floor(next() * (size - 1));
    const span = next() < 0.2 ? size - 1 - s : Math.min(8, size - 1 - s);
    const t = s + 1 + Math.floor(next() * span);
    const back = cyclic && next() < 0.1;
    source.push(back ? t : s);
    target.push(back ? s : t);
    slot.push(next() < 0.2 ? 1 : 0);
  }
  return inputOf(widths, source, target, slot);
}
