import { upperBound } from "../../shared/many.ts";

/** Frames to be merged: parent, key and self time by number. */
export interface CallFrames {
  /** Parent of a frame, -1 at the top. */
  readonly parent: Int32Array;
  /** Frames of one parent with the same key become one. */
  readonly key: Int32Array;
  /** Self time, nanoseconds. */
  readonly self: Float64Array;
  /** Number of slices of a frame. */
  readonly count: Int32Array;
  /** Self time with the time inside, if each frame is a path; else it is summed. */
  readonly total?: Float64Array;
}

/** Places of a merged tree, level by level and by start, as pictures need them. */
export interface TreePlaces {
  readonly size: number;
  /** Sum of the totals at the top. */
  readonly whole: number;
  readonly depths: number;
  /** Places of level l are [levels[l], levels[l + 1]). */
  readonly levels: Int32Array;
  readonly key: Int32Array;
  readonly depth: Uint16Array | Int32Array;
  readonly start: Float64Array;
  readonly total: Float64Array;
  readonly self: Float64Array;
  readonly count: Int32Array;
}

/** Frames merged by path, heaviest first, numbered level by level, so that the children of a place are an interval. */
export class MergedTree implements TreePlaces {
  readonly parent: Int32Array;
  readonly key: Int32Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
  readonly count: Int32Array;
  readonly depth: Uint16Array;
  /** Start of a place, nanoseconds from the left. */
  readonly start: Float64Array;
  /** The places inside place p are [inside[p], inside[p + 1]). */
  readonly inside: Int32Array;
  /** Places of level l are [levels[l], levels[l + 1]). */
  readonly levels: Int32Array;

  constructor(frames: CallFrames) {
    const paths = new Paths(frames);
    const size = paths.size;
    const sorted = paths.heaviestFirst();
    const place = new Int32Array(size).fill(-1);
    const old = new Int32Array(size);
    const levels = [0];
    this.inside = new Int32Array(size + 1);
    let count = 0;
    for (const path of sorted.of(-1)) old[count++] = path;
    for (let from = 0; from < count; ) {
      const to = count;
      levels.push(to);
      for (let at = from; at < to; at++) {
        place[old[at]!] = at;
        this.inside[at] = count;
        for (const path of sorted.of(old[at]!)) old[count++] = path;
      }
      from = to;
    }
    this.inside[size] = count;
    this.levels = Int32Array.from(levels);
    this.parent = Int32Array.from(old, (path) => {
      const parent = paths.parent[path]!;
      return parent < 0 ? -1 : place[parent]!;
    });
    this.key = Int32Array.from(old, (path) => paths.key[path]!);
    this.self = Float64Array.from(old, (path) => paths.self[path]!);
    this.total = Float64Array.from(old, (path) => paths.total[path]!);
    this.count = Int32Array.from(old, (path) => paths.count[path]!);
    this.depth = new Uint16Array(size);
    this.start = new Float64Array(size);
    let top = 0;
    for (let at = 0; at < size; at++) {
      const parent = this.parent[at]!;
      if (parent < 0) {
        this.start[at] = top;
        top += this.total[at]!;
        continue;
      }
      this.depth[at] = this.depth[parent]! + 1;
      const isFirst = this.inside[parent] === at;
      this.start[at] = isFirst ? this.start[parent]! : this.start[at - 1]! + this.total[at - 1]!;
    }
  }

  get size(): number {
    return this.key.length;
  }

  get whole(): number {
    const last = (this.levels[1] ?? 0) - 1;
    return last < 0 ? 0 : this.start[last]! + this.total[last]!;
  }

  get depths(): number {
    return this.levels.length - 1;
  }

  /** Ancestors of a place and itself, from the top. */
  path(place: number): number[] {
    const path: number[] = [];
    for (let at = place; at >= 0; at = this.parent[at]!) path.push(at);
    return path.reverse();
  }

  /** The place of a level that contains this time, or -1. */
  at(level: number, ns: number): number {
    const [first, last] = [this.levels[level] ?? 0, this.levels[level + 1] ?? 0];
    const at = upperBound(this.start, ns, first, last) - 1;
    return at >= first && ns < this.start[at]! + this.total[at]! ? at : -1;
  }
}

class Paths {
  readonly parent: Int32Array;
  readonly key: Int32Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
  readonly count: Int32Array;

  constructor({ parent, key, self, count, total }: CallFrames) {
    const frames = key.length;
    const of = new Int32Array(frames).fill(-1);
    const inside = new Map<number, Map<number, number>>();
    const [parents, keys]: [number[], number[]] = [[], []];
    const take = (outer: number, key: number) => {
      let paths = inside.get(outer);
      if (!paths) {
        paths = new Map();
        inside.set(outer, paths);
      }
      let path = paths.get(key);
      if (path === undefined) {
        path = parents.push(outer) - 1;
        keys.push(key);
        paths.set(key, path);
      }
      return path;
    };
    const waiting: number[] = [];
    for (let frame = 0; frame < frames; frame++) {
      let at = frame;
      while (at >= 0 && of[at]! < 0) {
        waiting.push(at);
        at = parent[at]!;
      }
      for (let inner = waiting.pop(); inner !== undefined; inner = waiting.pop()) {
        const outer = parent[inner]!;
        of[inner] = take(outer < 0 ? -1 : of[outer]!, key[inner]!);
      }
    }
    this.parent = Int32Array.from(parents);
    this.key = Int32Array.from(keys);
    const size = this.key.length;
    this.self = new Float64Array(size);
    this.count = new Int32Array(size);
    for (let frame = 0; frame < frames; frame++) {
      const path = of[frame]!;
      this.self[path]! += self[frame]!;
      this.count[path]! += count[frame]!;
    }
    this.total = total ?? this.self.slice();
    for (let path = total ? -1 : size - 1; path >= 0; path--) {
      const outer = this.parent[path]!;
      if (outer >= 0) this.total[outer]! += this.total[path]!;
    }
  }

  get size(): number {
    return this.key.length;
  }

  /** Children of a place by time; equal times by key. */
  heaviestFirst(): { of(parent: number): Int32Array } {
    const { parent, total, key } = this;
    const first = new Int32Array(this.size + 2);
    for (const outer of parent) first[outer + 2]!++;
    for (let i = 1; i < first.length; i++) first[i]! += first[i - 1]!;
    const next = first.slice();
    const members = new Int32Array(this.size);
    parent.forEach((outer, path) => {
      members[next[outer + 1]!++] = path;
    });
    const heavier = (a: number, b: number) => total[b]! - total[a]! || key[a]! - key[b]!;
    return { of: (outer) => members.subarray(first[outer + 1]!, first[outer + 2]!).sort(heavier) };
  }
}

export function placesOf(tree: MergedTree, key: number): number[] {
  const places: number[] = [];
  tree.key.forEach((own, place) => {
    if (own === key) places.push(place);
  });
  return places;
}

/** Callers of some places as a tree: a caller is inside the place it calls, the weighed places are at the top. */
export function callers(
  tree: MergedTree,
  places: readonly number[],
  weight: Float64Array,
): CallFrames {
  const frames: Frame[] = [];
  for (const place of places) {
    let inner = -1;
    for (let at = place; at >= 0; at = tree.parent[at]!) {
      const self = tree.parent[at]! < 0 ? weight[place]! : 0;
      inner = frames.push([inner, tree.key[at]!, self, tree.count[place]!]) - 1;
    }
  }
  return columnsOf(frames);
}

type Frame = readonly [parent: number, key: number, self: number, count: number];

function columnsOf(frames: readonly Frame[]): CallFrames {
  return {
    parent: Int32Array.from(frames, ([parent]) => parent),
    key: Int32Array.from(frames, ([, key]) => key),
    self: Float64Array.from(frames, ([, , self]) => self),
    count: Int32Array.from(frames, ([, , , count]) => count),
  };
}

/** Callees of some places: their subtrees, merged by key at the top. */
export function callees(tree: MergedTree, places: readonly number[]): CallFrames {
  const frame = new Int32Array(tree.size).fill(-1);
  const frames: Frame[] = [];
  const tops = new Set(places);
  for (let place = 0; place < tree.size; place++) {
    const outer = tree.parent[place]! < 0 ? -1 : frame[tree.parent[place]!]!;
    if (outer < 0 && !tops.has(place)) continue;
    frame[place] =
      frames.push([outer, tree.key[place]!, tree.self[place]!, tree.count[place]!]) - 1;
  }
  return columnsOf(frames);
}

/** The places without ancestors among the others: a recursive call counts once. */
export function outermost(tree: MergedTree, places: readonly number[]): number[] {
  const all = new Set(places);
  return places.filter((place) => tree.path(place).filter((outer) => all.has(outer)).length === 1);
}
