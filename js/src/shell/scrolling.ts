import { onResize, pointIn } from "./dom.ts";

const LINE_PX = 16;
const ZOOM_PER_PX = 1.0018;
/** Duration of the hint in `wheel.css`. */
const HINT_MS = 2000;
const HINT = "tvmdbg-wheel-hint";

/** Effect of the wheel on a horizontal axis: it pans, also with Shift, or zooms. */
export interface AxisTurn {
  panPx: number;
  zoom: number;
}

export function axisTurn(event: WheelEvent): AxisTurn {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
  const [across, down] = [event.deltaX * unit, event.deltaY * unit];
  const pans = event.shiftKey || Math.abs(across) > Math.abs(down);
  if (!pans) return { panPx: 0, zoom: ZOOM_PER_PX ** down };
  return { panPx: event.shiftKey && !across ? down : across, zoom: 1 };
}

export function bindAxisWheel(
  root: HTMLElement,
  { node, canvas }: { node: HTMLElement; canvas: HTMLElement },
  turned: (turn: AxisTurn, at: { x: number; y: number }) => void,
  signal: AbortSignal,
): void {
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const hide = () => node.classList.remove(HINT);
  const turn = (event: WheelEvent) => {
    if (root.matches(":focus-within")) {
      event.preventDefault();
      turned(axisTurn(event), pointIn(canvas, event));
      return;
    }
    clearTimeout(hiding);
    node.classList.add(HINT);
    hiding = setTimeout(hide, HINT_MS);
  };
  canvas.addEventListener("wheel", turn, { signal, passive: false });
  root.addEventListener("focus", hide, { signal });
  signal.addEventListener("abort", () => clearTimeout(hiding));
}

/** Scrolls a box as little as shows a part of it, below a fixed head. */
export function reveal(box: HTMLElement, top: number, height: number, head = 0): void {
  const beyond = top + height - box.clientHeight;
  if (top - head < box.scrollTop) box.scrollTop = top - head;
  else if (beyond > box.scrollTop) box.scrollTop = beyond;
}

const SPARE = 6;
/** Limit of the rows made at once, whatever height a page gives the list before its layout. */
const MOST = 200;

export class RowsInView {
  /** Content of an empty list. */
  none: () => readonly HTMLElement[] = () => [];
  readonly #scroller: HTMLElement;
  readonly #body: HTMLElement;
  readonly #make: (place: number) => HTMLElement;
  #height: number;
  #length = 0;
  readonly #marked = { current: -1, hovered: -1 };

  /**
   * @param scroller Scrolls `body`; its content above that stays visible. @param body As high as all rows. @param
   * height Height of a row, CSS px. @param make Makes the row at an index.
   */
  constructor(
    scroller: HTMLElement,
    body: HTMLElement,
    height: number,
    make: (place: number) => HTMLElement,
    signal: AbortSignal,
  ) {
    this.#scroller = scroller;
    this.#body = body;
    body.classList.add("tvmdbg-rows");
    this.#height = height;
    this.#make = make;
    scroller.addEventListener("scroll", () => this.paint(), { signal, passive: true });
    onResize([scroller], () => this.paint(), signal);
  }

  set length(length: number) {
    this.#length = length;
    this.#body.style.height = `${length * this.#height}px`;
  }

  set height(height: number) {
    const first = this.#scroller.scrollTop / this.#height;
    this.#height = height;
    this.length = this.#length;
    this.paint();
    this.#scroller.scrollTop = first * height;
  }

  /** Number of rows per page, with one of overlap at both ends. */
  get page(): number {
    return Math.max(1, Math.floor((this.#scroller.clientHeight - this.#head) / this.#height) - 1);
  }

  /** Index that a key leads to from another, null for other keys; -1 without rows. */
  placeByKey(key: string, from: number): number | null {
    const last = this.#length - 1;
    const to = {
      ArrowUp: from - 1,
      ArrowDown: from + 1,
      PageUp: from - this.page,
      PageDown: from + this.page,
      Home: 0,
      End: last,
    }[key];
    return to === undefined ? null : Math.min(Math.max(0, to), last);
  }

  placeOf(event: Event): number {
    const line = (event.target as Element).closest<HTMLElement>("[data-place]");
    return line ? Number(line.dataset.place) : -1;
  }

  mark(name: "current" | "hovered", place: number): void {
    this.#marked[name] = place;
    for (const line of this.#body.children) this.#show(line as HTMLElement);
  }

  reveal(place: number): void {
    const head = this.#head;
    if (place >= 0) reveal(this.#scroller, head + place * this.#height, this.#height, head);
  }

  paint(): void {
    const { scrollTop, clientHeight } = this.#scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.#height) - SPARE);
    const shown = Math.min(MOST, Math.ceil(clientHeight / this.#height)) + 2 * SPARE + 1;
    const count = Math.max(0, Math.min(this.#length - first, shown));
    const lines = Array.from({ length: count }, (_, at) => {
      const line = this.#make(first + at);
      line.dataset.place = String(first + at);
      line.style.top = `${(first + at) * this.#height}px`;
      this.#show(line);
      return line;
    });
    this.#body.replaceChildren(...(this.#length ? lines : this.none()));
  }

  #show(line: HTMLElement): void {
    const place = Number(line.dataset.place);
    for (const [name, at] of Object.entries(this.#marked))
      line.classList.toggle(name, at === place);
  }

  /** Height of the scroller's fixed head, CSS px. */
  get #head(): number {
    return (this.#body.previousElementSibling as HTMLElement | null)?.offsetHeight ?? 0;
  }
}
