import { clear, layer, Repaint } from "../shared/canvas.ts";
import { element } from "../shared/dom.ts";
import type { Tile } from "../shared/tensor_questions.ts";
import { onThemeChange, readTheme, type Theme } from "../shared/theme.ts";
import { gestures } from "./gestures.ts";
import { type Label, Labels } from "./labels.ts";
import { cellBox, FONT_SIZE, type Layout, pointAt, STRIP } from "./layout.ts";
import type { Overview } from "./overview.ts";
import type { Point } from "./plane.ts";
import { labelPlane, type Paint, paintPlane } from "./plane_painter.ts";
import { labelProfile, paintProfile } from "./profile_painter.ts";
import type { Sight } from "./sight.ts";

export interface PictureEvents {
  point(): void;
  pick(at: Point): void;
  wheel(steps: number): void;
  /** Another part is in sight; all of it is not yet known. */
  moved(): void;
  painted(): void;
  resized(): void;
}

/** A plane and what is known of it. */
export interface Plate {
  planeRows: number;
  planeCols: number;
  /** What the axes are: down, across. */
  names: readonly [down: string, across: string];
  paint: Paint;
  /** What can be drawn of what is in sight, the finest last. */
  tiles: (layout: Layout) => readonly Tile[];
  /** Something of the whole plane, where it is known. */
  whole: () => Tile | null;
}

const MAX_MARKS = 4096;

/** A plane as a picture: a heat map, a profile for a vector, one cell for a scalar. */
export class Picture {
  readonly stage = element("div", { class: "tvmdbg-stage tvmdbg-tensor-stage" });
  readonly sight: Sight;
  readonly #base = layer("tvmdbg-base");
  readonly #overlay = layer("tvmdbg-overlay");
  readonly #root: HTMLElement;
  readonly #events: PictureEvents;
  readonly #overview: Overview;
  readonly #repaint: Repaint;
  #plate: Plate | null = null;
  #tiles: readonly Tile[] = [];
  #cross: Point | null = null;
  #hover: Point | null = null;
  #exact = "";
  #baseDirty = true;
  #labels: Label[] = [];

  constructor(
    root: HTMLElement,
    sight: Sight,
    overview: Overview,
    events: PictureEvents,
    signal: AbortSignal,
  ) {
    this.#root = root;
    this.sight = sight;
    this.#events = events;
    this.#overview = overview;
    this.stage.append(this.#base.canvas, this.#overlay.canvas, overview.node);
    this.#repaint = new Repaint(this.stage, () => this.#paint(), signal);
    onThemeChange(() => this.redraw(), signal);
    gestures(
      this.#base.canvas,
      root,
      sight,
      {
        hover: (x, y) => this.#point(x, y),
        leave: () => this.#hoverAt(null),
        pick: (x, y) => {
          const point = this.sight.layout && pointAt(this.sight.layout, x, y);
          if (point) events.pick(point);
        },
        wheel: (steps) => events.wheel(steps),
        moved: () => this.moved(),
      },
      signal,
    );
  }

  /** The value below the pointer. */
  get hover(): Point | null {
    return this.#hover;
  }

  /** What is drawn on top: the finest of what is in sight. */
  get tile(): Tile | null {
    return this.#tiles.at(-1) ?? null;
  }

  /** Until the pointer moves again. */
  forgetHover(): void {
    this.#hover = null;
    this.#repaint.request();
  }

  show(plate: Plate | null): void {
    const before = this.#plate;
    if (before?.planeRows !== plate?.planeRows || before?.planeCols !== plate?.planeCols) {
      this.#hover = null;
    }
    this.#plate = plate;
    this.sight.over(plate?.planeRows ?? 0, plate?.planeCols ?? 0);
    this.redraw();
  }

  /** Takes the size of its box at once, so that what is asked for fits it. */
  measure(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width && height) this.sight.resize({ width, height }, devicePixelRatio || 1);
  }

  /** Brings a value into sight. */
  reveal(point: Point): void {
    if (this.sight.reveal(point)) this.moved();
  }

  /** Another part is in sight. */
  moved(): void {
    this.#events.moved();
    this.redraw();
  }

  redraw(): void {
    this.#baseDirty = true;
    this.#repaint.request();
  }

  /** The middle of the cell of a value on the stage; null where it is out of sight. */
  placeOf({ row, col }: Point): { x: number; y: number } | null {
    const box = this.sight.layout && cellBox(this.sight.layout, row, col);
    return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  /** The crosshair, and the exact text there once it is known. */
  mark(cross: Point | null, exact: string): void {
    this.#cross = cross;
    this.#exact = exact;
    this.#repaint.request();
  }

  /** The picture as it is on screen. */
  get canvases(): readonly HTMLCanvasElement[] {
    return [this.#base.canvas, this.#overlay.canvas];
  }

  /** What is on screen now, for tests. */
  inspect(): { labels: Label[]; marks: object[]; plot: object | null; sight: object | null } {
    const [layout, tile] = [this.sight.layout, this.tile];
    const marks: object[] = [];
    if (layout && tile && tile.rows * tile.cols <= MAX_MARKS) {
      for (let cell = 0; cell < tile.rows * tile.cols; cell += 1) {
        const row = tile.row + Math.floor(cell / tile.cols) * tile.rowStep;
        const col = tile.col + (cell % tile.cols) * tile.colStep;
        const box = cellBox(layout, row, col);
        if (box) marks.push({ row, col, flags: tile.flags[cell], ...box });
      }
    }
    const { row, col, rowStep, colStep, down, across } = layout ?? {};
    return {
      labels: this.#labels,
      marks,
      plot: layout?.plot ?? null,
      sight: layout && {
        ...{ row, col, rowStep, colStep, down, across },
        region: this.sight.region,
        exact: tile?.exact ?? null,
        tile: tile && { ...tile, minimum: 0, maximum: 0, mean: 0, flags: 0 },
      },
    };
  }

  #paint(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width === 0 || height === 0) return;
    if (this.sight.resize({ width, height }, devicePixelRatio || 1)) {
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
    this.#tiles = [];
    const [layout, plate] = [this.sight.layout, this.#plate];
    this.#base.canvas.style.touchAction = this.sight.zoomed ? "none" : "pan-y";
    this.#base.canvas.style.cursor = this.sight.zoomed ? "grab" : "crosshair";
    if (!layout || !plate) {
      this.#overview.hide();
      return;
    }
    this.#tiles = plate.tiles(layout);
    const theme = readTheme(this.#root);
    const paint = layout.kind === "profile" ? paintProfile : paintPlane;
    paint(this.#base.context, layout, this.#tiles, plate.paint, theme);
    this.#overview.show(layout, this.sight.zoomed, plate);
  }

  /** Labels are here too, so that those the crosshair's own would touch can give way. */
  #paintOverlay(width: number, height: number): void {
    const { context } = this.#overlay;
    clear(this.#overlay, width, height);
    this.#labels = [];
    const [layout, plate] = [this.sight.layout, this.#plate];
    if (!layout || !plate) return;
    const { planeRows, planeCols } = layout;
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
    const [down, across] = plate.names;
    const name = across && `${across} →`;
    if (layout.kind === "profile") labelProfile(labels, layout, plate.paint.scale, name);
    else labelPlane(labels, layout, [down && `← ${down}`, name]);
  }

  /** Black inside white: seen on every colour. */
  #outline(layout: Layout, { row, col }: Point, strong: boolean): void {
    const { context } = this.#overlay;
    const box = cellBox(layout, row, col);
    if (!box) return;
    const { x, y, width, height } = box;
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

  #point(x: number, y: number): void {
    this.#hoverAt(this.sight.layout && pointAt(this.sight.layout, x, y));
  }

  #hoverAt(point: Point | null): void {
    if (point?.row === this.#hover?.row && point?.col === this.#hover?.col) return;
    this.#hover = point;
    this.#repaint.request();
    this.#events.point();
  }
}

/** The row and column, on the axes. */
function platePlace(labels: Labels, layout: Layout, { row, col }: Point): void {
  const { plot, kind } = layout;
  const box = cellBox(layout, row, col);
  if (!box) return;
  const profile = kind === "profile";
  const y = profile ? plot.y + plot.height + STRIP + 13 : plot.y - 9;
  labels.plate(String(col), box.x + box.width / 2, y, "center");
  const beside = Math.max(plot.y + 8, box.y + box.height / 2);
  if (!profile) labels.plate(String(row), plot.x - 3, beside, "right");
}
