import { RowKind } from "../../shared/client/timeline_columns.ts";
import type { Pen } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import type { Row } from "../data/row.ts";
import type { TimelineScene } from "./scene.ts";
import {
  fillOfColumn,
  opacityOf,
  Strip,
  type StripLines,
  type StripSource,
  type TimeWindow,
  tellColumns,
} from "./strips.ts";

/** Shades of partly busy columns: neighbors of one shade are one box. */
const SHADES = 5;
const GAP = 0.6;
/** Width from which slices have a gap, px. */
const GAP_FROM = 3;
const NO_PIXELS = new Uint32Array(0);

/** Rows as boxes, for a document: slices with columns of their own have their true width. */
export class RecordedStrips implements StripLines {
  readonly stale = false;
  readonly #source: StripSource;
  readonly #scene: TimelineScene;
  readonly #theme: Theme;
  #view!: TimeWindow;
  #rows = new Map<Strip, Row>();

  constructor(source: StripSource, scene: TimelineScene, theme: Theme) {
    this.#source = source;
    this.#scene = scene;
    this.#theme = theme;
  }

  begin(view: TimeWindow): void {
    this.#view = view;
    this.#rows.clear();
  }

  line(row: Row): Strip {
    const { start, step, width } = this.#view;
    const strip = new Strip(this.#rows.size, width, NO_PIXELS);
    strip.row = row.number;
    strip.step = step;
    strip.origin = Math.round(start / step);
    const { slices } = this.#source;
    const [from, to] = [strip.origin * step, (strip.origin + width) * step];
    strip.coarse = !slices.holds(Math.max(from, slices.start), Math.min(to, slices.end));
    tellColumns(this.#source, strip, row, 0, width);
    this.#rows.set(strip, row);
    return strip;
  }

  flush(): void {}

  x(_: Strip, column: number): number {
    return column;
  }

  columns(_: Strip, count: number): number {
    return count;
  }

  draw(context: Pen, strip: Strip, y: number, height: number): void {
    const isInstant = this.#rows.get(strip)!.kind === RowKind.INSTANT;
    for (const box of isInstant ? instants(strip) : this.#boxes(strip)) {
      const { ratio } = this.#view;
      const [left, right] = box.slice < 0 ? [box.from / ratio, box.to / ratio] : this.#edges(box);
      const gap = right - left > GAP_FROM ? GAP : 0;
      context.globalAlpha = box.shade;
      context.fillStyle = isInstant ? this.#theme.muted : this.#source.fills.css[box.fill]!;
      context.fillRect(left, y, right - left - gap, height);
    }
    context.globalAlpha = 1;
  }

  *#boxes(strip: Strip): Generator<StripBox> {
    const { width } = this.#view;
    let open = null as StripBox | null;
    for (let column = 0; column < width; ) {
      if (strip.slice[column]! < 0) {
        column++;
        continue;
      }
      const fill = fillOfColumn(this.#source, strip, column);
      const share = strip.share[column]!;
      const end = strip.runEnd(column, width);
      if (share === 1 && end - column > 1 && !strip.coarse) {
        if (open) yield open;
        open = null;
        yield { from: column, to: end, fill, shade: 1, slice: strip.slice[column]! };
      } else {
        const shade = opacityOf(Math.ceil(share * SHADES) / SHADES);
        if (open?.to !== column || open.fill !== fill || open.shade !== shade) {
          if (open) yield open;
          open = { from: column, to: end, fill, shade, slice: -1 };
        }
        open.to = end;
      }
      column = end;
    }
    if (open) yield open;
  }

  #edges({ slice }: StripBox): [left: number, right: number] {
    const { slices } = this.#source;
    const left = Math.max(0, this.#scene.x(slices.startOf(slice)));
    return [left, Math.min(this.#scene.width, this.#scene.x(slices.endOf(slice)))];
  }
}

/** Columns [from, to) in one color. */
interface StripBox {
  from: number;
  to: number;
  fill: number;
  shade: number;
  /** The slice that takes all of them, -1 for several. */
  slice: number;
}

function* instants({ share }: Strip): Generator<StripBox> {
  for (let column = 0; column < share.length; column++) {
    if (share[column]! > 0) yield { from: column, to: column + 1, fill: 0, shade: 1, slice: -1 };
  }
}
