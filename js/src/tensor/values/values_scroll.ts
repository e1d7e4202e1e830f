import { div, element, onResize } from "../../shell/dom.ts";
import type { Point } from "../plane.ts";

/** Most visible rows and columns, and most per request. */
export const ROWS = 64;
export const COLS = 32;
const ROW_HEIGHT = 20;
/** Box height above which browsers lose positions. */
const MAX_PIXELS = 8_000_000;
/** Border and scroll bar. */
const FRAME = 17;
/** Space beside a text of which a column may give so much that all fit. */
const SPARE = 5;

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
    const over = this.#headWidth + cols * this.colWidth - this.node.clientWidth;
    // Chromium does not scroll by less than the gutter of its scroll bar.
    if (over > 0 && over <= Math.min(FRAME, cols * SPARE)) this.colWidth -= Math.ceil(over / cols);
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
