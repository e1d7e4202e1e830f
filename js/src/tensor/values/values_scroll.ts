import { div, element, onResize } from "../../shell/dom.ts";
import { layoutPlane } from "../picture/plane_layout.ts";
import type { Point } from "../plane.ts";

/** Most visible rows and columns, and most per request. */
export const ROWS = 64;
export const COLS = 32;
const ROW_HEIGHT = 20;
/** Box height above which browsers lose positions. */
const MAX_PIXELS = 8_000_000;
/** Border and scroll bar. */
const FRAME = 17;

/** A box that scrolls over a plane of any size, while its grid has only the visible cells. */
export class ValuesScroll {
  readonly node: HTMLElement;
  plane = { rows: 0, cols: 0 };
  colWidth = 0;
  readonly #space = div("tvmdbg-values-space");
  #headWidth = 0;
  /** True while the revealed cell is kept visible, until the user scrolls away. */
  #follows = true;
  #placed = "";

  constructor(
    grid: HTMLElement,
    readonly draw: () => void,
    signal: AbortSignal,
  ) {
    this.node = element("div", { class: "tvmdbg-values", tabindex: -1 }, this.#space, grid);
    this.node.addEventListener("scroll", () => this.#scrolled(), { signal });
    onResize([this.node], () => draw(), signal);
  }

  get view(): { rows: number; cols: number } {
    const rows = Math.floor((this.node.clientHeight - ROW_HEIGHT) / ROW_HEIGHT);
    const cols = Math.floor((this.node.clientWidth - this.#headWidth) / this.colWidth);
    return { rows: Math.max(1, Math.min(ROWS, rows)), cols: Math.max(1, Math.min(COLS, cols)) };
  }

  /** First row and column by the scroll position; proportional if the true box would be too large. */
  get first(): Point {
    const { rows, cols } = this.plane;
    const view = this.view;
    const at = (scroll: number, room: number, hidden: number) =>
      room <= 0 || hidden <= 0 ? 0 : Math.round((scroll / room) * hidden);
    return {
      row: at(this.node.scrollTop, this.#room.down, rows - view.rows),
      col: at(this.node.scrollLeft, this.#room.across, cols - view.cols),
    };
  }

  reset(headWidth: number, colWidth: number): void {
    this.#headWidth = headWidth;
    this.colWidth = colWidth;
  }

  follow(): void {
    this.#follows = true;
  }

  /** Scrolls to a value, or to the first corner, unless the user has scrolled away since. */
  reveal({ row, col }: Point, corner = false): void {
    if (corner) this.#follows = true;
    if (!this.#follows) return;
    this.size();
    const [first, view] = [this.first, this.view];
    const to = (at: number, from: number, length: number) =>
      corner || at < from ? at : at >= from + length ? at - length + 1 : null;
    const toRow = to(row, first.row, view.rows);
    const toCol = to(col, first.col, view.cols);
    const scroll = (place: number, hidden: number, room: number) =>
      hidden > 0 ? (place / hidden) * room : 0;
    if (toRow !== null) {
      this.node.scrollTop = scroll(toRow, this.plane.rows - view.rows, this.#room.down);
    }
    if (toCol !== null) {
      this.node.scrollLeft = scroll(toCol, this.plane.cols - view.cols, this.#room.across);
    }
    this.#placed = this.#position;
  }

  /** Widens columns for longer texts; the right end stays in place. */
  widen(width: number): void {
    if (width <= this.colWidth) return;
    const share = this.node.scrollLeft / (this.#room.across || 1);
    this.colWidth = width;
    this.size();
    this.node.scrollLeft = share * this.#room.across;
    this.#placed = this.#follows ? this.#position : this.#placed;
  }

  size(): void {
    const { rows, cols } = this.plane;
    const pixels = (length: number, size: number) => Math.min(MAX_PIXELS, length * size);
    this.#space.style.height = `${ROW_HEIGHT + pixels(rows, ROW_HEIGHT)}px`;
    this.node.style.height = `${(Math.min(ROWS, rows) + 1) * ROW_HEIGHT + FRAME}px`;
    this.#space.style.width = `${this.#headWidth + pixels(cols, this.colWidth)}px`;
  }

  get #room(): { down: number; across: number } {
    const { scrollHeight, clientHeight, scrollWidth, clientWidth } = this.node;
    return { down: scrollHeight - clientHeight, across: scrollWidth - clientWidth };
  }

  get #position(): string {
    return `${this.node.scrollLeft}:${this.node.scrollTop}`;
  }

  #scrolled(): void {
    if (this.#position !== this.#placed) this.#follows = false;
    this.draw();
  }
}

const WHOLE = { zoom: 1, row: 0, col: 0 };
/** Space beside a plane, in CSS pixels. */
const MARGIN = 12;
/** Room below which a table has too few columns, or too few rows beside a vector. */
const LEAST_WIDTH = 220;
const LEAST_ROWS = 3;
/** Least size of the picture beside the table as a share of its size alone. */
const LEAST_SHARE = 0.6;

interface TableParts {
  scroll: HTMLElement;
  body: HTMLElement;
  view: HTMLElement;
  stage: HTMLElement;
  table: HTMLElement;
}

/** Puts the table of values beside the picture if there is room, else below. */
export class TablePlace {
  #chosen = "";

  constructor(readonly parts: TableParts) {}

  /** `plane` is null without a picture; `lone` values never have one. */
  arrange(plane: { rows: number; cols: number } | null, lone: boolean, entry: string): void {
    const { scroll, body, view, stage, table } = this.parts;
    const room = [scroll.clientWidth, scroll.clientHeight];
    const key = JSON.stringify([room, plane, lone, entry, table.hidden]);
    if (key === this.#chosen) return;
    this.#chosen = key;
    const wide = lone || table.hidden ? 0 : this.#widthBeside(plane);
    const beside = lone || wide > 0;
    stage.style.flex = wide ? `0 0 ${wide}px` : "";
    if (table.parentElement !== (beside ? view : body)) (beside ? view : body).append(table);
  }

  /** Width of the stage beside the table; 0 if that is below. */
  #widthBeside(plane: { rows: number; cols: number } | null): number {
    const { scroll, view, table } = this.parts;
    if (!plane || plane.rows < LEAST_ROWS) return 0;
    // A table below takes height from the picture: measure without it.
    const scrolled = scroll.scrollTop;
    table.hidden = true;
    const stage = { width: view.clientWidth, height: view.clientHeight };
    table.hidden = false;
    scroll.scrollTop = scrolled;
    if (!stage.width || !stage.height) return 0;
    const { plot } = layoutPlane(plane.rows, plane.cols, WHOLE, stage, devicePixelRatio || 1);
    const alone = Math.ceil(plot.x + plot.width + MARGIN);
    const wide = Math.min(alone, stage.width - LEAST_WIDTH);
    return wide >= LEAST_SHARE * alone ? wide : 0;
  }
}
