import { Brush, FONT } from "../shared/drawing/brush.ts";
import type { Pen, Rectangle, TextMeasure } from "../shared/drawing/canvas.ts";
import { heatFill, inkOn, kindFill, type Theme } from "../shared/drawing/theme.ts";
import { niceStep } from "../shared/drawing/value_axis.ts";
import { upperBound } from "../shared/many.ts";
import { FAINT, heldElsewhere, type PlanDescriptions, short } from "./plan.ts";
import { AXIS, GUTTER, type MemoryScene, PITCH } from "./scene.ts";

const LINE = 14;
const LABEL_FROM = 18;
/** Room from which a long label is shortened rather than replaced by the node id. */
const SHORTENED_FROM = 80;
const TICK_APART = 34;

/** Items of the last paint. */
export interface DrawnMemory {
  labels: (Rectangle & { text: string })[];
  marks: (Rectangle & {
    entry: number;
    node: number;
    output: number;
    slot: number;
    kind: string;
  })[];
}

/** Adjacent lives too narrow for boxes; px. */
interface NarrowLives {
  means: string | number;
  color: string;
  left: number;
  right: number;
}

export class MemoryPainter {
  readonly #scene: MemoryScene;
  readonly #words: PlanDescriptions;
  readonly #brush: Brush;
  readonly #measure: TextMeasure;
  readonly #column: number;
  readonly #narrow: number;

  #marks: DrawnMemory["marks"] = [];

  /** @param column Width in px of the columns that stand for lives of less than twice as much. */
  constructor(scene: MemoryScene, words: PlanDescriptions, context: Pen, column = 1) {
    this.#column = column;
    this.#narrow = 2 * column;
    this.#scene = scene;
    this.#words = words;
    this.#brush = new Brush(context);
    this.#measure = this.#brush.measure;
  }

  get #theme(): Theme {
    return this.#brush.theme;
  }

  paint(theme: Theme): DrawnMemory {
    this.#brush.start(theme);
    this.#marks = [];
    const { width, height, rowsTop } = this.#scene;
    this.#brush.font();
    this.#brush.fill(theme.background, 0, 0, width, height);
    this.#bytes();
    this.#axis();
    this.#brush.clip(0, rowsTop, width, height - rowsTop);
    const [first, end] = this.#scene.rows;
    for (let row = first; row < end; row++) this.#row(row);
    this.#brush.context.restore();
    return { labels: this.#brush.drawn.labels, marks: this.#marks };
  }

  #text(text: string, x: number, y: number, color: string, plate = ""): void {
    const width = this.#measure.width(text) + 6;
    if (plate) this.#brush.fill(plate, x - 3, y - LINE / 2, width, LINE, 0.9);
    this.#brush.write(text, x, y, color);
  }

  #bytes(): void {
    const { axisTop, ground, plan, room, width } = this.#scene;
    const { background, line, muted, text } = this.#theme;
    const { info, order } = plan.columns;
    this.#levels();
    if (ground < axisTop) {
      this.#brush.fill(
        kindFill(this.#theme, "parameter"),
        GUTTER,
        ground,
        room,
        axisTop - ground,
        0.3,
      );
      const label = `parameters ${short(info.parameters)}, allocated throughout (not to scale)`;
      this.#text(this.#fitted(label), GUTTER + 6, (ground + axisTop) / 2, text);
    }
    this.#area();
    this.#brush.fill(line, GUTTER, axisTop - 1, room, 1);
    const top = this.#scene.y(info.allocated);
    this.#brush.context.setLineDash([5, 3]);
    this.#brush.line(text, GUTTER, Math.round(top) + 0.5, width, Math.round(top) + 0.5);
    this.#brush.context.setLineDash([]);
    const words = this.#fitted(`allocated ${short(info.allocated)}`);
    this.#text(
      words,
      width - this.#measure.width(words) - 6,
      top - LINE / 2 - 1,
      muted,
      background,
    );
    if (order.length) this.#peak();
  }

  #fitted(text: string): string {
    return this.#measure.fit(text, this.#scene.room - 12);
  }

  #levels(): void {
    const { ground, plan } = this.#scene;
    const { allocated } = plan.columns.info;
    const fits = Math.max(1, Math.floor(ground / TICK_APART));
    const step = 2 ** Math.ceil(Math.log2(Math.max(1, allocated / fits)));
    for (let bytes = 0; bytes <= allocated; bytes += step) {
      const y = this.#scene.y(bytes);
      if (bytes)
        this.#brush.fill(this.#theme.line, GUTTER, Math.round(y), this.#scene.room, 1, 0.5);
      const label = short(bytes);
      const x = GUTTER - 6 - this.#measure.width(label);
      this.#text(label, x, Math.min(y, ground - FONT / 2), this.#theme.muted);
    }
  }

  #area(): void {
    const { ground, plan, viewport, width } = this.#scene;
    const { live } = plan.columns;
    const { context } = this.#brush;
    context.beginPath();
    context.moveTo(GUTTER, ground);
    if (this.#scene.room / viewport.span >= 1) {
      const end = Math.min(live.length, Math.ceil(viewport.end));
      for (let step = Math.floor(viewport.start); step < end; step++) {
        const y = this.#scene.y(live[step]!);
        context.lineTo(Math.max(GUTTER, this.#scene.x(step)), y);
        context.lineTo(Math.min(width, this.#scene.x(step + 1)), y);
      }
    } else {
      for (let x = GUTTER; x < width; x++) {
        const from = Math.floor(this.#scene.at(x));
        const to = Math.min(live.length, Math.max(from + 1, Math.ceil(this.#scene.at(x + 1))));
        context.lineTo(x, this.#scene.y(plan.most(from, to)));
      }
    }
    context.lineTo(width, ground);
    context.closePath();
    context.fillStyle = this.#theme.accent;
    context.globalAlpha = 0.35;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = this.#theme.accent;
    context.stroke();
  }

  #peak(): void {
    const { ground, plan, viewport, width } = this.#scene;
    const { info } = plan.columns;
    const y = this.#scene.y(info.peak);
    const steps = info.peakNodes.map((node) => plan.stepOf[node]!);
    const step = steps.find((step) => step + 1 > viewport.start && step < viewport.end);
    if (step === undefined) return;
    const [left, right] = [this.#scene.x(step), this.#scene.x(step + 1)];
    const [from, to] = [Math.max(GUTTER, left), Math.min(width, right)];
    this.#brush.fill(this.#theme.text, from, Math.round(y) - 1, Math.max(2, to - from), 3);
    const label = this.#fitted(`peak ${short(info.peak)} at #${plan.columns.order[step]}`);
    const room = this.#measure.width(label);
    const x = Math.min(Math.max(GUTTER + 4, (from + to - room) / 2), width - room - 4);
    const allocated = this.#scene.y(info.allocated);
    // Above the bytes, which it would hide, and not on the line of allocated bytes.
    const above = (y - LINE - 2 < allocated ? allocated : y) - LINE / 2 - 1;
    const middle = [above, y + LINE / 2 + 4].find(
      (row) =>
        row >= LINE / 2 &&
        row + LINE / 2 <= ground - 2 &&
        !this.#brush.drawn.labels.some((label) =>
          touches(label, x - 4, row - LINE / 2, room + 8, LINE),
        ),
    );
    if (middle === undefined) return;
    this.#text(label, x, middle, this.#theme.text, this.#theme.background);
  }

  #axis(): void {
    const { axisTop, plan, viewport, width } = this.#scene;
    const { order } = plan.columns;
    const y = axisTop + AXIS / 2;
    this.#brush.fill(this.#theme.surface, 0, axisTop, width, AXIS);
    this.#text(plan.columns.info.buffers ? "offset" : "slot", 6, y, this.#theme.muted);
    const apart =
      ((this.#measure.width(`#${order.length * 4}`) + 14) * viewport.span) / this.#scene.room;
    const step = niceStep(Math.max(1, apart));
    for (let at = Math.ceil(viewport.start / step) * step; at < viewport.end; at += step) {
      if (at >= order.length) break;
      const x = this.#scene.x(at);
      const label = `#${order[at]}`;
      this.#brush.fill(this.#theme.line, Math.round(x), axisTop, 1, 5);
      if (x + 3 + this.#measure.width(label) < width)
        this.#text(label, x + 3, y, this.#theme.muted);
    }
  }

  #row(row: number): void {
    const { plan, width } = this.#scene;
    const { muted, surface, text } = this.#theme;
    const top = this.#scene.rowTop(row);
    const y = top + PITCH / 2;
    const slot = plan.slots[row]!;
    const { slotBytes, slotStorage } = plan.columns;
    this.#brush.fill(surface, GUTTER, top + 1, width - GUTTER, PITCH - 2);
    const seen = y - FONT / 2 >= this.#scene.rowsTop && y + FONT / 2 <= this.#scene.height;
    const offset = this.#words.offset(slot);
    if (seen && offset) {
      this.#text(this.#measure.fit(offset, GUTTER - 12), 6, y, text);
    } else if (seen) {
      const size = short(slotBytes[slot]!);
      const room = this.#measure.width(size);
      const id = this.#measure.fit(`${slotStorage[slot]}`, GUTTER - room - 18);
      if (id) this.#text(id, 6, y, text);
      this.#text(size, GUTTER - 6 - room, y, muted);
    }
    this.#brush.clip(GUTTER, top, width - GUTTER, PITCH);
    for (const [left, right] of heldElsewhere(plan, row, (step) => this.#scene.x(step))) {
      this.#brush.fill(muted, left, top + 1, right - left, PITCH - 2, FAINT);
    }
    this.#lives(row, top + 1, PITCH - 2, seen);
    this.#brush.context.restore();
  }

  #lives(row: number, y: number, height: number, labelled: boolean): void {
    const { plan, viewport, width } = this.#scene;
    const { entries, first } = plan.row(row);
    const { last } = plan.columns;
    const wideOf = (i: number) => {
      const until = Math.min(last[entries[i]!]! + 1, first[i + 1] ?? Infinity);
      return this.#scene.x(Math.max(until, first[i]! + 1)) - this.#scene.x(first[i]!);
    };
    // Adjacent columns of one meaning, whatever their colors.
    let run = null as NarrowLives | null;
    const paint = (columns: NarrowLives | null) => {
      if (!columns) return;
      const { color, left, right } = columns;
      this.#brush.fill(color, left, y, right - left, height, 0.8);
    };
    for (let i = plan.from(row, viewport.start); i < entries.length; ) {
      const entry = entries[i]!;
      if (first[i]! >= viewport.end) break;
      if (last[entry]! + 1 <= viewport.start) {
        i++;
        continue;
      }
      const x = this.#scene.x(first[i]!);
      if (wideOf(i) >= this.#narrow) {
        const isCovered = first[i + 1] === first[i];
        this.#box(entry, this.#color(entry), x, y, wideOf(i), height, labelled && !isCovered);
        i++;
        continue;
      }
      const wide = this.#column;
      const column = Math.max(GUTTER, GUTTER + Math.floor((x - GUTTER) / wide) * wide);
      if (column >= width) break;
      this.#mark(entry, "column", column, y, wide, height);
      const means = this.#meaning(entry);
      if (run?.right !== column || run.means !== means) {
        paint(run);
        run = { means, color: this.#color(entry), left: column, right: column };
      }
      run.right = column + wide;
      const next = upperBound(first, this.#scene.at(column + wide) - 1e-9);
      // Of the entries that begin in a column only the last can be wide.
      i = Math.max(i + 1, wideOf(next - 1) >= this.#narrow ? next - 1 : next);
    }
    paint(run);
  }

  /** Meaning of an entry's color. */
  #meaning(entry: number): string | number {
    const { plan, bySize } = this.#scene;
    return bySize ? plan.columns.entryBytes[entry]! : plan.graph.opKinds.at(plan.owner[entry]!);
  }

  #color(entry: number): string {
    const { plan, bySize } = this.#scene;
    if (!bySize) return kindFill(this.#theme, plan.graph.opKinds.at(plan.owner[entry]!));
    return heatFill(
      this.#theme,
      Math.max(0, plan.columns.entryBytes[entry]!) / (plan.largest || 1),
    );
  }

  #mark(entry: number, kind: string, x: number, y: number, width: number, height: number): void {
    const { plan } = this.#scene;
    const [node, slot] = [plan.owner[entry]!, plan.columns.entrySlot[entry]!];
    const output = plan.output(entry);
    this.#marks.push({ entry, node, output, slot, kind, x, y, width, height });
  }

  #box(
    entry: number,
    color: string,
    x: number,
    y: number,
    wide: number,
    height: number,
    labelled: boolean,
  ): void {
    const left = Math.max(GUTTER, x);
    const width = Math.min(this.#scene.width, x + wide) - left - (wide > 4 ? 1 : 0);
    this.#brush.fill(color, left, y, width, height);
    this.#mark(entry, "entry", left, y, width, height);
    const lost = this.#scene.plan.lost[entry]! >= 0;
    if (lost) {
      this.#brush.fill(this.#theme.background, left, y, width, 4);
      this.#brush.fill(this.#theme.error, left, y, width, 3);
    }
    if (!labelled || width < LABEL_FROM) return;
    const ink = inkOn(color);
    const title = this.#words.title(entry) + (lost ? " (lost)" : "");
    const room = width - 6;
    const fits = this.#measure.width(title) <= room;
    const id = `#${this.#scene.plan.owner[entry]}`;
    const label = fits
      ? title
      : room >= SHORTENED_FROM
        ? this.#measure.fit(title, room)
        : this.#measure.width(id) <= room
          ? id
          : "";
    if (label) this.#text(label, left + 3, y + height / 2, ink);
  }
}

function touches(box: Rectangle, x: number, y: number, width: number, height: number): boolean {
  const across = Math.min(box.x + box.width, x + width) - Math.max(box.x, x);
  const down = Math.min(box.y + box.height, y + height) - Math.max(box.y, y);
  return across > 0 && down > 0;
}
