import { Viewport } from "../shared/drawing/canvas.ts";
import { type Along, ROUND, type TuningData } from "./data.ts";
import { Axis, BEHIND, HIDDEN, IN_FRONT, SlotSums } from "./trial_points.ts";

/** Room around the plot, CSS px. */
export const LEFT = 72;
export const RIGHT = 46;
const TOP = 8;
/** The lane of failed trials above the plot. */
export const LANE = 14;
const TICKS = 20;
export const STRIP = 44;
const BELOW = 6;
/** Largest distance of the pointer from its trial. */
const NEAR = 14;
const LEAST_BIN = 4;
/** Bins of the strip over time. */
const TIME_BINS = 96;
/** Scale of an empty chart. */
const NO_COSTS: [low: number, high: number] = [1e-4, 1e-1];

export interface PlotEdges {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** One bar of the error strip: its range of the x axis, and trials by slot. */
export interface StripBin {
  from: number;
  to: number;
  trials: number;
  /** Number of trials in the foreground without a query. */
  all: number;
  slots: Int32Array;
}

/** Geometry of the chart of costs: trials over their number or over time, on a logarithmic scale. */
export class TrialScene {
  along: Along = "trial";
  /** Current task, or -1 for all. */
  task = -1;
  /** Current trial, or -1. */
  trial = -1;
  hovered = -1;
  /** 1 for matches of the query; null without a query. */
  chosen: Uint8Array | null = null;
  range: [first: number, end: number] | null = null;
  /** Dragged range, in values of the axis. */
  dragged: [from: number, to: number] | null = null;
  width = 0;
  height = 0;
  readonly #viewports: Record<Along, Viewport>;
  /** log10 of the cheapest and the most expensive trial, with room around them. */
  #costs: [low: number, high: number] | null = null;
  #layers: Uint8Array | null = null;
  #levels: Float64Array | null = null;
  readonly #axes: Partial<Record<Along, Axis>> = {};
  #sums: Partial<Record<Along, { found: SlotSums; all: SlotSums }>> = {};
  #bins: { key: string; bins: StripBin[] } | null = null;
  #marks: { key: string; marks: TrialPoints } | null = null;
  /** True if any trial failed: only then are there a lane and a strip of failures. */
  readonly hasFailures: boolean;

  constructor(readonly data: TuningData) {
    this.hasFailures = data.error.some(Boolean);
    let last = 0;
    for (const time of data.time) if (time > last) last = time;
    this.#viewports = {
      trial: new Viewport(0, Math.max(1, data.count), 4),
      time: new Viewport(0, Math.max(1, last), 1),
    };
  }

  get viewport(): Viewport {
    return this.#viewports[this.along];
  }

  get plot(): PlotEdges {
    const { left, right, top } = this.strip;
    return { left, top: TOP + (this.hasFailures ? LANE : 0), right, bottom: top - TICKS };
  }

  get strip(): PlotEdges {
    const bottom = this.height - BELOW;
    const top = this.hasFailures ? bottom - STRIP : this.height;
    return { left: LEFT, top, right: this.width - RIGHT, bottom: Math.max(top, bottom) };
  }

  /** Layer by trial: in the foreground are the current task's matches of the query. */
  get layers(): Uint8Array {
    if (this.#layers) return this.#layers;
    const { data, task, chosen } = this;
    const layers = new Uint8Array(data.count).fill(IN_FRONT);
    if (task >= 0 || chosen) {
      for (let row = 0; row < layers.length; row++) {
        if (chosen && !chosen[row]) layers[row] = HIDDEN;
        else if (task >= 0 && data.task[row] !== task) layers[row] = BEHIND;
      }
    }
    this.#layers = layers;
    return layers;
  }

  isShown(row: number): boolean {
    return this.layers[row] === IN_FRONT;
  }

  get levels(): Float64Array {
    this.#levels ??= this.data.cost.map(Math.log10);
    return this.#levels;
  }

  /** The trials in the order of the axis. */
  get axis(): Axis {
    const { along } = this;
    this.#axes[along] ??= new Axis(
      along === "time" ? this.data.time : this.data.cost.map((_, row) => this.value(row)),
    );
    return this.#axes[along];
  }

  changed(): void {
    this.#costs = null;
    this.#layers = null;
    this.#sums = {};
    this.#bins = null;
    this.#marks = null;
  }

  value(row: number): number {
    return this.along === "trial" ? row + 0.5 : this.data.time[row]!;
  }

  x(value: number): number {
    const { left, right } = this.plot;
    return left + ((value - this.viewport.start) / this.viewport.span) * (right - left);
  }

  /** Length of the axis. */
  get room(): number {
    const { left, right } = this.plot;
    return Math.max(1, right - left);
  }

  at(x: number): number {
    return this.viewport.start + ((x - this.plot.left) / this.room) * this.viewport.span;
  }

  /** Cost scale of the foreground, log10 of seconds; that of all trials if none of these is valid. */
  get costs(): [low: number, high: number] {
    if (this.#costs) return this.#costs;
    const { layers } = this;
    const span =
      this.#span((row) => layers[row] === IN_FRONT) ?? this.#span(() => true) ?? NO_COSTS;
    let [low, high] = span;
    if (this.task < 0) for (const total of this.data.totals) if (total > high) high = total;
    [low, high] = [Math.log10(low), Math.log10(high)];
    const room = Math.max(0.08, (high - low) * 0.05);
    this.#costs = [low - room, high + room];
    return this.#costs;
  }

  #span(counts: (row: number) => boolean): [low: number, high: number] | null {
    let [low, high] = [Number.POSITIVE_INFINITY, 0];
    const { cost } = this.data;
    for (let row = 0; row < cost.length; row++) {
      const value = cost[row]!;
      if (!(value > 0) || !counts(row)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return high > 0 ? [low, high] : null;
  }

  get hasCosts(): boolean {
    return this.data.info.tasks.some(({ best }) => best !== null);
  }

  y(cost: number): number {
    const [low, high] = this.costs;
    const { top, bottom } = this.plot;
    return bottom - ((Math.log10(cost) - low) / (high - low)) * (bottom - top);
  }

  get laneY(): number {
    return TOP + LANE / 2;
  }

  place(row: number): [x: number, y: number] {
    const { error, cost } = this.data;
    return [this.x(this.value(row)), error[row] ? this.laneY : this.y(cost[row]!)];
  }

  /** The counted trials, as values of the axis; null for all. */
  get rangeValues(): [from: number, to: number] | null {
    return this.range && this.#valuesOf(this.range);
  }

  #valuesOf(trials: readonly [first: number, end: number]): [from: number, to: number] | null {
    if (this.along === "trial") return [...trials];
    const { time, count } = this.data;
    const [first, end] = [Math.max(0, trials[0]), Math.min(count, trials[1])];
    return first < end ? [time[first]!, time[end - 1]!] : null;
  }

  /** Switches the axis; the visible trials stay visible. */
  turn(along: Along): void {
    if (along === this.along) return;
    const { viewport } = this;
    const trials = viewport.all ? null : this.between(viewport.start, viewport.end);
    this.along = along;
    const values = trials && this.#valuesOf(trials);
    if (values?.every(Number.isFinite)) this.viewport.show(...values);
    else this.viewport.showAll();
  }

  /** Index in ascending trials of the last one up to the end of the visible part, or -1. */
  lastInView(rows: Int32Array): number {
    return rows.findLastIndex((row) => this.value(row) <= this.viewport.end);
  }

  /** The trials between two values of the axis, or null. */
  between(from: number, to: number): [first: number, end: number] | null {
    const { count } = this.data;
    let [first, end] = [count, 0];
    for (let row = 0; row < count; row++) {
      const value = this.value(row);
      if (!(value >= from && value <= to)) continue;
      first = Math.min(first, row);
      end = row + 1;
    }
    return first < end ? [first, end] : null;
  }

  /** The foreground trial nearest to a point, or -1 if none is near. */
  hit(x: number, y: number): number {
    let [nearest, least] = [-1, NEAR * NEAR];
    const { axis, layers, viewport, plot, costs, levels, laneY } = this;
    const { error } = this.data;
    const wide = (plot.right - plot.left) / viewport.span;
    const high = (plot.bottom - plot.top) / (costs[1] - costs[0]);
    const end = axis.upTo(this.at(x + NEAR));
    for (let at = axis.before(this.at(x - NEAR)); at < end; at++) {
      const row = axis.rows[at]!;
      if (layers[row] !== IN_FRONT) continue;
      const across = plot.left + (axis.values[at]! - viewport.start) * wide - x;
      const down = (error[row] ? laneY : plot.bottom - (levels[row]! - costs[0]) * high) - y;
      const distance = across * across + down * down;
      if (distance < least) [nearest, least] = [row, distance];
    }
    return nearest;
  }

  get bins(): StripBin[] {
    const key = `${this.along} ${this.#place}`;
    if (this.#bins?.key !== key) {
      this.#bins = { key, bins: this.along === "trial" ? this.#rounds() : this.#periods() };
    }
    return this.#bins.bins;
  }

  #rounds(): StripBin[] {
    const { left, right } = this.plot;
    const shown = (this.viewport.span / Math.max(1, right - left)) * LEAST_BIN;
    const size = ROUND * Math.max(1, Math.ceil(shown / ROUND));
    const bins: StripBin[] = [];
    const end = Math.min(this.data.count, this.viewport.end);
    const begin = Math.max(0, Math.floor(this.viewport.start / size) * size);
    for (let from = begin; from < end; from += size) {
      const to = Math.min(this.data.count, from + size);
      bins.push(this.#bin(from, to, from, to));
    }
    return bins;
  }

  #periods(): StripBin[] {
    const { start, end, span } = this.viewport;
    const edge = (at: number) => (at < TIME_BINS ? start + (at * span) / TIME_BINS : end);
    return Array.from({ length: TIME_BINS }, (_, at) => {
      const [from, to] = [edge(at), edge(at + 1)];
      const after = at + 1 < TIME_BINS ? this.axis.before(to) : this.axis.upTo(to);
      return this.#bin(from, to, this.axis.before(from), after);
    });
  }

  #bin(from: number, to: number, first: number, after: number): StripBin {
    const { found: front, all } = this.#counted;
    const slots = front.count(first, after);
    return { from, to, trials: sum(slots), all: sum(all.count(first, after)), slots };
  }

  get #counted(): { found: SlotSums; all: SlotSums } {
    const { along, axis, task, chosen } = this;
    const known = this.#sums[along];
    if (known) return known;
    const { error, task: taskOf } = this.data;
    const sums = new SlotSums(axis, error, (row) => this.isShown(row));
    const all = chosen
      ? new SlotSums(axis, error, (row) => task < 0 || taskOf[row] === task)
      : sums;
    this.#sums[along] = { found: sums, all };
    return { found: sums, all };
  }

  marks(cell: number): TrialPoints {
    const key = `${this.along} ${this.#place} ${cell}`;
    if (this.#marks?.key !== key) this.#marks = { key, marks: marksOf(this, cell) };
    return this.#marks.marks;
  }

  get #place(): string {
    return `${this.width} ${this.height} ${this.viewport.start} ${this.viewport.end}`;
  }

  binAt(x: number, y: number): StripBin | null {
    const { top, bottom } = this.strip;
    if (y < top || y > bottom) return null;
    const value = this.at(x);
    return this.bins.find(({ from, to }) => value >= from && value < to) ?? null;
  }
}

function sum(counts: Int32Array): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Side of the square of a single trial, px. */
export const POINT = 3;

/** Boxes as left, top, width, height: four numbers per box. */
type Boxes = number[];

/** Marks of all visible trials: one per cell; vertical neighbors form one box. */
export interface TrialPoints {
  cells: number;
  front: Boxes;
  /** Trials of other tasks. */
  behind: Boxes;
  /** Error and x of failed trials: two numbers per trial. */
  failures: number[];
}

/** @param cell Side of a cell, px. */
function marksOf(scene: TrialScene, cell: number): TrialPoints {
  const { plot, axis, layers, levels, viewport, costs } = scene;
  const { error } = scene.data;
  const [wide, high] = [plot.right - plot.left, plot.bottom - plot.top];
  const rows = Math.floor(high / cell) + 1;
  const columns = Math.floor(wide / cell) + 1;
  // By column: 1 + the first trial in front, or -1 - the first behind.
  const cells = new Int32Array(Math.max(0, columns * rows));
  const points: TrialPoints = { cells: 0, front: [], behind: [], failures: [] };
  const lastFailure = new Int32Array(256).fill(-1);
  const across = wide / viewport.span;
  const down = high / (costs[1] - costs[0]);
  const end = axis.upTo(viewport.end);
  for (let at = axis.before(viewport.start); at < end; at++) {
    const row = axis.rows[at]!;
    const layer = layers[row]!;
    if (layer === HIDDEN) continue;
    const x = (axis.values[at]! - viewport.start) * across;
    const column = Math.floor(x / cell);
    const code = error[row]!;
    if (code) {
      if (layer !== IN_FRONT || lastFailure[code] === column) continue;
      lastFailure[code] = column;
      points.failures.push(code, plot.left + x);
      continue;
    }
    const y = (costs[1] - levels[row]!) * down;
    if (!(y >= 0 && y <= high)) continue;
    const place = column * rows + Math.floor(y / cell);
    if (layer === IN_FRONT) {
      if (cells[place]! <= 0) cells[place] = row + 1;
    } else if (!cells[place]) cells[place] = -row - 1;
  }
  // Squares come before all other boxes, so that shapes of one size share a path.
  const alone: Pick<TrialPoints, "front" | "behind"> = { front: [], behind: [] };
  for (let column = 0; column < columns; column++) {
    const first = column * rows;
    for (let from = 0; from < rows; ) {
      const held = cells[first + from]!;
      let to = from + 1;
      if (held) {
        const isFront = held > 0;
        while (to < rows && (isFront ? cells[first + to]! > 0 : cells[first + to]! < 0)) to++;
        points.cells += to - from;
        if (to - from > 1) {
          const boxes = isFront ? points.front : points.behind;
          const [left, top] = [plot.left + column * cell, plot.top + from * cell];
          boxes.push(left, top, cell, (to - from) * cell);
        } else {
          const row = Math.abs(held) - 1;
          const x = plot.left + (scene.value(row) - viewport.start) * across;
          const y = plot.top + (costs[1] - levels[row]!) * down;
          const boxes = isFront ? alone.front : alone.behind;
          boxes.push(x - POINT / 2, y - POINT / 2, POINT, POINT);
        }
      }
      from = to;
    }
  }
  points.front = points.front.concat(alone.front);
  points.behind = points.behind.concat(alone.behind);
  return points;
}

/** The trial `by` places on in the foreground; at the end, the last one. */
export function trialAt(scene: TrialScene, by: number): number | undefined {
  const { count } = scene.data;
  const direction = by < 0 ? -1 : 1;
  const isEnd = !Number.isFinite(by);
  const onward = isEnd ? -direction : direction;
  let at = isEnd ? (by < 0 ? -1 : count) : scene.trial;
  for (at += onward; at >= 0 && at < count; at += onward) if (scene.isShown(at)) return at;
  return undefined;
}

/** The next trial that improved on all before it of the task; cyclic. */
export function nextImprovement({ data, task, trial }: TrialScene): number | undefined {
  const of = task >= 0 ? task : data.task[trial];
  const rows = of === undefined ? [] : [...data.curve(of)];
  return rows.find((row) => row > trial) ?? rows[0];
}

/** The next failed trial in the foreground; cyclic. */
export function nextFailure(scene: TrialScene): number | undefined {
  const { data, trial } = scene;
  for (let i = 1; i <= data.count; i++) {
    const row = (trial + i + data.count) % data.count;
    if (data.error[row] && scene.isShown(row)) return row;
  }
  return undefined;
}

/** The chosen trial, else the best of the task, or with -1 of the one that takes most time; -1 if none is valid. */
export function shownTrial({ info, count }: TuningData, task: number, chosen: number | null) {
  if (chosen !== null && chosen < count) return chosen;
  const time = (at: number) => info.tasks[at]!.weight * (info.tasks[at]!.best ?? -1);
  const slowest = info.tasks.reduce(
    (most, { index }) => (time(index) > (most < 0 ? -1 : time(most)) ? index : most),
    -1,
  );
  const of = task < 0 ? slowest : task;
  return of < 0 ? -1 : (info.tasks[of]!.bestTrial ?? -1);
}
