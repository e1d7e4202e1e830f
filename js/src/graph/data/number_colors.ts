import { values as specials } from "../../../../tvmdbg_widgets/figures/tokens.json";
import { type GraphColumns, NodeKind } from "../../shared/client/answers.ts";
import type { Ramp } from "../../shared/drawing/theme.ts";
import { ValueAxis } from "../../shared/drawing/value_axis.ts";
import { integer, percent } from "../../shared/format.ts";
import { membersOf } from "../layout/scene.ts";
import { type ColorShare, type Ground, KindColors } from "./colors.ts";
import { combined, type NumberColumn, valueText } from "./node_columns.ts";
import type { NodeTimes } from "./times.ts";

/** Decades of a symlog scale, and of a logarithmic one that reaches down to zero. */
const DECADES = 3;
const LOG_DECADES = 6;
const TOGETHER = {
  largest: "largest magnitude",
  sum: "sum",
  mean: "mean",
  ratio: "ratio of sums",
} as const;

/** Times of nodes as a column; nodes of a call have the time of the call. */
export function timeColumn(times: NodeTimes): NumberColumn {
  return {
    name: "time",
    of: "nodes",
    values: times.shown,
    sum: (nodes) => times.of(nodes),
    shared: (nodes) => times.shared(nodes).ns,
    unit: "ns",
    scale: "linear",
    range: null,
    together: "sum",
  };
}

/** Positions on the ramp of the bar of a group's own share, and of the share it has in common with nodes outside. */
const SHARE = 0.7;
const SHARED = 0.35;

/**
 * Colors by number. Sums of groups are not on the scale of single nodes: a closed group has a bar with its share of the
 * total, and a paler one for time shared with nodes outside.
 */
export class NumberColors extends KindColors {
  readonly column: NumberColumn;
  readonly ramp: Ramp;
  readonly axis: ValueAxis;
  readonly scale: ValueAxis;
  readonly counts = { known: 0, unknown: 0, under: 0, over: 0, posInf: 0, negInf: 0 };
  /** Value by box; if groups are summed, the largest value inside. */
  readonly #values: Float64Array;
  readonly #largest: Float64Array;
  readonly #isGiven: (node: number) => boolean;
  readonly #total: number;
  readonly #isCall: (nodes: Int32Array) => boolean;
  readonly #together: (nodes: ArrayLike<number>) => string;

  constructor(
    ground: Ground,
    times: NodeTimes,
    column: NumberColumn,
    limits: readonly [low: number, high: number] | null,
  ) {
    super(ground, times);
    const { graph } = ground;
    this.column = column;
    const timed = column.name === "time";
    const ofTimes = timed || column.unit === "×";
    this.#isGiven = (node) => ofTimes && graph.kinds[node]! <= NodeKind.PARAMETER;
    this.#isCall = (nodes) => times.isCall(nodes);
    this.#together = (nodes) => times.together(nodes);
    this.#values = boxValues(ground, column);
    const own = new Float64Array(graph.kinds.length);
    const one = [0];
    let total = 0;
    for (let node = 0; node < own.length; node++) {
      one[0] = node;
      own[node] = column.of === "nodes" ? column.values[node]! : combined(graph, column, one);
      if (own[node]! > 0) total += own[node]! * (graph.nodeCount?.[node] ?? 1);
    }
    this.#total = timed ? times.total : column.together === "sum" ? total : 0;
    const summed = column.together === "sum";
    this.#largest = summed ? largestIn(ground, own) : this.#values;
    const [low, high, positive] = extremes(own, summed ? own : this.#values);
    const ends = this.#ends(column, low, high, positive);
    this.axis = axisOf(column, ends, positive);
    const chosen = limits ?? column.range;
    this.scale = chosen ? axisOf(column, chosen, positive) : this.axis;
    const both = column.scale === "diverging" || (ends[0] < 0 && ends[1] > 0);
    this.ramp = timed ? "heat" : both ? "diverging" : "sequential";
    for (let node = 0; node < own.length; node++) {
      const value = own[node]!;
      const more = graph.nodeCount?.[node] ?? 1;
      if (this.#isGiven(node) && !(value > 0)) continue;
      if (Number.isNaN(value)) this.counts.unknown += more;
      else {
        this.counts.known += more;
        if (!Number.isFinite(value)) this.counts[value > 0 ? "posInf" : "negInf"] += more;
        else if (value < this.scale.low) this.counts.under += more;
        else if (value > this.scale.high) this.counts.over += more;
      }
    }
  }

  value(box: number): number {
    return this.#values[box]!;
  }

  get together(): string {
    return TOGETHER[this.column.together];
  }

  /** Numbers of nodes beyond the scale in words; infinite values have colors of their own. */
  get outside(): { text: string; color: string }[] {
    const { under, over, posInf, negInf } = this.counts;
    const rows = [
      [under, "below", ""],
      [over, "above", ""],
      [posInf, "+Inf", specials.posInf],
      [negInf, "−Inf", specials.negInf],
    ] as const;
    return rows
      .filter(([count]) => count)
      .map(([count, word, color]) => ({ text: `${integer(count)} ${word}`, color }));
  }

  /** The quantity in the legend. */
  get title(): string {
    const { name } = this.column;
    if (!this.counts.known) return `no known ${name}`;
    return name === "time" ? "time per operator" : name;
  }

  color(value: number): string {
    if (!Number.isFinite(value)) return value > 0 ? specials.posInf : specials.negInf;
    return this.ground.palette.ramp(this.ramp, this.scale.share(value));
  }

  text(value: number): string {
    return valueText(value, this.column.unit);
  }

  override flat(box: number): string {
    return this.#fill(box, this.#largest[box]!) ?? this.ground.palette.hatched;
  }

  override face(box: number): string | null {
    return this.#isSum(box) ? null : this.#fill(box, this.#values[box]!);
  }

  override parts(box: number): readonly ColorShare[] {
    if (!this.#isSum(box)) return super.parts(box);
    const { palette } = this.ground;
    const nodes = nodesIn(this.ground, this.column, box);
    const of = (ns = Number.NaN) => (this.#total > 0 ? Math.max(0, ns / this.#total || 0) : 0);
    const share = of(combined(this.ground.graph, this.column, nodes));
    const shared = Math.min(1 - share, of(this.column.shared?.(nodes)));
    const parts: ColorShare[] = [
      [palette.ramp(this.ramp, SHARE), share],
      [palette.ramp(this.ramp, SHARED), shared],
      [palette.hatched, 1 - share - shared],
    ];
    return parts.filter(([, width], row) => width > 0 || row !== 1);
  }

  override isUnknown(box: number): boolean {
    if (!this.counts.known) return false;
    return Number.isNaN(this.#values[box]!) && !this.#isGiven(this.node(box));
  }

  override rank(box: number): number {
    const value = this.#largest[box]!;
    if (Number.isNaN(value)) return Number.NEGATIVE_INFINITY;
    return this.ramp === "diverging" ? Math.abs(value) : value;
  }

  override entry(entry: number): string {
    const { name, of, values } = this.column;
    const value = values[entry]!;
    return of === "nodes" || name === "bytes" || Number.isNaN(value) ? "" : this.text(value);
  }

  override words(box: number): string | null {
    if (!this.counts.known) return null;
    return this.column.name === "time" ? this.ground.scene.text(box).time : super.words(box);
  }

  override meaningOf(nodes: ArrayLike<number>): string {
    const shared = this.column.sum ? this.#together(nodes) : "";
    const value =
      shared && nodes.length === 1 ? Number.NaN : combined(this.ground.graph, this.column, nodes);
    if (shared && !(value > 0)) return shared;
    if (Number.isNaN(value)) return `${this.column.name} unknown`;
    const share = this.#total > 0 && value > 0 ? ` · ${percent(value / this.#total)}` : "";
    return [`${this.text(value)}${share}`, shared].filter(Boolean).join(", ");
  }

  /** True for the sum of several nodes, unless it is the time of a single call. */
  #isSum(box: number): boolean {
    const group = this.ground.scene.group[box]!;
    if (this.column.together !== "sum" || group < 0) return false;
    return !this.column.sum || !this.#isCall(nodesOf(this.ground.graph, group));
  }

  #fill(box: number, value: number): string | null {
    return Number.isNaN(value) || (this.#isGiven(this.node(box)) && !(this.#values[box]! > 0))
      ? null
      : this.color(value);
  }

  #ends(column: NumberColumn, low: number, high: number, positive: number): [number, number] {
    if (!(low <= high)) return [0, 1];
    if (column.scale === "log" && high > 0) return [positive, high];
    if (column.scale === "diverging" || (low < 0 && high > 0)) {
      const most = Math.max(Math.abs(low), Math.abs(high));
      return [-most, most];
    }
    return column.together === "sum" && low >= 0 ? [0, high] : [low, high];
  }
}

function axisOf(
  { scale }: NumberColumn,
  [low, high]: readonly [number, number],
  positive: number,
): ValueAxis {
  if (scale === "log" && high > 0) {
    const least = low > 0 ? low : Math.max(Math.min(positive, high), high / 10 ** LOG_DECADES);
    return new ValueAxis("log", least, high);
  }
  const kind = scale === "diverging" ? "linear" : scale === "log" ? "symlog" : scale;
  const linear = Math.max(Math.abs(low), Math.abs(high)) / 10 ** DECADES;
  return new ValueAxis(kind, low, high, linear);
}

/** The least and largest finite values, and the least above zero. */
function extremes(...all: readonly Float64Array[]): [low: number, high: number, positive: number] {
  let [low, high, positive] = [Infinity, -Infinity, Infinity];
  for (const values of all) {
    for (let row = 0; row < values.length; row++) {
      const value = values[row]!;
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
      if (value > 0 && value < positive) positive = value;
    }
  }
  return [low, high, positive];
}

function largestIn({ scene }: Ground, values: Float64Array): Float64Array {
  return Float64Array.from({ length: scene.count }, (_, box) => {
    let most = Number.NaN;
    const members = membersOf(scene, box);
    for (let row = 0; row < members.length; row++) {
      const value = values[members[row]!]!;
      if (!(value <= most) && !Number.isNaN(value)) most = value;
    }
    return most;
  });
}

function boxValues(ground: Ground, column: NumberColumn): Float64Array {
  const { graph, scene } = ground;
  const values = new Float64Array(scene.count);
  for (let box = 0; box < scene.count; box++) {
    const nodes = nodesIn(ground, column, box);
    const value = combined(graph, column, nodes);
    const shared = value > 0 ? Number.NaN : (column.shared?.(nodes) ?? Number.NaN);
    values[box] = Number.isNaN(shared) ? value : shared;
  }
  return values;
}

function nodesIn({ graph, scene }: Ground, column: NumberColumn, box: number): Int32Array {
  const group = column.sum ? scene.group[box]! : -1;
  return group < 0 ? membersOf(scene, box) : nodesOf(graph, group);
}

function nodesOf({ groupOrder, groupStart, groupEnd }: GraphColumns, group: number): Int32Array {
  return groupOrder.subarray(groupStart[group]!, groupEnd[group]!);
}
