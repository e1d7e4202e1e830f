import type { ChartBrush } from "../../shared/drawing/brush.ts";
import { fitTitle, type Names } from "../data/names.ts";
import {
  beside,
  type Ceilings,
  decadeTicks,
  type OperatorPoints,
  placeLabels,
  type RateRange,
  type RooflineLabel,
  rateText,
} from "./roofline_points.ts";

const [LEFT, TOP, RIGHT, BOTTOM] = [52, 16, 10, 20];
const [SMALLEST, LARGEST] = [4, 13];
const LABELS = 14;
const LABEL_ROOM = 170;
const DASHES = [5, 4];
/** Least distance of labels on an axis. */
const [TICK_X, TICK_Y] = [64, 34];

export class RooflinePlot {
  readonly left = LEFT;
  readonly top = TOP;
  readonly right: number;
  readonly bottom: number;
  readonly x: RateRange;
  readonly y: RateRange;

  constructor(width: number, height: number, extent: { x: RateRange; y: RateRange }) {
    this.right = Math.max(LEFT + 1, width - RIGHT);
    this.bottom = Math.max(TOP + 1, height - BOTTOM);
    this.x = extent.x;
    this.y = extent.y;
  }

  atX(intensity: number): number {
    const { low, high } = this.x;
    return this.left + ((Math.log10(intensity) - low) / (high - low)) * (this.right - this.left);
  }

  atY(rate: number): number {
    const { low, high } = this.y;
    return this.bottom - ((Math.log10(rate) - low) / (high - low)) * (this.bottom - this.top);
  }

  intensity(x: number): number {
    const { low, high } = this.x;
    return 10 ** (low + ((x - this.left) / (this.right - this.left)) * (high - low));
  }

  rate(y: number): number {
    const { low, high } = this.y;
    return 10 ** (low + ((this.bottom - y) / (this.bottom - this.top)) * (high - low));
  }
}

export class RooflinePainter {
  readonly #points: OperatorPoints;
  readonly #names: Names;
  readonly #longest: number;

  constructor(points: OperatorPoints, names: Names) {
    this.#points = points;
    this.#names = names;
    this.#longest = points.ns[points.byTime[0] ?? 0] ?? 0;
  }

  /** Radius whose area is proportional to the time. */
  radius(point: number): number {
    const share = this.#longest > 0 ? this.#points.ns[point]! / this.#longest : 0;
    return Math.max(SMALLEST, LARGEST * Math.sqrt(share));
  }

  paint(brush: ChartBrush, place: RooflinePlot, given: Ceilings, seen: Ceilings): void {
    this.#axes(brush, place);
    const [width, height] = [place.right - place.left, place.bottom - place.top];
    brush.clip(place.left, place.top, width, height);
    this.#ceilings(brush, place, given, seen);
    brush.context.restore();
    for (const point of this.#points.byTime) this.#dot(brush, place, point);
    this.#labels(brush, place, given, seen);
  }

  ring(brush: ChartBrush, place: RooflinePlot, point: number, line: number): void {
    const { context, theme } = brush;
    const [x, y] = this.spot(place, point);
    for (const [color, thick] of [
      [theme.background, line + 2],
      [theme.text, line],
    ] as const) {
      context.beginPath();
      context.arc(x, y, this.radius(point) + 2, 0, 2 * Math.PI);
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.stroke();
    }
  }

  spot(place: RooflinePlot, point: number): [x: number, y: number] {
    return [place.atX(this.#points.intensity[point]!), place.atY(this.#points.rate[point]!)];
  }

  #axes(brush: ChartBrush, place: RooflinePlot): void {
    const { theme } = brush;
    const { left, top, right, bottom } = place;
    let free = left - 30;
    for (const value of decadeTicks(place.x, (right - left) / TICK_X)) {
      const x = Math.round(place.atX(value)) + 0.5;
      brush.line(theme.line, x, top, x, bottom);
      const text = value >= 1000 ? rateText(value, "").trim() : String(value);
      brush.font();
      const width = brush.measure.width(text);
      if (x - width / 2 < free || x + width / 2 > right - 48) continue;
      brush.number(text, x - width / 2, bottom + 10, theme.muted, width + 1);
      free = x + width / 2 + 8;
    }
    for (const value of decadeTicks(place.y, (bottom - top) / TICK_Y)) {
      const y = Math.round(place.atY(value)) + 0.5;
      brush.line(theme.line, left, y, right, y);
      if (y < top + 6) continue;
      brush.number(rateText(value, "").trim(), left - 6, y, theme.muted, left - 6, true);
    }
    brush.line(theme.muted, left + 0.5, top, left + 0.5, bottom);
    brush.line(theme.muted, left, bottom + 0.5, right, bottom + 0.5);
    brush.number("FLOP/B", right, bottom + 10, theme.muted, 60, true);
    brush.text("FLOP/s", 4, 8, theme.muted, left);
  }

  #ceilings(brush: ChartBrush, place: RooflinePlot, given: Ceilings, seen: Ceilings): void {
    const [flops, bytes] = [given.flops ?? seen.flops, given.bytes ?? seen.bytes];
    const ridge = ridgeOf(given);
    const line = (isGiven: boolean, ...ends: [x: number, y: number, toX: number, toY: number]) => {
      brush.context.setLineDash(isGiven ? [] : DASHES);
      brush.line(isGiven ? brush.theme.text : brush.theme.muted, ...ends, isGiven ? 2 : 1.5);
    };
    if (flops) {
      const y = place.atY(flops);
      const left = ridge === null ? place.left : place.atX(ridge);
      line(given.flops !== null, left, y, place.right, y);
    }
    if (bytes) {
      const [start, end] = [place.intensity(place.left), ridge ?? place.intensity(place.right)];
      const [y, toY] = [place.atY(bytes * start), place.atY(bytes * end)];
      line(given.bytes !== null, place.left, y, place.atX(end), toY);
    }
    brush.context.setLineDash([]);
  }

  /** Texts of the ceilings with possible positions beside them, the best first. */
  #ceilingTexts(
    brush: ChartBrush,
    place: RooflinePlot,
    given: Ceilings,
    seen: Ceilings,
  ): [string, RooflineLabel[]][] {
    const texts: [string, RooflineLabel[]][] = [];
    const [flops, bytes] = [given.flops ?? seen.flops, given.bytes ?? seen.bytes];
    const ridge = ridgeOf(given);
    const add = (text: string, from: number, to: number, at: (x: number) => number) => {
      const width = brush.measure.width(text);
      const choices: RooflineLabel[] = [];
      for (let step = 0; step <= 8; step++) {
        const x = to - width - 4 - (step / 8) * Math.max(0, to - from - width - 8);
        choices.push({ x, y: Math.min(at(x), at(x + width)) - 9, width });
        choices.push({ x, y: Math.max(at(x), at(x + width)) + 9, width });
      }
      texts.push([text, choices]);
    };
    if (flops) {
      const from = ridge === null ? place.left : place.atX(ridge);
      const text = rateLabel(given.flops !== null, rateText(flops, "FLOP/s"));
      add(text, from, place.right, () => place.atY(flops));
    }
    if (bytes) {
      const at = (x: number) => place.atY(bytes * place.intensity(x));
      const to = ridge === null ? place.right : place.atX(ridge);
      add(rateLabel(given.bytes !== null, rateText(bytes, "B/s")), place.left, to, at);
    }
    return texts;
  }

  #dot(brush: ChartBrush, place: RooflinePlot, point: number): void {
    const { context, theme } = brush;
    const [x, y] = this.spot(place, point);
    const radius = this.radius(point);
    const node = this.#points.node[point]!;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = this.#names.fill(theme, node, -1);
    context.globalAlpha = 0.85;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = theme.background;
    context.lineWidth = 1;
    context.stroke();
    const box = { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
    brush.drawn.marks.push({ ...box, node });
  }

  #labels(brush: ChartBrush, place: RooflinePlot, given: Ceilings, seen: Ceilings): void {
    const shown = this.#points.byTime;
    const spots = shown.map((point) => {
      const [x, y] = this.spot(place, point);
      return { x, y, radius: this.radius(point) };
    });
    brush.font();
    const texts: [string, RooflineLabel[]][] = this.#ceilingTexts(brush, place, given, seen);
    shown.slice(0, LABELS).forEach((point, i) => {
      const title = this.#names.titleOf(this.#points.node[point]!);
      const text = fitTitle(brush.measure, title, LABEL_ROOM);
      texts.push([text, beside(spots[i]!, brush.measure.width(text))]);
    });
    const choices = texts.map(([, text]) => text);
    placeLabels(choices, spots, place).forEach((label, i) => {
      if (!label) return;
      brush.fill(brush.theme.background, label.x - 1, label.y - 6, label.width + 2, 12, 0.75);
      brush.text(texts[i]![0], label.x, label.y, brush.theme.text, label.width + 1);
    });
  }
}

/** Operations per byte at which both ceilings meet; null unless both are given. */
function ridgeOf({ flops, bytes }: Ceilings): number | null {
  return flops && bytes ? flops / bytes : null;
}

function rateLabel(given: boolean, rate: string): string {
  return given ? rate : `best measured: ${rate}`;
}
