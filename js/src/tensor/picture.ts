import { clear, layer, Repaint } from "../shared/canvas.ts";
import { element } from "../shared/dom.ts";
import type { TensorAnswer } from "../shared/tensor_questions.ts";
import { onThemeChange, readTheme, type Theme } from "../shared/theme.ts";
import type { ColorScale } from "./color_scale.ts";
import { type Label, Labels } from "./labels.ts";
import { cellBox, FONT_SIZE, type Layout, layoutTile, pointAt, STRIP } from "./layout.ts";
import type { Point } from "./plane.ts";
import { labelPlane, paintPlane } from "./plane_painter.ts";
import { labelProfile, paintProfile } from "./profile_painter.ts";

export interface PictureEvents {
  point(): void;
  pick(at: Point): void;
  wheel(steps: number): void;
  painted(): void;
  resized(): void;
}

const MAX_MARKS = 4096;

/** The tile of an answer as a picture: a heat map, a profile for a vector, one cell for a scalar. */
export class Picture {
  readonly stage = element("div", { class: "tvmdbg-stage tvmdbg-tensor-stage" });
  readonly #base = layer("tvmdbg-base");
  readonly #overlay = layer("tvmdbg-overlay");
  readonly #root: HTMLElement;
  readonly #events: PictureEvents;
  readonly #repaint: Repaint;
  #answer: TensorAnswer | null = null;
  #scale: ColorScale | null = null;
  #layout: Layout | null = null;
  #cross: Point | null = null;
  #hover: Point | null = null;
  #exact = "";
  #baseDirty = true;
  #size = "";
  #labels: Label[] = [];

  constructor(root: HTMLElement, events: PictureEvents, signal: AbortSignal) {
    this.#root = root;
    this.#events = events;
    this.stage.append(this.#base.canvas, this.#overlay.canvas);
    this.#repaint = new Repaint(this.stage, () => this.#paint(), signal);
    onThemeChange(() => this.#redraw(), signal);
    this.#listen(signal);
  }

  get size(): { width: number; height: number } {
    return { width: this.stage.clientWidth, height: this.stage.clientHeight };
  }

  /** The value below the pointer. */
  get hover(): Point | null {
    return this.#hover;
  }

  /** Until the pointer moves again. */
  forgetHover(): void {
    this.#hover = null;
    this.#repaint.request();
  }

  show(answer: TensorAnswer | null, scale: ColorScale | null): void {
    const before = this.#answer?.tile;
    const { planeRows, planeCols } = answer?.tile ?? {};
    if (before?.planeRows !== planeRows || before?.planeCols !== planeCols) this.#hover = null;
    this.#answer = answer;
    this.#scale = scale;
    this.#exact = "";
    this.#redraw();
  }

  /** The crosshair, and the exact text there once it is known. */
  mark(cross: Point | null, exact: string): void {
    this.#cross = cross;
    this.#exact = exact;
    this.#repaint.request();
  }

  /** What is on screen now, for tests. */
  inspect(): { labels: Label[]; marks: object[]; plot: object | null } {
    const [layout, tile] = [this.#layout, this.#answer?.tile];
    const marks: object[] = [];
    if (layout && tile && tile.rows * tile.cols <= MAX_MARKS) {
      for (let cell = 0; cell < tile.rows * tile.cols; cell += 1) {
        const row = Math.floor(cell / tile.cols) * tile.rowStep;
        const col = (cell % tile.cols) * tile.colStep;
        marks.push({ row, col, flags: tile.flags[cell], ...cellBox(layout, row, col) });
      }
    }
    return { labels: this.#labels, marks, plot: layout && { ...layout.plot } };
  }

  #redraw(): void {
    this.#baseDirty = true;
    this.#repaint.request();
  }

  #paint(): void {
    const { width, height } = this.size;
    if (width === 0 || height === 0) return;
    const size = `${width}x${height}@${devicePixelRatio}`;
    if (size !== this.#size) {
      this.#size = size;
      this.#baseDirty = true;
      this.#events.resized();
    }
    if (this.#baseDirty) this.#paintBase(width, height);
    this.#paintOverlay(width, height);
    this.#events.painted();
  }

  #paintBase(width: number, height: number): void {
    this.#baseDirty = false;
    clear(this.#base, width, height);
    this.#layout = null;
    const tile = this.#answer?.tile;
    if (!tile || tile.rows * tile.cols === 0) return;
    const theme = readTheme(this.#root);
    const layout = layoutTile(tile, width, height, devicePixelRatio || 1);
    this.#layout = layout;
    const paint = layout.kind === "profile" ? paintProfile : paintPlane;
    paint(this.#base.context, layout, tile, this.#scale, theme);
  }

  /** Labels are here too, so that those the crosshair's own would touch can give way. */
  #paintOverlay(width: number, height: number): void {
    const { context } = this.#overlay;
    clear(this.#overlay, width, height);
    this.#labels = [];
    const [layout, answer] = [this.#layout, this.#answer];
    if (!layout || !answer) return;
    const { planeRows, planeCols } = layout.tile;
    const theme = readTheme(this.#root);
    const labels = new Labels(context, theme, width, height);
    this.#labels = labels.written;
    if (planeRows * planeCols === 1) {
      this.#writeScalar(layout, width, theme);
      return;
    }
    const cross = this.#cross;
    const crossShown = cross && cross.row < planeRows && cross.col < planeCols;
    if (this.#hover) this.#outline(layout, this.#hover, false);
    if (crossShown) this.#outline(layout, cross, true);
    const shown = this.#hover ?? (crossShown ? cross : null);
    if (shown) platePlace(labels, layout, shown);
    const [down, across] = answer.axes;
    const name = across === null ? "" : `axis ${across} →`;
    if (layout.kind === "profile") labelProfile(labels, layout, this.#scale, name);
    else labelPlane(labels, layout, [down === null ? "" : `← axis ${down}`, name]);
  }

  /** Black inside white: seen on every colour. */
  #outline(layout: Layout, { row, col }: Point, strong: boolean): void {
    const { context } = this.#overlay;
    const { x, y, width, height } = cellBox(layout, row, col);
    const grow = strong ? 2 : 1;
    context.lineWidth = strong ? 2 : 1;
    context.strokeStyle = "#ffffff";
    context.strokeRect(x - grow - 1, y - grow - 1, width + 2 * grow + 2, height + 2 * grow + 2);
    context.strokeStyle = "#000000";
    context.strokeRect(x - grow, y - grow, width + 2 * grow, height + 2 * grow);
  }

  #writeScalar({ plot }: Layout, width: number, theme: Theme): void {
    if (!this.#exact) return;
    const { context } = this.#overlay;
    const x = plot.x + plot.width + 14;
    const y = plot.y + plot.height / 2;
    const fit = Math.floor((width - x - 8) / (0.62 * this.#exact.length));
    const size = Math.max(FONT_SIZE, Math.min(24, fit));
    context.font = `${size}px ui-monospace, monospace`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = theme.text;
    context.fillText(this.#exact, x, y);
    const long = context.measureText(this.#exact).width;
    this.#labels.push({ text: this.#exact, x, y: y - size / 2, width: long, height: size });
  }

  #listen(signal: AbortSignal): void {
    const { canvas } = this.#base;
    const at = (event: PointerEvent) => {
      const box = canvas.getBoundingClientRect();
      return this.#layout && pointAt(this.#layout, event.clientX - box.x, event.clientY - box.y);
    };
    const hover = (point: Point | null) => {
      if (point?.row === this.#hover?.row && point?.col === this.#hover?.col) return;
      this.#hover = point;
      this.#repaint.request();
      this.#events.point();
    };
    canvas.addEventListener("pointermove", (event) => hover(at(event)), { signal });
    canvas.addEventListener("pointerleave", () => hover(null), { signal });
    canvas.addEventListener(
      "pointerdown",
      (event) => {
        const point = at(event);
        if (event.button === 0 && point) this.#events.pick(point);
      },
      { signal },
    );
    let travel = 0;
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!this.#root.contains(document.activeElement) || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        travel +=
          event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY / 100 : event.deltaY;
        const steps = Math.trunc(travel);
        travel -= steps;
        if (steps !== 0) this.#events.wheel(steps);
      },
      { signal, passive: false },
    );
  }
}

/** The row and column, on the axes. */
function platePlace(labels: Labels, layout: Layout, { row, col }: Point): void {
  const { plot, kind } = layout;
  const box = cellBox(layout, row, col);
  const profile = kind === "profile";
  const y = profile ? plot.y + plot.height + STRIP + 13 : plot.y - 9;
  labels.plate(String(col), box.x + box.width / 2, y, "center");
  const beside = Math.max(plot.y + 8, box.y + box.height / 2);
  if (!profile) labels.plate(String(row), plot.x - 3, beside, "right");
}
