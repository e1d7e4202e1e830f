import { clear, type Layer, layer, Repaint } from "../../shared/drawing/canvas.ts";
import { readTheme, type Theme } from "../../shared/drawing/theme.ts";
import { element } from "../../shared/ui/dom.ts";
import { type Box, Brush, type Drawn } from "./brush.ts";

export interface StageEvents {
  /** Paints all; the stage is `width` × `height` CSS pixels. */
  paint(brush: Brush, width: number, height: number): void;
  /** Paints what lies over it: pointer, hover, selection. */
  over(brush: Brush, width: number, height: number): void;
  /** The pointer is there; null: it has left. */
  move(at: { x: number; y: number } | null): void;
  click(x: number, y: number, event: MouseEvent): void;
  double?(x: number, y: number): void;
  /** Of the wheel, while the view has the focus; false: the page may scroll. */
  wheel?(x: number, y: number, event: WheelEvent): boolean;
}

/** Two canvases over each other, painted when something on them has changed. */
export class Stage {
  readonly node: HTMLElement;
  readonly #base = layer("tvmdbg-timeline-base");
  readonly #over = layer("tvmdbg-overlay");
  readonly #brush = new Brush(this.#base.context);
  readonly #overBrush = new Brush(this.#over.context);
  readonly #repaint: Repaint;
  readonly #events: StageEvents;
  #dirty = true;
  #size = "";

  constructor(className: string, events: StageEvents, signal: AbortSignal) {
    this.#events = events;
    const classes = `tvmdbg-stage ${className}`;
    this.node = element("div", { class: classes }, this.#base.canvas, this.#over.canvas);
    this.#repaint = new Repaint(this.node, () => this.#draw(), signal);
    const { canvas } = this.#base;
    const at = (event: MouseEvent) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener("pointermove", (event) => events.move(at(event)), { signal });
    canvas.addEventListener("pointerleave", () => events.move(null), { signal });
    const focus = () => this.#root?.focus({ preventScroll: true });
    canvas.addEventListener("pointerdown", focus, { signal });
    canvas.addEventListener(
      "click",
      (event) => {
        const { x, y } = at(event);
        events.click(x, y, event);
      },
      { signal },
    );
    canvas.addEventListener(
      "dblclick",
      (event) => {
        const { x, y } = at(event);
        events.double?.(x, y);
      },
      { signal },
    );
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!this.#root?.matches(":focus-within")) return;
        const { x, y } = at(event);
        if (events.wheel?.(x, y, event)) event.preventDefault();
      },
      { signal, passive: false },
    );
  }

  get width(): number {
    return this.node.clientWidth;
  }

  get height(): number {
    return this.node.clientHeight;
  }

  /** All is to be painted anew. */
  changed(): void {
    this.#dirty = true;
    this.#repaint.request();
  }

  /** Only what lies over it. */
  touched(): void {
    this.#repaint.request();
  }

  /** Paints now and tells what is there. */
  record(): Drawn {
    this.#dirty = true;
    this.#draw();
    const { labels, marks } = this.#brush.drawn;
    const over = this.#overBrush.drawn;
    return { labels: [...labels, ...over.labels], marks: [...marks, ...over.marks] };
  }

  get #root(): HTMLElement | null {
    return this.node.closest<HTMLElement>(".tvmdbg");
  }

  #draw(): void {
    const { width, height } = this;
    const root = this.#root;
    if (!root || !width || !height) return;
    const theme = readTheme(root);
    const size = `${width} ${height} ${devicePixelRatio}`;
    if (this.#dirty || size !== this.#size) {
      this.#size = size;
      this.#start(this.#brush, this.#base, theme);
      this.#brush.fill(theme.background, 0, 0, width, height);
      this.#events.paint(this.#brush, width, height);
    }
    this.#dirty = false;
    this.#start(this.#overBrush, this.#over, theme);
    this.#events.over(this.#overBrush, width, height);
  }

  #start(brush: Brush, on: Layer, theme: Theme): void {
    clear(on, this.width, this.height);
    brush.theme = theme;
    brush.drawn = { labels: [], marks: [] };
  }
}

/** Scrolls what is higher than its room; the stage itself is never higher than that. */
export class Scroller {
  readonly node: HTMLElement;
  readonly #stage: Stage;
  readonly #measured: (room: number) => number;
  readonly #filler = element("div", { class: "tvmdbg-timeline-filler" });

  /** @param measured  how high all is, in a room of so many pixels. */
  constructor(stage: Stage, measured: (room: number) => number, signal: AbortSignal) {
    this.#stage = stage;
    this.#measured = measured;
    this.node = element(
      "div",
      { class: "tvmdbg-timeline-scroll", tabindex: -1 },
      stage.node,
      this.#filler,
    );
    this.node.addEventListener("scroll", () => stage.changed(), { signal });
    const size = new ResizeObserver(() => this.fit());
    size.observe(this.node);
    signal.addEventListener("abort", () => size.disconnect());
  }

  get top(): number {
    return this.node.scrollTop;
  }

  /** Takes over how high all is. */
  fit(): void {
    const room = this.node.clientHeight;
    this.#stage.node.style.height = `${room}px`;
    this.#filler.style.height = `${Math.max(0, this.#measured(room) - room)}px`;
    this.#stage.changed();
  }

  /** Brings what begins at `top` into view. */
  reveal(top: number, height: number, above = 0): void {
    const { scrollTop, clientHeight } = this.node;
    if (top - above < scrollTop) this.node.scrollTop = top - above;
    else if (top + height > scrollTop + clientHeight) {
      this.node.scrollTop = top + height - clientHeight;
    }
  }
}

/** What a stage shows, in CSS pixels of the node around it. */
export function shifted(stage: Stage, around: HTMLElement): Drawn {
  const { labels, marks } = stage.record();
  const [inner, outer] = [stage.node, around].map((node) => node.getBoundingClientRect());
  const [dx, dy] = [inner!.left - outer!.left, inner!.top - outer!.top];
  const move = <T extends Box>(box: T) => ({ ...box, x: box.x + dx, y: box.y + dy });
  return { labels: labels.map(move), marks: marks.map(move) };
}
