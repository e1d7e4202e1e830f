import { RowKind } from "../../shared/client/timeline_columns.ts";
import { layer, type Pen } from "../../shared/drawing/canvas.ts";
import type { TimeBins } from "../data/bins.ts";
import type { Row, RowColumns } from "../data/row.ts";
import type { Slices } from "../data/slices.ts";
import type { Fills } from "./fills.ts";

/** Least opacity of a busy column. */
const FAINTEST = 0.18;
/** Width from which slices have an edge, CSS pixels. */
const EDGE_FROM = 4;

/** One row of the stage in device pixels. */
export class Strip implements RowColumns {
  row = -1;
  /** Column c is the time [(origin + c) · step, (origin + c + 1) · step). */
  origin = 0;
  step = 0;
  /** Version of the data and colors. */
  version = -1;
  /** True if made of bins, not of the slices themselves. */
  coarse = false;
  frame = -1;
  dirty = false;
  readonly slice: Int32Array;
  readonly share: Float32Array;
  /** For coarse strips: the bin of every column, and the index in `bins` of its source. */
  bins: readonly TimeBins[] = [];
  readonly bin: Int32Array;

  constructor(
    readonly line: number,
    width: number,
    readonly pixels: Uint32Array,
  ) {
    this.slice = new Int32Array(width);
    this.share = new Float32Array(width);
    this.bin = new Int32Array(width);
  }

  /** The bins of a column, and the bin. */
  binOf(column: number): [TimeBins, number] | null {
    const mark = this.bin[column]!;
    const bins = mark < 0 ? undefined : this.bins[mark >>> 24];
    return bins ? [bins, mark & 0xffffff] : null;
  }

  /** End of the run of columns that look like `column`. */
  runEnd(column: number, last: number): number {
    const { slice, share } = this;
    let end = column + 1;
    if (share[column]! < 1) return end;
    while (end < last && slice[end] === slice[column] && share[end] === 1) end++;
    return end;
  }
}

/** Source of a row's columns: the slices, or bins until they are loaded. */
export interface StripSource {
  slices: Slices;
  fills: Fills;
  /** Bins for a time range, the coarsest first; finer ones fill the gaps. */
  bins(from: number, to: number, step: number): readonly TimeBins[];
}

/** Rows as lines of columns, computed from one time range to the next. */
export type StripLines = Pick<Strips, "stale" | "begin" | "line" | "flush" | "x" | "columns"> & {
  draw(context: Pen, strip: Strip, y: number, height: number): void;
};

/** Time range of a frame: `step` nanoseconds a column. */
export interface TimeWindow {
  start: number;
  step: number;
  width: number;
  rows: number;
  /** Columns per CSS pixel. */
  ratio: number;
}

/** Fills columns [first, last) of a row: from its slices if loaded, else from bins. */
export function tellColumns(
  { bins }: Pick<StripSource, "bins">,
  strip: Strip,
  row: Row,
  first: number,
  last: number,
): void {
  const from = strip.origin * strip.step;
  if (!strip.coarse) {
    row.fill(strip, from, strip.step, first, last);
    return;
  }
  strip.slice.fill(-1, first, last);
  strip.share.fill(0, first, last);
  strip.bin.fill(-1, first, last);
  strip.bins = bins(from + first * strip.step, from + last * strip.step, strip.step);
  strip.bins.forEach((bin, i) => {
    bin.fill(row, strip, strip.bin, i << 24, from, strip.step, first, last);
  });
}

export function fillOfColumn({ fills }: Pick<StripSource, "fills">, strip: Strip, column: number) {
  if (!strip.coarse) return fills.of(strip.slice[column]!);
  const source = strip.binOf(column);
  return source ? fills.ofBin(...source) : 0;
}

/** Opacity of a column that is busy for a share of its time. */
export function opacityOf(share: number): number {
  return FAINTEST + (1 - FAINTEST) * share;
}

/** Rows as lines of pixels, kept between frames: pans fill new columns; zooms stretch lines until refilled. */
export class Strips implements StripLines {
  readonly #source: StripSource;
  readonly #layer = layer("");
  #image = new ImageData(1, 1);
  #strips: Strip[] = [];
  #ofRow = new Map<number, Strip>();
  #width = 0;
  #ratio = 1;
  #origin = 0;
  #step = 1;
  #version = 0;
  #frame = 0;
  #deadline = 0;
  #muted = 0;
  #isHeld = false;
  /** True if a line has the scale of another zoom. */
  stale = false;

  constructor(source: StripSource) {
    this.#source = source;
  }

  /** Drops all lines, after a change of data or colors. */
  forget(): void {
    this.#version++;
  }

  /** Begins a frame: `muted` colors instants, lines are refilled for this many ms, of bins alone if `coarse`. */
  begin(view: TimeWindow, muted: number, milliseconds: number, coarse = false): void {
    this.#frame++;
    this.stale = false;
    this.#muted = muted;
    this.#ratio = view.ratio;
    const isSame = Math.abs(view.step / this.#step - 1) * view.width < 1e-6;
    if (!isSame) this.#step = view.step;
    this.#origin = Math.round(view.start / this.#step);
    this.#deadline = performance.now() + milliseconds;
    const { slices } = this.#source;
    const [from, to] = [this.#origin * this.#step, (this.#origin + view.width) * this.#step];
    this.#isHeld = !coarse && slices.holds(Math.max(from, slices.start), Math.min(to, slices.end));
    if (view.width !== this.#width || view.rows > this.#strips.length) {
      this.#allocate(view.width, view.rows + 8);
    }
  }

  /** The line of a row as exact as time allows; to be called for all rows of the frame before `draw`. */
  line(row: Row): Strip {
    const strip = this.#ofRow.get(row.number) ?? this.#take(row.number);
    strip.frame = this.#frame;
    const by = this.#origin - strip.origin;
    if (strip.version === this.#version && strip.step === this.#step) {
      if (by === 0) return strip;
      if (Math.abs(by) < this.#width && !strip.coarse && this.#isHeld) {
        this.#shift(strip, by, row);
        return strip;
      }
    }
    if (strip.version >= 0 && performance.now() > this.#deadline) {
      this.stale = true;
      return strip;
    }
    strip.version = this.#version;
    strip.step = this.#step;
    strip.origin = this.#origin;
    this.#columns(strip, row, 0, this.#width);
    this.#color(strip, row);
    return strip;
  }

  flush(): void {
    const { context } = this.#layer;
    let [first, last] = [this.#strips.length, -1];
    for (const strip of this.#strips) {
      if (!strip.dirty) continue;
      strip.dirty = false;
      first = Math.min(first, strip.line);
      last = Math.max(last, strip.line);
    }
    if (last >= first) {
      context.putImageData(this.#image, 0, 0, 0, first, this.#width, last - first + 1);
    }
  }

  draw(context: CanvasRenderingContext2D, strip: Strip, y: number, height: number): void {
    const [top, bottom] = [y, y + height].map((edge) => Math.round(edge * this.#ratio));
    this.drawPixels(context, strip, top!, bottom! - top!);
  }

  /** Draws a line from device pixel `y` on. */
  drawPixels(context: CanvasRenderingContext2D, strip: Strip, y: number, height: number): void {
    const scale = strip.step / this.#step;
    const left = strip.origin * scale - this.#origin;
    const first = Math.max(0, Math.floor(-left / scale));
    const last = Math.min(this.#width, Math.ceil((this.#width - left) / scale));
    if (last <= first) return;
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(
      this.#layer.canvas,
      first,
      strip.line,
      last - first,
      1,
      left + first * scale,
      y,
      (last - first) * scale,
      height,
    );
    context.restore();
  }

  /** Current start of a line's column, in columns. */
  x(strip: Strip, column: number): number {
    if (strip.step === this.#step && strip.origin === this.#origin) return column;
    return ((strip.origin + column) * strip.step) / this.#step - this.#origin;
  }

  /** Number of columns of a line in this many columns of the frame. */
  columns(strip: Strip, count: number): number {
    return (count * this.#step) / strip.step;
  }

  #allocate(width: number, rows: number): void {
    this.#width = width;
    this.#image = new ImageData(width, rows);
    const pixels = new Uint32Array(this.#image.data.buffer);
    this.#strips = Array.from(
      { length: rows },
      (_, line) => new Strip(line, width, pixels.subarray(line * width, (line + 1) * width)),
    );
    this.#ofRow.clear();
    this.#layer.canvas.width = width;
    this.#layer.canvas.height = rows;
  }

  /** A line for a row without one: the least recently drawn. */
  #take(row: number): Strip {
    let oldest = this.#strips[0]!;
    for (const strip of this.#strips) if (strip.frame < oldest.frame) oldest = strip;
    this.#ofRow.delete(oldest.row);
    this.#ofRow.set(row, oldest);
    oldest.row = row;
    oldest.version = -1;
    return oldest;
  }

  #shift(strip: Strip, by: number, row: Row): void {
    const width = this.#width;
    const { slice, share } = strip;
    strip.origin = this.#origin;
    if (by > 0) {
      slice.copyWithin(0, by);
      share.copyWithin(0, by);
      this.#columns(strip, row, width - by, width);
    } else {
      slice.copyWithin(-by, 0, width + by);
      share.copyWithin(-by, 0, width + by);
      this.#columns(strip, row, 0, -by);
    }
    this.#color(strip, row);
  }

  #columns(strip: Strip, row: Row, first: number, last: number): void {
    strip.coarse = !this.#isHeld;
    tellColumns(this.#source, strip, row, first, last);
  }

  #color(strip: Strip, row: Row): void {
    strip.dirty = true;
    if (row.kind === RowKind.INSTANT) this.#colorInstants(strip);
    else this.#colorSlices(strip);
  }

  #colorInstants({ share, pixels }: Strip): void {
    const ink = (0xff000000 | this.#muted) >>> 0;
    const wide = this.#ratio >= 1.5;
    for (let column = 0; column < this.#width; column++) {
      const is = share[column]! > 0 || (wide && column > 0 && share[column - 1]! > 0);
      pixels[column] = is ? ink : 0;
    }
  }

  #colorSlices(strip: Strip): void {
    const { slice, share, pixels } = strip;
    const { fills } = this.#source;
    const colors = fills.pixels;
    const width = this.#width;
    const least = EDGE_FROM * this.#ratio;
    let [known, color] = [-2, 0];
    for (let column = 0; column < width; ) {
      const at = slice[column]!;
      if (at < 0) {
        pixels[column++] = 0;
        continue;
      }
      if (at !== known) {
        known = at;
        color = colors[fillOfColumn(this.#source, strip, column)]!;
      }
      const busy = share[column]!;
      if (busy < 1) {
        const alpha = Math.round(255 * opacityOf(busy));
        pixels[column++] = ((alpha << 24) | color) >>> 0;
        continue;
      }
      const end = strip.runEnd(column, width);
      pixels.fill((0xff000000 | color) >>> 0, column, end);
      if (end - column > least && column > 0) {
        pixels[column] =
          (0xff000000 | (((color >>> 1) & 0x7f7f7f) + ((color >>> 4) & 0x0f0f0f))) >>> 0;
      }
      column = end;
    }
  }
}
