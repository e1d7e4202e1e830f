import type { Pen } from "../shared/drawing/canvas.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { niceTicks } from "../shared/drawing/value_axis.ts";
import { integer } from "../shared/format.ts";
import { smallest } from "../shared/many.ts";
import { errorFill, ROUND, slotFill } from "./data.ts";
import { elapsed, seconds } from "./descriptions.ts";
import { LANE, POINT, RIGHT, type TrialPoints, type TrialScene } from "./scene.ts";

/** Side of the cell in which trials share a mark, px. */
const CELL = 2;
const LABEL_GAP = 46;
const LOG_STEPS = [1, 2, 5];
const BACKGROUND_ALPHA = 0.35;
const MOST_THIN = 60;
/** Distance below which names of lines are merged, px. */
const NAME_GAP = 12;
/** Space between the end of a line and its name, px. */
const NAME_APART = 8;
/** Seconds from which a tick is written as a power of ten. */
const LONG = 1e5;

/** Paints costs over trials: axes, every trial, failures in a lane of their own, the best cost so far, errors. */
export class ChartPainter {
  readonly #scene: TrialScene;
  readonly #pen: Pen;
  readonly #cell: number;

  /** @param cell Side of a cell with at most one mark, px; larger for small files. */
  constructor(scene: TrialScene, pen: Pen, cell = CELL) {
    this.#scene = scene;
    this.#pen = pen;
    this.#cell = cell;
  }

  paint(theme: Theme): { points: number } {
    this.#axes(theme);
    const pen = this.#pen;
    const { plot } = this.#scene;
    pen.save();
    pen.beginPath();
    pen.rect(plot.left - POINT, 0, plot.right - plot.left + 2 * POINT, plot.bottom + POINT);
    pen.clip();
    const marks = this.#scene.marks(this.#cell);
    this.#points(theme, marks);
    this.#failures(theme, marks);
    pen.beginPath();
    pen.rect(plot.left, 0, plot.right - plot.left, plot.bottom + POINT);
    pen.clip();
    this.#curves(theme);
    pen.restore();
    this.#curveNames(theme);
    if (!this.#scene.hasCosts) this.#nothing(theme);
    this.#strip(theme);
    return { points: marks.cells };
  }

  #axes(theme: Theme): void {
    const pen = this.#pen;
    const { plot, costs } = this.#scene;
    pen.font = `11px ${theme.font}`;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    let last = Number.POSITIVE_INFINITY;
    for (const cost of this.#scene.hasCosts ? this.#costTicks(costs) : []) {
      const y = Math.round(this.#scene.y(cost)) + 0.5;
      if (y < plot.top || y > plot.bottom || last - y < 16) continue;
      last = y;
      this.#line(theme.line, plot.left, y, plot.right, y, 0.5);
      pen.fillStyle = theme.muted;
      pen.fillText(tickText(cost), plot.left - 6, y);
    }
    pen.textAlign = "center";
    for (const { value, text } of this.#alongTicks()) {
      const x = Math.round(this.#scene.x(value)) + 0.5;
      this.#line(theme.line, x, plot.bottom, x, plot.bottom + 4, 1);
      pen.fillStyle = theme.muted;
      pen.fillText(text, Math.min(x, plot.right + RIGHT - text.length * 3), plot.bottom + 11);
    }
    pen.textAlign = "right";
    if (this.#scene.hasFailures) {
      pen.fillStyle = theme.muted;
      pen.fillText("failed", plot.left - 6, this.#scene.laneY);
      this.#line(theme.line, plot.left, plot.top + 0.5, plot.right, plot.top + 0.5, 1);
    }
    this.#line(theme.line, plot.left, plot.bottom + 0.5, plot.right, plot.bottom + 0.5, 1);
    pen.textAlign = "left";
  }

  #nothing(theme: Theme): void {
    const pen = this.#pen;
    const { plot, data } = this.#scene;
    pen.textAlign = "center";
    pen.fillStyle = theme.muted;
    const text = data.count ? "no trial has a valid cost" : "no trials";
    pen.fillText(text, (plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2);
    pen.textAlign = "left";
  }

  /** 1, 2 and 5 times powers of ten; only powers on a long scale. */
  #costTicks([low, high]: [number, number]): number[] {
    const steps = high - low > 2.5 ? [1] : LOG_STEPS;
    const ticks: number[] = [];
    for (let power = Math.floor(low); power <= high; power++) {
      for (const step of steps) {
        const cost = step * 10 ** power;
        if (Math.log10(cost) >= low && Math.log10(cost) <= high) ticks.push(cost);
      }
    }
    if (ticks.length >= 2) return ticks;
    const [from, to] = [10 ** low, 10 ** high];
    return niceTicks(from, to, 4).map(({ value }) => value);
  }

  #alongTicks(): { value: number; text: string }[] {
    const { plot, viewport, along } = this.#scene;
    const most = Math.max(2, Math.floor((plot.right - plot.left) / (2 * LABEL_GAP)));
    if (along === "trial") {
      const ticks = niceTicks(viewport.start, viewport.end, most);
      return ticks
        .filter(({ value }) => Number.isInteger(value))
        .map(({ value }) => ({ value, text: integer(value) }));
    }
    const step = TIME_STEPS.find((seconds) => viewport.span / seconds <= most) ?? viewport.span;
    const ticks = [];
    for (let at = Math.ceil(viewport.start / step) * step; at <= viewport.end; at += step) {
      ticks.push({ value: at, text: elapsed(at) });
    }
    return ticks;
  }

  /** Measured trials; those of other tasks are paler. */
  #points(theme: Theme, { front, behind }: TrialPoints): void {
    const pen = this.#pen;
    const draw = (boxes: readonly number[], color: string, alpha: number) => {
      pen.globalAlpha = alpha;
      pen.fillStyle = color;
      for (let at = 0; at < boxes.length; at += 4) {
        pen.fillRect(boxes[at]!, boxes[at + 1]!, boxes[at + 2]!, boxes[at + 3]!);
      }
      pen.globalAlpha = 1;
    };
    draw(behind, theme.muted, BACKGROUND_ALPHA);
    draw(front, theme.accent, this.#scene.task < 0 ? 0.65 : 0.8);
  }

  #failures(theme: Theme, { failures }: TrialPoints): void {
    const pen = this.#pen;
    const top = this.#scene.laneY - LANE / 2 + 3;
    for (let at = 0; at < failures.length; at += 2) {
      pen.fillStyle = errorFill(theme, failures[at]!);
      pen.fillRect(failures[at + 1]! - 1, top, 2, LANE - 5);
    }
  }

  #curves(theme: Theme): void {
    const { data, task } = this.#scene;
    if (task >= 0) {
      const rows = data.curve(task);
      this.#steps(rows, (at) => data.cost[rows[at]!]!, theme.text, 2);
      return;
    }
    const { tasks } = data.info;
    if (tasks.length <= MOST_THIN && tasks.length > 1) {
      for (const task of tasks) {
        const rows = data.curve(task.index);
        this.#steps(rows, (at) => data.cost[rows[at]!]!, theme.muted, 1);
      }
    }
    this.#steps(data.totalRows, (at) => data.totals[at]!, theme.text, 2);
  }

  /** Names of tasks at the ends of their lines; lines that end near each other share a name, the slowest first. */
  #curveNames(theme: Theme): void {
    const pen = this.#pen;
    const { data, task, plot } = this.#scene;
    const { tasks } = data.info;
    if (task >= 0 || tasks.length < 2) return;
    const scene = this.#scene;
    pen.font = `11px ${theme.font}`;
    pen.textAlign = "left";
    const x = plot.right + NAME_APART;
    const seen = (y: number) => y >= plot.top && y <= plot.bottom;
    const totalY = scene.y(data.totals[scene.lastInView(data.totalRows)] ?? Number.NaN);
    if (seen(totalY)) {
      pen.fillStyle = theme.text;
      pen.fillText("total", x, totalY);
    }
    if (tasks.length > MOST_THIN) return;
    const groups: { y: number; names: number[] }[] = [];
    const ends = tasks.map(({ index }) => {
      const rows = data.curve(index);
      return { index, y: scene.y(data.cost[rows[scene.lastInView(rows)] ?? -1] ?? Number.NaN) };
    });
    const inView = ends.filter(({ y }) => seen(y)).sort((a, b) => a.y - b.y);
    for (const { index, y } of inView) {
      if (Math.abs(y - totalY) < NAME_GAP) continue;
      const near = groups.find((group) => Math.abs(group.y - y) < NAME_GAP);
      if (near) near.names.push(index);
      else groups.push({ y, names: [index] });
    }
    pen.fillStyle = theme.muted;
    const first = smallest(
      groups.map(({ y }) => y),
      totalY,
    );
    if (groups.length && !(first < scene.laneY + NAME_GAP)) pen.fillText("task", x, scene.laneY);
    for (const { y, names } of groups) pen.fillText(this.#listed(names), x, y);
  }

  #listed(names: readonly number[]): string {
    for (let shown = names.length; shown > 1; shown--) {
      const text = names.slice(0, shown).join(", ") + (shown < names.length ? " …" : "");
      if (this.#pen.measureText(text).width <= RIGHT - NAME_APART) return text;
    }
    return String(names[0]);
  }

  #steps(rows: Int32Array, cost: (at: number) => number, color: string, width: number): void {
    if (!rows.length) return;
    const pen = this.#pen;
    const scene = this.#scene;
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    let y = 0;
    rows.forEach((row, at) => {
      const x = scene.x(scene.value(row));
      if (at) pen.lineTo(x, y);
      y = scene.y(cost(at));
      if (at) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    });
    const { viewport, data } = scene;
    const end = scene.along === "trial" ? data.count : viewport.last;
    pen.lineTo(scene.x(end), y);
    pen.stroke();
  }

  /** Share of failed trials by round and error; full height is all trials. */
  #strip(theme: Theme): void {
    const pen = this.#pen;
    const scene = this.#scene;
    if (!scene.hasFailures) return;
    const { strip, bins, along } = scene;
    const high = strip.bottom - strip.top;
    pen.textAlign = "right";
    pen.font = `11px ${theme.font}`;
    pen.fillStyle = theme.muted;
    pen.fillText("errors", strip.left - 6, strip.top + high / 2 - 7);
    const size = bins.length ? Math.round(bins[0]!.to - bins[0]!.from) : 0;
    const rounds = `per ${integer(Math.max(ROUND, size))}`;
    pen.fillText(
      along === "trial" ? rounds : "over time",
      strip.left - 6,
      strip.top + high / 2 + 7,
    );
    pen.textAlign = "left";
    for (const bin of bins) {
      if (!bin.all) continue;
      const from = Math.max(strip.left, scene.x(bin.from));
      const to = Math.min(strip.right, scene.x(bin.to));
      const wide = Math.max(1, to - from - (to - from > 5 ? 1 : 0));
      let y = strip.bottom;
      const scale = high / bin.all;
      for (let slot = bin.slots.length - 1; slot >= 0; slot--) {
        const count = bin.slots[slot]!;
        if (!count) continue;
        y -= count * scale;
        pen.fillStyle = slotFill(theme, slot);
        pen.fillRect(from, y, wide, count * scale);
      }
    }
    this.#line(theme.line, strip.left, strip.bottom + 0.5, strip.right, strip.bottom + 0.5, 1);
  }

  #line(color: string, x: number, y: number, toX: number, toY: number, width: number): void {
    const pen = this.#pen;
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(toX, toY);
    pen.stroke();
  }
}

const TIME_STEPS = [
  ...[1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800],
  ...[86400, 172800, 604800],
];

function tickText(cost: number): string {
  if (cost >= LONG) return `${cost.toExponential().replace("e+", "e")} s`;
  return seconds(cost).replace(/\.0+(?= )|(\.\d*?)0+(?= )/, "$1");
}
