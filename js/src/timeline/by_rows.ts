import { type Range, type Sums, sumsBy } from "./aggregate.ts";
import type { Called } from "./called.ts";
import { sliceFrames } from "./frames.ts";
import { type Frames, MergedTree } from "./merged_tree.ts";
import { percentiles } from "./quantiles.ts";
import type { Slices } from "./slices.ts";
import type { TableBy } from "./state.ts";
import { operatorSums } from "./sums.ts";

/** Whole durations of slices that lie in the range, or the repeats of a node. */
export interface Spread {
  mean: number;
  p50: number;
  p90: number;
  /** 95 % confidence interval of the mean; NaN unknown. */
  low: number;
  high: number;
  noisy: boolean;
  /** Of how many repeats; 0: of slices. */
  repeats: number;
}

/** One row of a table: what its time is of, and what lies below it. */
export interface ByRow {
  readonly id: string;
  readonly label: string;
  /** Op kind, "" where there is none or several. */
  readonly kind: string;
  /** Own time in the range, and how many slices touch it. */
  readonly ns: number;
  readonly count: number;
  readonly nodes: readonly number[];
  /** Operators that it stands for; empty where it is none. */
  readonly operators: readonly number[];
  /** A slice of it, -1 none. */
  readonly slice: number;
  /** The rows below, null where there are none. */
  readonly inside: (() => ByRow[]) | null;
}

/** Times of a range summed up by anything. */
export class ByRows {
  readonly rows: ByRow[];
  /** Own time of all slices in the range. */
  readonly total: number;
  /** Rows share slices: their times add up to more than the total. */
  readonly overlap: boolean;
  readonly range: Range | null;
  readonly #slices: Slices;
  readonly #called: Called;
  readonly #sums: Sums;
  readonly #spreads = new Map<string, Spread>();
  #tree: MergedTree | null = null;
  #members: [first: Int32Array, slices: Int32Array] | null = null;

  constructor(by: TableBy, slices: Slices, called: Called, range: Range | null) {
    this.#slices = slices;
    this.#called = called;
    this.range = range;
    this.#sums = operatorSums(slices, called.operators, range);
    this.total = this.#sums.self.reduce((sum, ns) => sum + ns, 0);
    this.rows = this.#make(by).sort((a, b) => b.ns - a.ns || a.slice - b.slice);
    this.overlap =
      by === "part" && this.rows.reduce((sum, { ns }) => sum + ns, 0) > this.total * (1 + 1e-9);
  }

  /** The slices merged by their path; made when first asked for. */
  get tree(): MergedTree {
    this.#tree ??= new MergedTree(sliceFrames(this.#slices, this.#called.operators, this.range));
    return this.#tree;
  }

  spread(row: ByRow): Spread {
    const known = this.#spreads.get(row.id);
    if (known) return known;
    const found = this.#spread(row);
    this.#spreads.set(row.id, found);
    return found;
  }

  #make(by: TableBy): ByRow[] {
    const called = this.#called;
    if (by === "kind") return this.#sorted((operator) => [called.kind(operator)]);
    if (by === "part") return this.#sorted((operator) => called.parts(operator));
    if (by === "group") return this.#groups(-1);
    if (by === "device") return this.#devices();
    if (by === "name") return this.#names();
    const single = this.#operators(this.#used());
    if (by === "node") return single;
    return single.map((row) => ({ ...row, inside: this.#callers(row) }));
  }

  #used(): number[] {
    const found: number[] = [];
    this.#sums.self.forEach((ns, operator) => {
      const ran = this.#sums.count[operator]! > 0 && this.#called.isRun(operator);
      if (ns > 0 || ran) found.push(operator);
    });
    return found;
  }

  #operators(operators: readonly number[], sums = this.#sums, id = ""): ByRow[] {
    return operators
      .map((operator) => ({
        id: `${id}${operator}`,
        label: this.#called.title(operator),
        kind: this.#called.kind(operator),
        ns: sums.self[operator]!,
        count: sums.count[operator]!,
        nodes: this.#called.nodes(operator),
        operators: [operator],
        slice: sums.slice[operator]!,
        inside: null,
      }))
      .sort((a, b) => b.ns - a.ns || a.slice - b.slice);
  }

  /** Rows of operators by one or several words each. */
  #sorted(words: (operator: number) => readonly string[]): ByRow[] {
    const byWord = new Map<string, number[]>();
    for (const operator of this.#used()) {
      for (const word of new Set(words(operator))) {
        const members = byWord.get(word);
        if (members) members.push(operator);
        else byWord.set(word, [operator]);
      }
    }
    return [...byWord].map(([word, members]) => this.#together(word, word, members));
  }

  #together(id: string, label: string, members: number[], inside?: () => ByRow[]): ByRow {
    const kinds = new Set(members.map((operator) => this.#called.kind(operator)));
    const slices = members.map((operator) => this.#sums.slice[operator]!).filter((at) => at >= 0);
    return {
      id: `= ${id}`,
      label,
      kind: kinds.size === 1 ? [...kinds][0]! : "",
      ns: members.reduce((sum, operator) => sum + this.#sums.self[operator]!, 0),
      count: members.reduce((sum, operator) => sum + this.#sums.count[operator]!, 0),
      nodes: members.flatMap((operator) => this.#called.nodes(operator)),
      operators: members,
      slice: slices.length ? Math.min(...slices.slice(0, 1000)) : -1,
      inside: inside ?? (() => this.#operators(members, this.#sums, `${id} `)),
    };
  }

  /** Groups directly inside one (-1: at the top), and the operators that are in none of them. */
  #groups(around: number): ByRow[] {
    const { graph, operators } = this.#called;
    const byGroup = new Map<number, number[]>();
    for (const operator of this.#used()) {
      let inner = graph?.nodeGroup[operators.node(operator)] ?? -1;
      if (operators.node(operator) < 0) inner = -1;
      let below = -1;
      while (inner >= 0 && inner !== around) {
        below = inner;
        inner = graph!.groupParent[inner]!;
      }
      if (inner !== around) continue;
      const members = byGroup.get(below);
      if (members) members.push(operator);
      else byGroup.set(below, [operator]);
    }
    const loose = byGroup.get(-1) ?? [];
    byGroup.delete(-1);
    const rows = [...byGroup].map(([group, members]) => {
      const label = this.#called.label(operators.size + group);
      return this.#together(`group ${group}`, label, members, () => this.#groups(group));
    });
    if (around >= 0) rows.push(...this.#operators(loose, this.#sums, `${around} `));
    else if (loose.length) rows.push(this.#together("no group", "in no group", loose));
    return rows.sort((a, b) => b.ns - a.ns || a.slice - b.slice);
  }

  #devices(): ByRow[] {
    const { operators } = this.#called;
    const words = this.#slices.tracks.map(
      ({ number, name }) => this.#slices.columns.trackDevice.at(number) || name,
    );
    const table = [...new Set(words)];
    const ofTrack = words.map((word) => table.indexOf(word));
    const sums = sumsBy(this.#slices, this.range, table.length, (_, row) => ofTrack[row.track]!);
    return table.map((label, device) => ({
      id: `= ${label}`,
      label,
      kind: "",
      ns: sums.self[device]!,
      count: sums.count[device]!,
      nodes: [],
      operators: [],
      slice: sums.slice[device]!,
      inside: () => {
        const key = (slice: number, { track }: { track: number }) =>
          ofTrack[track] === device ? operators.of(slice) : -1;
        const own = sumsBy(this.#slices, this.range, operators.size, key);
        const used = [...own.count.keys()].filter((operator) => own.count[operator]);
        return this.#operators(used, own, `${label} `);
      },
    }));
  }

  #names(): ByRow[] {
    const slices = this.#slices;
    const sums = sumsBy(slices, this.range, slices.names.length, (at) => slices.nameCodeOf(at));
    const rows: ByRow[] = [];
    sums.count.forEach((count, code) => {
      if (!count) return;
      const label = slices.names.at(code) || "no name";
      const node = slices.nodeOf(sums.slice[code]!);
      rows.push({
        ...{ id: `= ${label}`, label, kind: "", ns: sums.self[code]!, count },
        ...{ nodes: node < 0 ? [] : [node], operators: [], slice: sums.slice[code]!, inside: null },
      });
    });
    return rows;
  }

  /** Who calls it, with the part of its own time that is theirs; null where nobody does. */
  #callers({ operators: [operator], id }: ByRow): (() => ByRow[]) | null {
    const places = () => placesOf(this.tree, operator!);
    if (!this.#slices.nested) return null;
    return () => {
      const tree = new MergedTree(callers(this.tree, places(), this.tree.self));
      return this.#below(tree, 0, id);
    };
  }

  #below(tree: MergedTree, place: number, id: string): ByRow[] {
    const [first, last] = [tree.inside[place] ?? 0, tree.inside[place + 1] ?? 0];
    return Array.from({ length: last - first }, (_, i) => {
      const at = first + i;
      const key = tree.key[at]!;
      const path = `${id} ← ${key}`;
      return {
        ...{ id: path, label: this.#called.title(key), kind: this.#called.kind(key) },
        ...{ ns: tree.total[at]!, count: tree.count[at]!, nodes: this.#called.nodes(key) },
        ...{ operators: [key], slice: this.#sums.slice[key]! },
        inside: tree.inside[at]! < tree.inside[at + 1]! ? () => this.#below(tree, at, path) : null,
      };
    });
  }

  #spread(row: ByRow): Spread {
    const { columns } = this.#slices;
    const node = row.operators.length === 1 ? (row.nodes[0] ?? -1) : -1;
    const repeats = this.range || node < 0 ? 0 : columns.nodeCount[node]!;
    if (repeats > 1) {
      const { nodeNs, nodeP50, nodeP90, nodeLow, nodeHigh, nodeNoisy } = columns;
      return {
        ...{ mean: nodeNs[node]!, p50: nodeP50[node]!, p90: nodeP90[node]!, repeats },
        ...{ low: nodeLow[node]!, high: nodeHigh[node]!, noisy: nodeNoisy[node] === 1 },
      };
    }
    const values = this.#durations(row);
    const [p50, p90] = percentiles(values, [[0, values.length]], [0.5, 0.9]) as [number, number];
    const mean = values.reduce((sum, ns) => sum + ns, 0) / (values.length || Number.NaN);
    return { mean, p50, p90, low: Number.NaN, high: Number.NaN, noisy: false, repeats: 0 };
  }

  /** Of the slices that lie in the range, those of no duration left out. */
  #durations({ operators }: ByRow): Float64Array {
    const slices = this.#slices;
    this.#members ??= this.#byOperator();
    const [first, members] = this.#members;
    const [from, to] = this.range ?? [-Infinity, Infinity];
    const found = new Float64Array(
      operators.reduce((sum, each) => sum + first[each + 1]! - first[each]!, 0),
    );
    let count = 0;
    for (const operator of operators) {
      for (let i = first[operator]!; i < first[operator + 1]!; i++) {
        const slice = members[i]!;
        const lasts = slices.durationOf(slice);
        if (lasts > 0 && slices.startOf(slice) >= from && slices.endOf(slice) <= to)
          found[count++] = lasts;
      }
    }
    return found.subarray(0, count);
  }

  #byOperator(): [first: Int32Array, slices: Int32Array] {
    const { operators } = this.#called;
    const first = new Int32Array(operators.size + 1);
    for (let slice = 0; slice < this.#slices.count; slice++) first[operators.of(slice) + 1]!++;
    for (let i = 1; i < first.length; i++) first[i]! += first[i - 1]!;
    const next = first.slice();
    const slices = new Int32Array(this.#slices.count);
    for (let slice = 0; slice < slices.length; slice++)
      slices[next[operators.of(slice)]!++] = slice;
    return [first, slices];
  }
}

export function placesOf(tree: MergedTree, key: number): number[] {
  const found: number[] = [];
  tree.key.forEach((each, place) => {
    if (each === key) found.push(place);
  });
  return found;
}

/** Of some places the way up: each inside the one that it calls, what is weighed at the top of the tree. */
export function callers(tree: MergedTree, places: readonly number[], weight: Float64Array): Frames {
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
export function callees(tree: MergedTree, places: readonly number[]): Frames {
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
