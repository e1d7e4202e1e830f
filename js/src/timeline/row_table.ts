import type { Theme } from "../shared/drawing/theme.ts";
import { shortName } from "../shared/short_name.ts";
import { element } from "../shell/dom.ts";
import { RowsInView } from "../shell/scrolling.ts";
import { NOISY_RULE } from "./descriptions.ts";

const ROW = 22;
/** Width of a letter on average, and of the mark before a name. */
const LETTER = 6.3;
export const MARK = 16;
export const NO_PART = "no part of an execution";

export function columnHeads(
  cells: readonly (readonly [name: string, content: HTMLElement | string, title: string])[],
): HTMLElement[] {
  return cells.map(([name, content, title]) =>
    element("span", { class: name, role: "columnheader", title: title || undefined }, content),
  );
}

export function gridCell(
  name: string,
  title: string | undefined,
  ...content: (Node | string | false)[]
): HTMLElement {
  return element("span", { class: name, role: "gridcell", title: title || undefined }, ...content);
}

/** The mark of a row in its color. */
export function chip(color = ""): HTMLElement {
  const node = element("i", { class: "tvmdbg-timeline-chip tvmdbg-swatch" });
  node.style.backgroundColor = color;
  return node;
}

export function shareBar(share: number): HTMLElement {
  const node = element("i", { class: "tvmdbg-timeline-share" });
  node.style.width = `${100 * share}%`;
  return node;
}

/** Its width with the room before it, CSS px. */
export const NOISY = 54;

export function noisyBadge(): HTMLElement {
  return element("b", { class: "tvmdbg-timeline-noisy", title: NOISY_RULE }, "noisy");
}

let serial = 0;

/** A table with a current row and a hovered one; only visible rows are in the document. */
export abstract class RowTable {
  protected readonly head = element("div", {
    class: "tvmdbg-timeline-head tvmdbg-timeline-row",
    role: "row",
    "aria-rowindex": 1,
  });
  protected readonly scroller: HTMLElement;
  protected readonly inView: RowsInView;
  /** Numbers of rows, or -1. */
  protected current = -1;
  protected hovered = -1;
  readonly #id = `tvmdbg-timeline-table-${++serial}`;

  constructor(
    protected theme: Theme,
    look: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) {
    const body = element("div", { class: "tvmdbg-timeline-rows", role: "rowgroup" });
    this.scroller = element("div", { ...look, tabindex: -1 }, this.head, body);
    const inView = new RowsInView(this.scroller, body, ROW, (place) => this.line(place), signal);
    this.inView = inView;
    body.addEventListener("click", (event) => this.click(inView.placeOf(event), event), { signal });
    body.addEventListener("pointermove", (event) => this.over(inView.placeOf(event)), { signal });
    body.addEventListener("pointerleave", () => this.over(-1), { signal });
  }

  protected abstract line(place: number): HTMLElement;
  /** Place of a row; -1 if it is not listed. */
  protected abstract placeOf(row: number): number;
  protected abstract click(place: number, event: MouseEvent): void;
  /** Hovers a place, or none with -1. */
  protected abstract over(place: number): void;

  /** Id of the current row's element, if the row is listed. */
  get activeId(): string | null {
    return this.placeOf(this.current) < 0 ? null : this.idOf(this.current);
  }

  protected idOf(row: number): string {
    return `${this.#id}-${row}`;
  }

  retheme(theme: Theme): void {
    this.theme = theme;
    this.paint();
  }

  paint(): void {
    this.inView.mark("current", this.placeOf(this.current));
    this.light(this.hovered);
    this.inView.paint();
  }

  /** A name in the room of its column, less some px: without shape or number, then shortened in the middle. */
  protected named(name: string, less: number): string {
    const width = this.head.querySelector(".label")?.clientWidth ?? 0;
    const letters = Math.floor((width - less) / LETTER);
    return letters < 1 || name.length <= letters ? name : shortName(name.split(" · ")[0]!, letters);
  }

  /** Scrolls to the current row, after the table was hidden. */
  appear(): void {
    this.reveal();
    this.paint();
  }

  protected light(row: number): void {
    this.hovered = row;
    this.inView.mark("hovered", this.placeOf(row));
  }

  protected reveal(): void {
    this.inView.reveal(this.placeOf(this.current));
  }
}
