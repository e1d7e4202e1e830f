import type { Acyclic } from "./acyclic.ts";
import { identity, makeAcyclic } from "./acyclic.ts";
import { at, bytesAt, groupBy, inverse } from "./adjacency.ts";
import { findTrunks } from "./trunks.ts";
import type { CompoundInput, Levels } from "./types.ts";

/** Not a port; where a tensor comes into a frame; where one leaves it. */
export const ENTRY = 1;
export const EXIT = 2;

/** A graph without frames is one level. */
export function oneLevel(count: number, acyclic: Acyclic, slot: Int32Array | undefined): Levels {
  const { source, target, flipped } = acyclic;
  const edges = source.length;
  const none = new Int32Array(edges).fill(-1);
  return {
    count,
    itemStart: Int32Array.of(0, count),
    edgeStart: Int32Array.of(0, edges),
    levelOf: new Int32Array(count),
    box: identity(count),
    frame: new Int32Array(count).fill(-1),
    port: new Uint8Array(count),
    itemOfFrame: new Int32Array(0),
    source,
    target,
    slot: slot ?? new Int32Array(edges),
    flipped,
    outPort: none,
    inPort: none,
    chainStart: identity(edges + 1),
    chain: identity(edges),
  };
}

class Numbers {
  values = new Int32Array(1024);
  count = 0;

  push(value: number): number {
    if (this.count === this.values.length) {
      const longer = new Int32Array(2 * this.count);
      longer.set(this.values);
      this.values = longer;
    }
    this.values[this.count] = value;
    return this.count++;
  }

  get all(): Int32Array {
    return this.values.subarray(0, this.count);
  }
}

/** New names of items; -1 stays. */
function renamed(values: Int32Array, name: Int32Array): Int32Array {
  for (let i = 0; i < values.length; i++) if (values[i]! >= 0) values[i] = name[values[i]!]!;
  return values;
}

/** Parts a graph whose edges run forward into levels. */
export function partLevels(input: CompoundInput, acyclic: Acyclic): Levels {
  const { parent } = input.frames!;
  const frames = parent.length;
  const { source, target, nodeOf, flipped } = acyclic;
  const boxes = nodeOf.length;
  const frameOf = at(input.frameOf!, nodeOf);
  const depth = new Int32Array(frames);
  for (let f = 0; f < frames; f++) depth[f] = parent[f]! < 0 ? 1 : depth[parent[f]!]! + 1;
  const first = new Int32Array(frames).fill(boxes);
  for (let v = boxes - 1; v >= 0; v--) if (frameOf[v]! >= 0) first[frameOf[v]!] = v;
  for (let f = frames - 1; f >= 0; f--) {
    const up = parent[f]!;
    if (up >= 0) first[up] = Math.min(first[up]!, first[f]!);
  }

  // Boxes and frames are items 0 … boxes + frames - 1, ports follow; all are renamed at the end.
  const level = new Numbers();
  const port = new Numbers();
  for (let v = 0; v < boxes + frames; v++) {
    level.push((v < boxes ? frameOf[v]! : parent[v - boxes]!) + 1);
    port.push(0);
  }
  const from = new Numbers();
  const to = new Numbers();
  const tensor = new Numbers();
  const began = new Numbers();
  const outPort = new Numbers();
  const inPort = new Numbers();
  const chain = new Numbers();
  const chainOwner = new Numbers();
  const outgoing = groupBy(boxes, source);
  const trunks = findTrunks(source, outgoing, input.sourceSlot, flipped);
  const left = new Int32Array(frames).fill(-1);
  const leftBy = new Int32Array(frames);
  const entered = new Int32Array(frames).fill(-1);
  const enteredBy = new Int32Array(frames);
  const way = new Int32Array(frames);
  let [k, e] = [0, 0];
  const link = (a: number, b: number, out: number, into: number) => {
    from.push(a);
    to.push(b);
    tensor.push(k);
    outPort.push(out);
    inPort.push(into);
    return began.push(e);
  };
  const follow = (each: number) => {
    chain.push(each);
    chainOwner.push(e);
  };
  const part = (s: number, t: number) => {
    let up = frameOf[s]!;
    let down = frameOf[t]!;
    let steps = 0;
    let here = s;
    let out = -1;
    while (up !== down) {
      if (down < 0 || (up >= 0 && depth[up]! >= depth[down]!)) {
        if (left[up] !== k) {
          left[up] = k;
          level.push(up + 1);
          leftBy[up] = link(here, port.push(EXIT), out, -1);
        }
        follow(leftBy[up]!);
        here = boxes + up;
        out = to.values[leftBy[up]!]!;
        up = parent[up]!;
      } else {
        way[steps++] = down;
        down = parent[down]!;
      }
    }
    while (steps > 0) {
      const f = way[--steps]!;
      if (entered[f] !== k) {
        entered[f] = k;
        level.push(f + 1);
        enteredBy[f] = link(here, boxes + f, out, port.push(ENTRY));
      }
      follow(enteredBy[f]!);
      here = inPort.values[enteredBy[f]!]!;
      out = -1;
    }
    follow(link(here, t, out, -1));
  };
  for (; k < trunks.count; k++) {
    for (let i = trunks.edges.start[k]!; i < trunks.edges.start[k + 1]!; i++) {
      e = trunks.edges.item[i]!;
      part(trunks.source[k]!, target[e]!);
    }
  }

  const count = level.count;
  const place = new Int32Array(count);
  for (let v = 0; v < count; v++) {
    const kind = port.values[v]!;
    place[v] =
      kind === ENTRY ? 0 : kind === EXIT ? boxes + 1 : 1 + (v < boxes ? v : first[v - boxes]!);
  }
  // Within one place a frame stands where its first box would, which is in another level.
  const byPlace = groupBy(boxes + 2, place).item;
  const inOrder = groupBy(frames + 1, at(level.values, byPlace));
  const arranged = at(byPlace, inOrder.item);
  const levelOf = at(level.values, arranged);
  const placeName = inverse(arranged);
  const again = makeAcyclic(count, at(placeName, from.all), at(placeName, to.all), levelOf);
  const items = at(arranged, again.nodeOf);
  const nameOf = inverse(items);

  const byEdge = groupBy(source.length, began.all).item;
  const sorted = groupBy(frames + 1, at(level.values, at(from.values, byEdge)));
  const edges = at(byEdge, sorted.item);
  const box = new Int32Array(count).fill(-1);
  const frame = new Int32Array(count).fill(-1);
  for (let i = 0; i < count; i++) {
    const v = items[i]!;
    if (v < boxes) box[i] = v;
    else if (v < boxes + frames) frame[i] = v - boxes;
  }
  const chains = groupBy(source.length, chainOwner.all);
  return {
    count,
    itemStart: inOrder.start,
    edgeStart: sorted.start,
    levelOf,
    box,
    frame,
    port: Uint8Array.from(at(port.values, items)),
    itemOfFrame: nameOf.slice(boxes, boxes + frames),
    source: at(again.source, edges),
    target: at(again.target, edges),
    slot: at(tensor.values, edges),
    flipped: bytesAt(again.flipped, edges),
    outPort: renamed(at(outPort.values, edges), nameOf),
    inPort: renamed(at(inPort.values, edges), nameOf),
    chainStart: chains.start,
    chain: at(inverse(edges), at(chain.values, chains.item)),
  };
}
