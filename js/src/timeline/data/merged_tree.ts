/** What is merged: frames by number, each inside another or at the top (-1), of a key, with a time of its own. */
export interface CallFrames {
  /** The frame around each, -1 at the top. */
  readonly parent: Int32Array;
  /** Frames inside one parent that have the same key become one. */
  readonly key: Int32Array;
  /** Own time without the frames inside, nanoseconds. */
  readonly self: Float64Array;
  /** How many slices each stands for. */
  readonly count: Int32Array;
}

/** What pictures of a merged tree are made of: places level by level, by start. */
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

/** Frames merged by path, heaviest first, numbered level by level, so that the places inside one are an interval. */
export class MergedTree implements TreePlaces {
  readonly parent: Int32Array;
  readonly key: Int32Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
  readonly count: Int32Array;
  readonly depth: Uint16Array;
  /** Where a place begins, nanoseconds from the left. */
  readonly start: Float64Array;
  /** The places inside place p are [inside[p], inside[p + 1]). */
  readonly inside: Int32Array;
  /** Places of level l are [levels[l], levels[l + 1]). */
  readonly levels: Int32Array;
  /** The place of each frame. */
  readonly placeOf: Int32Array;

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
    this.placeOf = paths.of.map((path) => place[path]!);
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

  /** The places around one and itself, from the top. */
  path(place: number): number[] {
    const found: number[] = [];
    for (let at = place; at >= 0; at = this.parent[at]!) found.push(at);
    return found.reverse();
  }

  /** The place of a level that holds this time, -1 where there is none. */
  at(level: number, ns: number): number {
    let [low, high] = [this.levels[level] ?? 0, this.levels[level + 1] ?? 0];
    const first = low;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.start[middle]! <= ns) low = middle + 1;
      else high = middle;
    }
    const found = low - 1;
    return found >= first && ns < this.start[found]! + this.total[found]! ? found : -1;
  }
}

class Paths {
  readonly of: Int32Array;
  readonly parent: Int32Array;
  readonly key: Int32Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
  readonly count: Int32Array;

  constructor({ parent, key, self, count }: CallFrames) {
    const frames = key.length;
    this.of = new Int32Array(frames).fill(-1);
    const table = new PathTable(Math.min(frames, 1 << 12));
    const waiting: number[] = [];
    for (let frame = 0; frame < frames; frame++) {
      let at = frame;
      while (at >= 0 && this.of[at]! < 0) {
        waiting.push(at);
        at = parent[at]!;
      }
      for (let inner = waiting.pop(); inner !== undefined; inner = waiting.pop()) {
        const outer = parent[inner]!;
        this.of[inner] = table.take(outer < 0 ? -1 : this.of[outer]!, key[inner]!);
      }
    }
    this.parent = table.parents;
    this.key = table.keys;
    const size = this.key.length;
    this.self = new Float64Array(size);
    this.count = new Int32Array(size);
    for (let frame = 0; frame < frames; frame++) {
      const path = this.of[frame]!;
      this.self[path]! += self[frame]!;
      this.count[path]! += count[frame]!;
    }
    this.total = this.self.slice();
    for (let path = size - 1; path >= 0; path--) {
      const outer = this.parent[path]!;
      if (outer >= 0) this.total[outer]! += this.total[path]!;
    }
  }

  get size(): number {
    return this.key.length;
  }

  /** The paths inside each, by time; equal times: by key. */
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

/** Numbers pairs (parent path, key) in the order they come: parents have smaller numbers. */
class PathTable {
  #slots: Int32Array;
  #parents: Int32Array;
  #keys: Int32Array;
  #size = 0;

  constructor(room: number) {
    const slots = 1 << Math.ceil(Math.log2(Math.max(8, room * 2)));
    this.#slots = new Int32Array(slots).fill(-1);
    this.#parents = new Int32Array(slots / 2);
    this.#keys = new Int32Array(slots / 2);
  }

  get parents(): Int32Array {
    return this.#parents.slice(0, this.#size);
  }

  get keys(): Int32Array {
    return this.#keys.slice(0, this.#size);
  }

  take(parent: number, key: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash(parent, key) & mask;
    for (let path = this.#slots[slot]!; path >= 0; path = this.#slots[slot]!) {
      if (this.#parents[path] === parent && this.#keys[path] === key) return path;
      slot = (slot + 1) & mask;
    }
    if (this.#size === this.#parents.length) {
      this.#grow();
      return this.take(parent, key);
    }
    const path = this.#size++;
    this.#parents[path] = parent;
    this.#keys[path] = key;
    this.#slots[slot] = path;
    return path;
  }

  #grow(): void {
    const size = this.#slots.length * 4;
    this.#slots = new Int32Array(size).fill(-1);
    this.#parents = grown(this.#parents, size / 2);
    this.#keys = grown(this.#keys, size / 2);
    for (let path = 0; path < this.#size; path++) {
      let slot = hash(this.#parents[path]!, this.#keys[path]!) & (size - 1);
      while (this.#slots[slot]! >= 0) slot = (slot + 1) & (size - 1);
      this.#slots[slot] = path;
    }
  }
}

function grown(values: Int32Array, length: number): Int32Array {
  const more = new Int32Array(length);
  more.set(values);
  return more;
}

function hash(parent: number, key: number): number {
  const mixed = Math.imul(parent + 1, 0x9e3779b1) ^ Math.imul(key + 1, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export function placesOf(tree: MergedTree, key: number): number[] {
  const found: number[] = [];
  tree.key.forEach((each, place) => {
    if (each === key) found.push(place);
  });
  return found;
}

/** Of some places the way up: each inside the one that it calls, what is weighed at the top of the tree. */
export function callers(
  tree: MergedTree,
  places: readonly number[],
  weight: Float64Array,
): CallFrames {
  const [parent, key, self, count]: number[][] = [[], [], [], []];
  for (const place of places) {
    let inner = -1;
    for (let at = place; at >= 0; at = tree.parent[at]!) {
      parent!.push(inner);
      inner = key!.push(tree.key[at]!) - 1;
      const isLast = tree.parent[at]! < 0;
      self!.push(isLast ? weight[place]! : 0);
      count!.push(tree.count[place]!);
    }
  }
  return {
    parent: Int32Array.from(parent!),
    key: Int32Array.from(key!),
    self: Float64Array.from(self!),
    count: Int32Array.from(count!),
  };
}

/** Of some places what they call: each subtree, all of one key at the top. */
export function callees(tree: MergedTree, places: readonly number[]): CallFrames {
  const frame = new Int32Array(tree.size).fill(-1);
  const [parent, key, self, count]: number[][] = [[], [], [], []];
  const tops = new Set(places);
  for (let place = 0; place < tree.size; place++) {
    const outer = tree.parent[place]! < 0 ? -1 : frame[tree.parent[place]!]!;
    if (outer < 0 && !tops.has(place)) continue;
    frame[place] = key!.push(tree.key[place]!) - 1;
    parent!.push(outer);
    self!.push(tree.self[place]!);
    count!.push(tree.count[place]!);
  }
  return {
    parent: Int32Array.from(parent!),
    key: Int32Array.from(key!),
    self: Float64Array.from(self!),
    count: Int32Array.from(count!),
  };
}

/** Those of the places that no other is around: where a name calls itself its time counts once. */
export function outermost(tree: MergedTree, places: readonly number[]): number[] {
  const all = new Set(places);
  return places.filter(
    (place) =>
      !tree
        .path(place)
        .slice(0, -1)
        .some((each) => all.has(each)),
  );
}
