import type { Client } from "../../shared/client/client.ts";
import type { SessionClient } from "../../shared/client/session_client.ts";
import {
  clear,
  type Layer,
  type Pen,
  type Rectangle,
  TextMeasure,
} from "../../shared/drawing/canvas.ts";
import { readTheme, type Theme } from "../../shared/drawing/theme.ts";
import { div, element, onResize, pointIn } from "../../shell/dom.ts";
import { bindPointer, type PointerHandlers } from "../../shell/pointer.ts";
import { reveal } from "../../shell/scrolling.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import type { ViewOptions } from "../../shell/view.ts";
import { fitTitle, type Title } from "../data/names.ts";
import type { TimelineOptions } from "../data/state.ts";
import type { TimelineData } from "../descriptions.ts";

export const FONT = 11;

interface DrawnChart {
  labels: (Rectangle & { text: string })[];
  marks: (Rectangle & Record<string, unknown>)[];
}

/** A canvas in CSS pixels, with the current theme. */
export class Brush {
  theme!: Theme;
  drawn: DrawnChart = { labels: [], marks: [] };

  constructor(
    readonly context: Pen,
    readonly measure = new TextMeasure(context),
  ) {}

  fill(color: string, x: number, y: number, width: number, height: number, alpha = 1): void {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = color;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }

  start(theme: Theme): void {
    this.theme = theme;
    this.drawn = { labels: [], marks: [] };
  }

  /** A line with a halo around a box, visible on every fill. */
  frame({ x, y, width, height }: Rectangle, line = 2): void {
    const { context, theme } = this;
    for (const [color, thick] of [
      [theme.background, line + 2],
      [theme.text, line],
    ] as const) {
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.strokeRect(x, y, Math.max(0, width), Math.max(0, height));
    }
  }

  font(weight = "normal"): void {
    this.context.font = `${weight} ${FONT}px ${this.theme.font}`;
    this.context.textBaseline = "middle";
  }

  /** Writes as much of the text as fits into `room`, its middle at `y`; returns its width. */
  text(text: string, x: number, y: number, color: string, room: number, weight?: string): number {
    this.font(weight);
    const shown = this.measure.fit(text, room);
    return shown ? this.write(shown, x, y, color) : 0;
  }

  /** Writes the title of an operator, whose id is kept longest. */
  title(title: Title, x: number, y: number, color: string, room: number, weight?: string): number {
    this.font(weight);
    const shown = fitTitle(this.measure, title, room);
    return shown ? this.write(shown, x, y, color) : 0;
  }

  /** Writes a number, completely or not at all. */
  number(text: string, x: number, y: number, color: string, room: number, right = false): number {
    this.font();
    const width = this.measure.width(text);
    return width > room ? 0 : this.write(text, right ? x - width : x, y, color);
  }

  write(text: string, x: number, y: number, color: string): number {
    this.context.fillStyle = color;
    this.context.fillText(text, x, y + 0.5);
    const width = this.measure.width(text);
    this.drawn.labels.push({ text, x, y: y - FONT / 2, width, height: FONT });
    return width;
  }
}

/** Moves by the arrow keys, Home, End and pages; returns true if the key was one of them. */
export function arrows(
  key: string,
  across: (by: number) => void,
  down: (by: number) => void,
  page: number,
): boolean {
  const moves: Record<string, readonly [move: (by: number) => void, by: number]> = {
    ArrowLeft: [across, -1],
    ArrowRight: [across, 1],
    Home: [across, -Infinity],
    End: [across, Infinity],
    ArrowUp: [down, -1],
    ArrowDown: [down, 1],
    PageUp: [down, -page],
    PageDown: [down, page],
  };
  const [move, by] = moves[key] ?? [];
  move?.(by!);
  return move !== undefined;
}

/** A chart in place of the tracks in time, over the same slices. */
export interface OtherChart {
  readonly node: HTMLElement;
  readonly stage: ChartStage;
  /** Description of the picked item, or ""; the session's description follows a pick. */
  readonly sentence?: string;
  sync(): void;
  /** Handles a key; true ends its handling. */
  key(event: KeyboardEvent): boolean;
  /** Adds the drawn items, for tests: `labels` and `marks` in CSS pixels of `node`. */
  inspect(out: Record<string, unknown>): void;
}

/** Services of the view for a chart. */
export interface ChartHost {
  readonly root: HTMLElement;
  readonly data: TimelineData;
  readonly run: Client;
  readonly options: ViewOptions<TimelineOptions>;
  readonly session: SessionClient;
  /** Selects nodes, or one slice; the last node becomes the current one. */
  pick(nodes: readonly number[], slice?: number): void;
  hover(node: number | null): void;
  say(text: string): void;
  /** Shows lines beside a point of the chart's `node`, the first in bold; null hides them. */
  tip(lines: string[] | null, x: number, y: number): void;
  readonly signal: AbortSignal;
}

export interface StageEvents extends Partial<Pick<PointerHandlers, "press" | "drag" | "drop">> {
  /** Paints all; the stage is `width` × `height` CSS pixels. */
  paint(brush: Brush, width: number, height: number): void;
  /** Paints the overlay: pointer, hover, selection. */
  over(brush: Brush, width: number, height: number): void;
  /** The pointer moved; null: it has left. */
  move(at: { x: number; y: number } | null): void;
  click(x: number, y: number, event: MouseEvent): void;
  double?(x: number, y: number): void;
  /** Handles the wheel while the view has the focus; false lets the page scroll. */
  wheel?(x: number, y: number, event: WheelEvent): boolean;
}

/** Stage of a chart, painted with brushes that record what they draw. */
export class ChartStage extends Stage {
  readonly record: () => DrawnChart;
  readonly #root: HTMLElement;

  constructor(
    className: string,
    events: StageEvents,
    { root, signal }: Pick<ChartHost, "root" | "signal">,
  ) {
    let record!: () => DrawnChart;
    const make = (base: Layer, over: Layer): StagePainters => {
      const [brush, overBrush] = [new Brush(base.context), new Brush(over.context)];
      const paint = (theme: Theme, width: number, height: number) => {
        brush.start(theme);
        brush.fill(theme.background, 0, 0, width, height);
        events.paint(brush, width, height);
      };
      const paintOver = (theme: Theme, width: number, height: number) => {
        overBrush.start(theme);
        events.over(overBrush, width, height);
      };
      record = () => {
        const { width, height } = this;
        const theme = readTheme(root);
        for (const layer of [base, over]) clear(layer, width, height);
        paint(theme, width, height);
        paintOver(theme, width, height);
        const { labels, marks } = overBrush.drawn;
        return {
          labels: [...brush.drawn.labels, ...labels],
          marks: [...brush.drawn.marks, ...marks],
        };
      };
      return { base: paint, over: paintOver };
    };
    super(root, "tvmdbg-timeline-base", make, signal);
    this.record = record;
    this.#root = root;
    this.node.classList.add(className);
    bindPointer(
      this.canvas,
      {
        ...events,
        press: (...press) => {
          this.focusView();
          events.press?.(...press);
        },
        hover: (at) => events.move(at),
        leave: () => events.move(null),
        click: ({ x, y }, event) => event.button === 0 && events.click(x, y, event),
        doubleClick: ({ x, y }) => events.double?.(x, y),
      },
      signal,
    );
    const turn = (event: WheelEvent) => {
      if (!root.matches(":focus-within")) return;
      const { x, y } = pointIn(this.canvas, event);
      if (events.wheel?.(x, y, event)) event.preventDefault();
    };
    this.canvas.addEventListener("wheel", turn, { signal, passive: false });
  }

  focusView(): void {
    this.#root.focus({ preventScroll: true });
  }

  get width(): number {
    return this.node.clientWidth;
  }

  get height(): number {
    return this.node.clientHeight;
  }
}

/** Scrolls content higher than its room; the stage itself is never higher than that. */
export class Scroller {
  readonly node: HTMLElement;
  readonly #stage: ChartStage;
  readonly #measured: (room: number) => number;
  readonly #filler = div("tvmdbg-timeline-filler");

  /** @param measured Height of the content in a room of this many pixels. */
  constructor(stage: ChartStage, measured: (room: number) => number, signal: AbortSignal) {
    this.#stage = stage;
    this.#measured = measured;
    this.node = element(
      "div",
      { class: "tvmdbg-timeline-scroll tvmdbg-relative tvmdbg-fill", tabindex: -1 },
      stage.node,
      this.#filler,
    );
    this.node.addEventListener("scroll", () => stage.changed(), { signal });
    onResize([this.node], () => this.fit(), signal);
  }

  get top(): number {
    return this.node.scrollTop;
  }

  /** Updates the height of the content. */
  fit(): void {
    const room = this.node.clientHeight;
    this.#stage.node.style.height = `${room}px`;
    this.#filler.style.height = `${Math.max(0, this.#measured(room) - room)}px`;
    this.#stage.changed();
  }

  /** Scrolls to a row at `top`. */
  reveal(top: number, height: number, above = 0): void {
    reveal(this.node, top, height, above);
  }
}

/** Contents of a stage, in CSS pixels of the node around it. */
export function shifted(stage: ChartStage, around: HTMLElement): DrawnChart {
  const { labels, marks } = stage.record();
  const [inner, outer] = [stage.node, around].map((node) => node.getBoundingClientRect());
  const [dx, dy] = [inner!.left - outer!.left, inner!.top - outer!.top];
  const move = <T extends Rectangle>(box: T) => ({ ...box, x: box.x + dx, y: box.y + dy });
  return { labels: labels.map(move), marks: marks.map(move) };
}
