import type { SessionClient } from "../../shared/client/session_client.ts";
import { ChartBrush, type DrawnItems } from "../../shared/drawing/brush.ts";
import type { Layer, Rectangle } from "../../shared/drawing/canvas.ts";
import { div, element, onResize, pointIn } from "../../shell/dom.ts";
import { bindPointer, type PointerHandlers, type PointerSpot } from "../../shell/pointer.ts";
import { reveal } from "../../shell/scrolling.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import type { Tooltip } from "../../shell/tooltip.ts";
import type { ViewContext } from "../../shell/view.ts";
import type { TimelineOptions } from "../data/state.ts";
import type { SliceFact, TimelineData } from "../descriptions.ts";

/** Lines of a tooltip; the rest is in the details. */
const MOST_LINES = 3;

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

/** Services of the view for a chart or a table. */
export interface ChartHost {
  readonly root: HTMLElement;
  readonly data: TimelineData;
  readonly context: ViewContext<TimelineOptions>;
  readonly session: SessionClient;
  readonly tooltip: Tooltip;
  say(text: string): void;
  /** Selects nodes, or one slice, in a part of the view; the last node becomes the current one. */
  choose(part: "chart" | "table", nodes: readonly number[], slice?: number): void;
}

/** What a stage shows, and how it answers pointer and wheel. */
export interface StageChart extends PointerHandlers {
  /** Paints all; the stage is `width` × `height` CSS pixels. */
  paint(brush: ChartBrush, width: number, height: number): void;
  /** Paints the overlay: pointer, hover, selection. */
  over(brush: ChartBrush, width: number, height: number): void;
  /** Handles the wheel while the view has the focus; false lets the page scroll. */
  wheel?(x: number, y: number, event: WheelEvent): boolean;
}

/** Stage of a chart, painted with brushes that record what they draw. */
export class ChartStage extends Stage {
  readonly #root: HTMLElement;
  readonly #brushes: readonly ChartBrush[];

  constructor(
    className: string,
    chart: StageChart,
    { root, context: { signal } }: Pick<ChartHost, "root" | "context">,
  ) {
    const brushes: ChartBrush[] = [];
    const make = (...layers: Layer[]): StagePainters => {
      for (const { context } of layers) brushes.push(new ChartBrush(context));
      const [brush, over] = brushes;
      return {
        base: (theme, width, height) => {
          brush!.start(theme);
          brush!.fill(theme.background, 0, 0, width, height);
          chart.paint(brush!, width, height);
        },
        over: (theme, width, height) => {
          over!.start(theme);
          chart.over(over!, width, height);
        },
      };
    };
    super(root, "tvmdbg-timeline-base", make, signal);
    this.#brushes = brushes;
    this.#root = root;
    this.node.classList.add(className);
    this.canvas.addEventListener("pointerdown", () => this.focusView(), { signal });
    bindPointer(this.canvas, chart, signal);
    const turn = (event: WheelEvent) => {
      if (!root.matches(":focus-within")) return;
      const { x, y } = pointIn(this.canvas, event);
      if (chart.wheel?.(x, y, event)) event.preventDefault();
    };
    this.canvas.addEventListener("wheel", turn, { signal, passive: false });
  }

  /** Paints at once, and returns the drawn items. */
  record(): DrawnItems {
    this.changed();
    this.paint();
    const drawn = this.#brushes.map((brush) => brush.drawn);
    return {
      labels: drawn.flatMap(({ labels }) => labels),
      marks: drawn.flatMap(({ marks }) => marks),
    };
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

/** Contents of a stage, in CSS pixels of the node around it. */
export function shifted(stage: ChartStage, around: HTMLElement): DrawnItems {
  const { labels, marks } = stage.record();
  const [inner, outer] = [stage.node, around].map((node) => node.getBoundingClientRect());
  const [dx, dy] = [inner!.left - outer!.left, inner!.top - outer!.top];
  const move = <T extends Rectangle>(box: T) => ({ ...box, x: box.x + dx, y: box.y + dy });
  return { labels: labels.map(move), marks: marks.map(move) };
}

/** A chart in place of the tracks in time, over the same slices. */
export interface OtherChart {
  readonly node: HTMLElement;
  readonly stage: ChartStage;
  /** Description of the picked item, or ""; the session's description follows a pick. */
  readonly sentence: string;
  /** What the chart knows of a node, for its details. */
  factsOf?(node: number): SliceFact[];
  sync(): void;
  /** Handles a key; true ends its handling. */
  key(event: KeyboardEvent): boolean;
  /** Adds the drawn items, for tests: `labels` and `marks` in CSS pixels of `node`. */
  inspect(out: Record<string, unknown>): void;
}

/** A chart that scrolls, with frames around the current item and the hovered one, which has lines beside the pointer. */
export abstract class ScrolledChart<Item> implements OtherChart, StageChart {
  readonly node: HTMLElement;
  readonly stage: ChartStage;
  protected readonly above = div("tvmdbg-timeline-above");
  /** Scrolls content higher than its room; the stage itself is never higher than that. */
  readonly #scroller: HTMLElement;
  readonly #filler = div("tvmdbg-timeline-filler");
  protected current: Item;
  protected hovered: Item;

  constructor(
    protected readonly host: ChartHost,
    className: string,
    protected readonly none: Item,
  ) {
    this.current = this.hovered = none;
    this.stage = new ChartStage(className, this, host);
    const { signal } = host.context;
    const look = "tvmdbg-timeline-scroll tvmdbg-relative tvmdbg-fill";
    const content = [this.stage.node, this.#filler];
    this.#scroller = element("div", { class: look, tabindex: -1 }, ...content);
    this.#scroller.addEventListener("scroll", () => this.stage.changed(), { signal });
    onResize([this.#scroller], () => this.fit(), signal);
    this.node = div("tvmdbg-timeline-other tvmdbg-column", this.above, this.#scroller);
  }

  abstract get sentence(): string;
  abstract sync(): void;
  abstract key(event: KeyboardEvent): boolean;
  abstract paint(brush: ChartBrush, width: number, height: number): void;
  /** Height of the content in a room of this many pixels. */
  abstract height(room: number): number;
  protected abstract at(x: number, y: number): Item;
  /** Node of an item, or -1. */
  protected abstract nodeOf(item: Item): number;
  /** Lines about an item, the first in bold; null hides them. */
  protected abstract lines(item: Item): string[] | null;
  protected abstract box(item: Item, width: number, height: number): Rectangle | null;
  protected abstract pick(item: Item): void;
  /** What `inspect` tells beside the drawn items. */
  protected abstract get facts(): object;

  /** Pixels of the content above the stage. */
  protected get top(): number {
    return this.#scroller.scrollTop;
  }

  /** Updates the height of the content. */
  protected fit(): void {
    const room = this.#scroller.clientHeight;
    this.stage.node.style.height = `${room}px`;
    this.#filler.style.height = `${Math.max(0, this.height(room) - room)}px`;
    this.stage.changed();
  }

  /** Scrolls to a row at `top`. */
  protected reveal(top: number, height: number, above = 0): void {
    reveal(this.#scroller, top, height, above);
  }

  over(brush: ChartBrush, width: number, height: number): void {
    for (const [item, line] of [
      [this.hovered, 1],
      [this.current, 2],
    ] as const) {
      const box = this.box(item, width, height);
      if (box) brush.frame(box, line);
    }
  }

  hover({ x, y }: PointerSpot): void {
    this.#hover(this.at(x, y), x, y);
  }

  leave(): void {
    this.#hover(this.none, 0, 0);
  }

  click({ x, y }: PointerSpot, event: MouseEvent): void {
    if (event.button === 0) this.pick(this.at(x, y));
  }

  inspect(out: Record<string, unknown>): void {
    const { current, hovered } = this;
    Object.assign(out, shifted(this.stage, this.node), { current, hovered }, this.facts);
  }

  #hover(item: Item, x: number, y: number): void {
    const node = this.nodeOf(item);
    this.host.session.hover(node < 0 ? null : node);
    this.hovered = item;
    const { node: part, width, height } = this.stage;
    const lines = this.lines(item)?.slice(0, MOST_LINES) ?? null;
    this.host.tooltip.tell(lines, part, x, y, this.box(item, width, height));
    this.stage.touched();
  }
}
