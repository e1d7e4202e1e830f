import { element } from "../shared/dom.ts";
import { errorText } from "../shared/message.ts";
import { isAbort, NewestWins } from "../shared/request.ts";
import type { RunClient } from "../shared/run_client.ts";
import type { TensorAnswer, ValuesAnswer } from "../shared/tensor_questions.ts";
import type { Point } from "./plane.ts";
import { AS_NUMBER, viewOf } from "./state.ts";

const ROWS = 64;
const COLS = 32;
const ROW_HEIGHT = 20;
const LETTER = 7.3;
/** Browsers forget positions in boxes of more pixels than this. */
const MAX_PIXELS = 8_000_000;
const NARROWEST = 56;
const TALLEST = 224;
/** Border and scroll bar. */
const FRAME = 17;

/** A window into the plane's values as exact text; only what can be seen is asked for and built. */
export class ValuesTable {
  readonly node: HTMLElement;
  readonly #run: RunClient;
  readonly #signal: AbortSignal;
  readonly #pick: (point: Point) => void;
  readonly #space = element("div", { class: "tvmdbg-values-space" });
  readonly #grid = element("div", {
    class: "tvmdbg-values-grid",
    role: "grid",
    "aria-label": "Values",
  });
  readonly #failure = element("div", { class: "tvmdbg-error", role: "alert", hidden: true });
  readonly #newest = new NewestWins();
  #answer: TensorAnswer | null = null;
  #values: ValuesAnswer | null = null;
  #cross: Point | null = null;
  #colWidth = NARROWEST;
  /** Whether the crosshair is kept in sight: until the user scrolls away from it. */
  #follows = true;
  #placed = "";
  #ticket = 0;
  #wanted = "";

  constructor(run: RunClient, pick: (point: Point) => void, signal: AbortSignal) {
    this.#run = run;
    this.#pick = pick;
    this.#signal = signal;
    this.node = element(
      "div",
      { class: "tvmdbg-values", tabindex: -1, hidden: true },
      this.#space,
      this.#grid,
      this.#failure,
    );
    this.node.addEventListener("scroll", () => this.#scrolled(), { signal });
    this.node.addEventListener("pointerdown", (event) => this.#press(event), { signal });
    new ResizeObserver(() => this.#draw()).observe(this.node);
  }

  get open(): boolean {
    return !this.node.hidden;
  }

  toggle(): void {
    this.node.hidden = !this.node.hidden;
    this.#reveal();
    this.#draw();
  }

  show(answer: TensorAnswer | null): void {
    this.#answer = answer;
    this.#values = null;
    this.#ticket += 1;
    this.#wanted = "";
    this.#colWidth = NARROWEST;
    this.#draw();
  }

  mark(cross: Point | null): void {
    this.#cross = cross;
    this.#follows = true;
    this.#reveal();
    this.#draw();
  }

  get #plane(): { rows: number; cols: number } {
    const tile = this.#answer?.tile;
    return { rows: tile?.planeRows ?? 0, cols: tile?.planeCols ?? 0 };
  }

  get #headWidth(): number {
    return Math.max(36, String(this.#plane.rows).length * LETTER + 14);
  }

  /** How many whole rows and columns the box shows. */
  get #view(): { rows: number; cols: number } {
    const rows = Math.floor((this.node.clientHeight - ROW_HEIGHT) / ROW_HEIGHT);
    const cols = Math.floor((this.node.clientWidth - this.#headWidth) / this.#colWidth);
    return { rows: Math.max(1, Math.min(ROWS, rows)), cols: Math.max(1, Math.min(COLS, cols)) };
  }

  /** First row and column by the scroll position; proportional where the true box would be too large. */
  get #first(): Point {
    const { rows, cols } = this.#plane;
    const view = this.#view;
    const at = (scroll: number, room: number, hidden: number) =>
      room <= 0 || hidden <= 0 ? 0 : Math.round((scroll / room) * hidden);
    return {
      row: at(
        this.node.scrollTop,
        this.node.scrollHeight - this.node.clientHeight,
        rows - view.rows,
      ),
      col: at(
        this.node.scrollLeft,
        this.node.scrollWidth - this.node.clientWidth,
        cols - view.cols,
      ),
    };
  }

  #reveal(): void {
    const cross = this.#cross;
    if (!cross || !this.open || !this.#follows) return;
    this.#size();
    const [first, view, plane] = [this.#first, this.#view, this.#plane];
    const to = (at: number, from: number, length: number) =>
      at < from ? at : at >= from + length ? at - length + 1 : null;
    const row = to(cross.row, first.row, view.rows);
    const col = to(cross.col, first.col, view.cols);
    const scroll = (place: number, hidden: number, room: number) => (place / hidden) * room;
    if (row !== null) {
      const room = this.node.scrollHeight - this.node.clientHeight;
      this.node.scrollTop = scroll(row, plane.rows - view.rows, room);
    }
    if (col !== null) {
      const room = this.node.scrollWidth - this.node.clientWidth;
      this.node.scrollLeft = scroll(col, plane.cols - view.cols, room);
    }
    this.#placed = this.#position;
  }

  /** Makes room for longer texts; what was at the right end stays there. */
  #widen(width: number): void {
    if (width <= this.#colWidth) return;
    const room = () => this.node.scrollWidth - this.node.clientWidth;
    const share = this.node.scrollLeft / (room() || 1);
    this.#colWidth = width;
    this.#size();
    this.node.scrollLeft = share * room();
    this.#placed = this.#follows ? this.#position : this.#placed;
  }

  get #position(): string {
    return `${this.node.scrollLeft}:${this.node.scrollTop}`;
  }

  #scrolled(): void {
    if (this.#position !== this.#placed) this.#follows = false;
    this.#draw();
  }

  #size(): void {
    const { rows, cols } = this.#plane;
    const pixels = (length: number, each: number) => Math.min(MAX_PIXELS, length * each);
    this.#space.style.height = `${ROW_HEIGHT + pixels(rows, ROW_HEIGHT)}px`;
    this.node.style.height = `${Math.min(TALLEST, (rows + 1) * ROW_HEIGHT + FRAME)}px`;
    this.#space.style.width = `${this.#headWidth + pixels(cols, this.#colWidth)}px`;
  }

  #draw(): void {
    if (!this.open || !this.#answer) {
      this.#grid.replaceChildren();
      return;
    }
    this.#size();
    const [first, view, plane] = [this.#first, this.#view, this.#plane];
    const rows = Math.min(view.rows, plane.rows - first.row);
    const cols = Math.min(view.cols, plane.cols - first.col);
    this.#grid.setAttribute("aria-rowcount", String(plane.rows));
    this.#grid.setAttribute("aria-colcount", String(plane.cols));
    const head = this.#headWidth;
    this.#grid.style.gridTemplateColumns = `${head}px repeat(${Math.max(0, cols)}, ${this.#colWidth}px)`;
    const heads = Array.from({ length: cols }, (_, col) => header("columnheader", first.col + col));
    const cells: HTMLElement[] = [element("div", { role: "presentation" }), ...heads];
    for (let row = first.row; row < first.row + rows; row += 1) {
      cells.push(header("rowheader", row));
      for (let col = first.col; col < first.col + cols; col += 1) cells.push(this.#cell(row, col));
    }
    this.#grid.replaceChildren(...cells);
    if (rows > 0 && cols > 0 && !this.#covers(first, rows, cols)) this.#ask(first, view);
  }

  #cell(row: number, col: number): HTMLElement {
    const text = this.#text(row, col);
    const special = text !== null && /nan|inf/i.test(text);
    const here = this.#cross?.row === row && this.#cross.col === col;
    return element(
      "div",
      {
        role: "gridcell",
        class: special ? "tvmdbg-values-special" : undefined,
        "aria-selected": here ? "true" : undefined,
        "aria-rowindex": row + 1,
        "aria-colindex": col + 1,
        "data-row": row,
        "data-col": col,
      } as Record<string, string | number | boolean>,
      text ?? "…",
    );
  }

  #text(row: number, col: number): string | null {
    const values = this.#values;
    if (!values) return null;
    const [down, across] = [row - values.row, col - values.col];
    if (down < 0 || across < 0 || down >= values.rows || across >= values.cols) return null;
    return values.text[down * values.cols + across] ?? null;
  }

  #covers(first: Point, rows: number, cols: number): boolean {
    const last = this.#text(first.row + rows - 1, first.col + cols - 1);
    return this.#text(first.row, first.col) !== null && last !== null;
  }

  /** Asks for the largest window about what is seen. */
  async #ask(first: Point, view: { rows: number; cols: number }): Promise<void> {
    const answer = this.#answer;
    if (!answer) return;
    const plane = this.#plane;
    const rows = Math.min(ROWS, plane.rows);
    const cols = Math.min(COLS, plane.cols);
    const about = (start: number, seen: number, asked: number, all: number) =>
      Math.max(0, Math.min(all - asked, start - Math.floor((asked - seen) / 2)));
    const row = about(first.row, view.rows, rows, plane.rows);
    const col = about(first.col, view.cols, cols, plane.cols);
    const wanted = `${row}:${col}`;
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    const ticket = this.#ticket;
    const question = { ...viewOf(answer), ...AS_NUMBER, row, col, rows, cols };
    try {
      const values = await this.#newest.ask(() => this.#run.values(question, this.#signal));
      if (ticket !== this.#ticket) return;
      this.#values = values;
      this.#failure.hidden = true;
      const longest = Math.max(...values.text.map((text) => text.length));
      this.#widen(Math.ceil(longest * LETTER) + 14);
      this.#reveal();
      this.#draw();
    } catch (error) {
      if (ticket !== this.#ticket || isAbort(error)) return;
      this.#failure.textContent = `The values could not be read: ${errorText(error)}`;
      this.#failure.hidden = false;
    } finally {
      if (this.#wanted === wanted) this.#wanted = "";
    }
  }

  #press(event: PointerEvent): void {
    const cell =
      event.target instanceof HTMLElement ? event.target.closest("[role=gridcell]") : null;
    if (!(cell instanceof HTMLElement) || event.button !== 0) return;
    event.preventDefault();
    this.#pick({ row: Number(cell.dataset.row), col: Number(cell.dataset.col) });
  }
}

function header(role: "columnheader" | "rowheader", index: number): HTMLElement {
  return element("div", { role, class: "tvmdbg-values-head" }, String(index));
}
