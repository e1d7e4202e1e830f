import { addTo, append, smallest } from "../../shared/many.ts";
import {
  type Confidence,
  confidence,
  type SliceSums,
  summing,
  sumsBy,
  type TimeRange,
} from "./aggregate.ts";
import { sliceFrames } from "./frames.ts";
import { byKey, type KeyNames, type KeyOf, NO_GROUP } from "./key_names.ts";
import { callers, MergedTree, placesOf } from "./merged_tree.ts";
import { percentiles } from "./quantiles.ts";
import type { Slices } from "./slices.ts";
import type { TableBy } from "./state.ts";

/** Durations of slices inside the range; NaN without any. */
export interface DurationSpread extends Confidence {
  mean: number;
  p50: number;
  p90: number;
}

/** One row of a table: a sum of time and its breakdown. */
export interface ByRow {
  readonly id: string;
  readonly label: string;
  /** Op kind; "" for none or several. */
  readonly kind: string;
  /** Work of the model; other rows have no share, and come last. */
  readonly isWork: boolean;
  /** Self time in the range, and number of slices that touch it. */
  readonly ns: number;
  readonly count: number;
  readonly nodes: readonly number[];
  /** Operators of the row, if any. */
  readonly operators: readonly number[];
  /** True if all slices of its nodes are its own: then their repeats give its time. */
  readonly isWhole: boolean;
  /** Calls back with the row's slices that touch the range; null if they cannot be separated. */
  readonly eachSlice: ((see: (slice: number) => void) => void) | null;
  /** A slice of it, or -1. */
  readonly slice: number;
  /** Rows below it, or null. */
  readonly inside: (() => ByRow[]) | null;
}

export interface SumTable {
  readonly rows: ByRow[];
  readonly total: number;
  /** Slices of inputs and parameters that take no time, which are left out. */
  readonly idle: number;
  /** Number of nodes that have a time but no slice. */
  readonly alone: number;
  /** Rows share slices, so their times exceed the total. */
  readonly overlap: boolean;
  spread(row: ByRow): DurationSpread;
}

/** Number of rows whose spread is computed before they are shown. */
const FIRST = 60;

/** Sums up times by any grouping, with pauses. */
export function* summedBy(
  by: TableBy,
  slices: Slices,
  called: KeyNames,
  range: TimeRange | null,
): Generator<void, ByRows> {
  const { operators } = called;
  const key = called.ran((slice) => operators.of(slice));
  const sums = yield* summing(slices, range, operators.size, key);
  const table = new ByRows(by, slices, called, range, sums);
  for (const row of table.rows.slice(0, FIRST)) {
    yield;
    table.spread(row);
  }
  return table;
}

/** Times of a range by any grouping. */
export class ByRows implements SumTable {
  readonly rows: ByRow[];
  readonly total: number;
  readonly idle: number;
  readonly alone: number;
  readonly overlap: boolean;
  readonly #slices: Slices;
  readonly #called: KeyNames;
  readonly #sums: SliceSums;
  readonly #spreads = new Map<string, DurationSpread>();
  #tree: MergedTree | null = null;
  #members: [first: Int32Array, slices: Int32Array] | null = null;

  /** @param sums Sums by operator, if known. */
  constructor(
    by: TableBy,
    slices: Slices,
    called: KeyNames,
    readonly range: TimeRange | null,
    sums?: SliceSums,
  ) {
    this.#slices = slices;
    this.#called = called;
    this.#sums = sums ?? this.#sumsBy(called.operators.size, (slice) => called.operators.of(slice));
    const alone = range ? [] : called.alone(this.#sums);
    this.alone = alone.length;
    if (by !== "name" && by !== "callers") {
      for (const node of alone) this.#sums.self[node] = slices.columns.nodeNs[node]!;
    }
    this.idle = called.idle(range);
    this.total = this.#sums.self.reduce(
      (sum, ns, operator) => (called.operators.noWork(operator) ? sum : sum + ns),
      0,
    );
    if (!range && (by === "name" || by === "callers")) {
      for (const node of alone) this.total += slices.columns.nodeNs[node]!;
    }
    const rows = this.#make(by).sort((a, b) => b.ns - a.ns || a.slice - b.slice);
    this.rows = [...rows.filter(({ isWork }) => isWork), ...rows.filter(({ isWork }) => !isWork)];
    this.overlap =
      by === "part" && this.#used().some((operator) => called.parts(operator).length > 1);
  }

  #sumsBy(size: number, key: KeyOf): SliceSums {
    return sumsBy(this.#slices, this.range, size, this.#called.ran(key));
  }

  /** Slices merged by their path; made on first use. */
  get tree(): MergedTree {
    this.#tree ??= new MergedTree(sliceFrames(this.#slices, this.#called.operators, this.range));
    return this.#tree;
  }

  spread(row: ByRow): DurationSpread {
    const known = this.#spreads.get(row.id);
    if (known) return known;
    const spread = this.#spread(row);
    this.#spreads.set(row.id, spread);
    return spread;
  }

  #make(by: TableBy): ByRow[] {
    const called = this.#called;
    if (by === "kind") return this.#sorted((operator) => [called.kind(operator)]);
    if (by === "part") return this.#sorted((operator) => called.parts(operator));
    if (by === "group") return this.#groups(-1);
    if (by === "module") return this.#sorted((operator) => [called.module(operator)]);
    if (by === "device") return this.#devices();
    if (by === "name") return this.#names();
    const single = this.#operators(this.#used());
    if (by === "node") return single;
    return single.map((row) => ({ ...row, inside: this.#callers(row) }));
  }

  #used({ self, count } = this.#sums): number[] {
    const times: number[] = [];
    self.forEach((ns, operator) => {
      if (ns > 0 || count[operator]!) times.push(operator);
    });
    return times;
  }

  #operators(operators: readonly number[], sums = this.#sums, id = ""): ByRow[] {
    return operators
      .map((operator) => ({
        id: `${id}${operator}`,
        label: this.#called.title(operator),
        kind: this.#called.kind(operator),
        isWork: !this.#called.operators.noWork(operator),
        ns: sums.self[operator]!,
        count: sums.count[operator]!,
        nodes: this.#called.nodes(operator),
        operators: [operator],
        isWhole: sums.count[operator] === this.#sums.count[operator],
        eachSlice: this.#eachOf([operator]),
        slice: sums.slice[operator]!,
        inside: null,
      }))
      .sort((a, b) => b.ns - a.ns || a.slice - b.slice);
  }

  /** Rows of operators by one or several labels. */
  #sorted(words: (operator: number) => readonly string[]): ByRow[] {
    const byWord = new Map<string, number[]>();
    for (const operator of this.#used()) {
      for (const word of new Set(words(operator))) addTo(byWord, word, operator);
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
      isWork: members.some((operator) => !this.#called.operators.noWork(operator)),
      ns: members.reduce((sum, operator) => sum + this.#sums.self[operator]!, 0),
      count: members.reduce((sum, operator) => sum + this.#sums.count[operator]!, 0),
      nodes: [...new Set(members.flatMap((operator) => this.#called.nodes(operator)))],
      operators: members,
      isWhole: true,
      eachSlice: this.#eachOf(members),
      slice: slices.length ? smallest(slices.slice(0, 1000)) : -1,
      inside: inside ?? (() => this.#operators(members, this.#sums, `${id} `)),
    };
  }

  #groups(around: number): ByRow[] {
    const { graph, operators } = this.#called;
    const byGroup = new Map<number, number[]>();
    const apart: number[] = [];
    for (const operator of this.#used()) {
      if (operators.noWork(operator)) {
        apart.push(operator);
        continue;
      }
      let inner = this.#called.innermost(operator);
      let below = -1;
      while (inner >= 0 && inner !== around) {
        below = inner;
        inner = graph!.groupParent[inner]!;
      }
      if (inner !== around) continue;
      addTo(byGroup, below, operator);
    }
    const loose = byGroup.get(-1) ?? [];
    byGroup.delete(-1);
    const rows = [...byGroup].map(([group, members]) => {
      const label = this.#called.label(operators.size + group);
      return this.#together(`group ${group}`, label, members, () => this.#groups(group));
    });
    if (around >= 0) append(rows, this.#operators(loose, this.#sums, `${around} `));
    else {
      if (loose.length) rows.push(this.#together("no group", NO_GROUP, loose));
      append(rows, this.#operators(apart));
    }
    return rows.sort((a, b) => b.ns - a.ns || a.slice - b.slice);
  }

  #devices(): ByRow[] {
    const { operators, devices } = this.#called;
    const slices = this.#slices;
    const on: KeyOf = (slice, row) =>
      slices.roleOf(slice) ? -1 : devices.of(slices.nodeOf(slice), row.track);
    const apart = this.#used().filter((operator) => operators.noWork(operator));
    const rows = this.#keyed(devices.words, on);
    for (const node of this.#used().filter((operator) => !this.#sums.count[operator])) {
      const at = devices.of(node, -1);
      rows[at]!.nodes.push(node);
      rows[at]!.ns += this.#sums.self[node]!;
    }
    const measured: ByRow[] = rows
      .map((row, device) => ({
        ...row,
        inside: () => {
          const own = this.#sumsBy(operators.size, (slice, track) =>
            on(slice, track) === device ? operators.of(slice) : -1,
          );
          for (const node of row.nodes) {
            if (!this.#sums.count[node]) own.self[node] = this.#sums.self[node]!;
          }
          return this.#operators(this.#used(own), own, `${row.label} `).map((inner) => ({
            ...inner,
            eachSlice: (see: (slice: number) => void) =>
              inner.eachSlice!(
                (slice) =>
                  on(slice, this.#slices.rows[this.#slices.rowOf(slice)]!) === device && see(slice),
              ),
          }));
        },
      }))
      .filter(({ count, ns }) => count || ns);
    return [...measured, ...this.#operators(apart)];
  }

  #names(): ByRow[] {
    const slices = this.#slices;
    const texts = Array.from(slices.names.codes, (_, code) => slices.nameLabel(code) || "no name");
    return this.#keyed(texts, (slice) => this.#slices.nameCodeOf(slice)).filter(
      ({ count }) => count,
    );
  }

  #keyed(labels: readonly string[], key: KeyOf): KeyedRows[] {
    const slices = this.#slices;
    const sums = this.#sumsBy(labels.length, key);
    const [first, members] = byKey(slices, this.range, labels.length, this.#called.ran(key));
    const rowsOf = new Uint32Array(slices.columns.nodeNs.length);
    const nodes = labels.map((_, at) => {
      const own = new Set<number>();
      const calls = new Set<number>();
      for (let i = first[at]!; i < first[at + 1]!; i++) {
        const node = slices.nodeOf(members[i]!);
        if (node >= 0) own.add(node);
        else calls.add(slices.callOf(members[i]!));
      }
      calls.delete(-1);
      for (const call of calls) for (const node of slices.nodesOfCall(call)) own.add(node);
      for (const node of own) rowsOf[node]! += 1;
      return [...own].sort((a, b) => a - b);
    });
    return labels.map((label, at) => ({
      ...{ id: `= ${label}`, label, kind: "", ns: sums.self[at]!, count: sums.count[at]! },
      isWork: sums.slice[at]! < 0 || slices.roleOf(sums.slice[at]!) === 0,
      ...{ nodes: nodes[at]!, operators: [], slice: sums.slice[at]!, inside: null },
      isWhole: !nodes[at]!.some((node) => rowsOf[node]! > 1),
      eachSlice: (see: (slice: number) => void) => {
        for (let i = first[at]!; i < first[at + 1]!; i++) see(members[i]!);
      },
    }));
  }

  /** Callers with their part of its self time, or null. */
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
        isWork: !this.#called.operators.noWork(key),
        ...{ ns: tree.total[at]!, count: tree.count[at]!, nodes: this.#called.nodes(key) },
        ...{ operators: [key], isWhole: false, eachSlice: null, slice: this.#sums.slice[key]! },
        inside: tree.inside[at]! < tree.inside[at + 1]! ? () => this.#below(tree, at, path) : null,
      };
    });
  }

  #spread(row: ByRow): DurationSpread {
    const [from, to] = this.range ?? [-Infinity, Infinity];
    const slices = this.#slices;
    const values: number[] = [];
    row.eachSlice?.((slice) => {
      const lasts = slices.durationOf(slice);
      const isInside = slices.startOf(slice) >= from && slices.endOf(slice) <= to;
      if (lasts > 0 && isInside) values.push(lasts);
    });
    const { length } = values;
    const whole = Float64Array.from(values);
    const [p50, p90] = percentiles(whole, [[0, length]], [0.5, 0.9]) as [number, number];
    const mean = whole.reduce((sum, ns) => sum + ns, 0) / (length || Number.NaN);
    const sure = confidence(slices, this.range || !row.isWhole ? [] : row.nodes);
    return { mean, p50, p90, ...sure };
  }

  #eachOf(operators: readonly number[]): ByRow["eachSlice"] {
    return (see) => {
      const { operators: known } = this.#called;
      const key = this.#called.ran((slice) => known.of(slice));
      this.#members ??= byKey(this.#slices, this.range, known.size, key);
      const [first, members] = this.#members;
      for (const operator of operators) {
        for (let i = first[operator]!; i < first[operator + 1]!; i++) see(members[i]!);
      }
    };
  }
}

interface KeyedRows extends ByRow {
  ns: number;
  readonly nodes: number[];
}
