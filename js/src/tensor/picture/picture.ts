import type { Tile } from "../../shared/client/tensor_questions.ts";
import { clear, layer, type Rectangle, Repaint } from "../../shared/drawing/canvas.ts";
import { onThemeChange, readTheme, type Theme } from "../../shared/drawing/theme.ts";
import { div, element } from "../../shared/ui/dom.ts";
import type { Point } from "../plane.ts";
import type { InspectorCommands, Region } from "../state.ts";
import { type Digit, paintDigits } from "./digits.ts";
import { canvasCells, type PlaneOverview } from "./overview.ts";
import {
  cellBox,
  FONT_SIZE,
  nearestPoint,
  type PlacedLabel,
  type PlaneLayout,
  PlotLabels,
  pointAt,
  STRIP,
} from "./plane_layout.ts";
import { labelPlane, type Paint, paintPlane } from "./plane_painter.ts";
import { labelProfile, paintProfile } from "./profile_painter.ts";
import { gestures, type PlaneViewport } from "./viewport.ts";

const AWAY = 12;

class ValueTooltip {
  readonly node = element("div", {
    class: "tvmdbg-tooltip tvmdbg-tensor-tooltip",
    role: "tooltip",
    hidden: true,
  });

  /** Shows lines beside a point of the stage, the first in bold; no lines hide it. */
  show(lines: readonly string[], at: { x: number; y: number } | null, stage: HTMLElement): void {
    this.node.hidden = at === null || lines.length === 0;
    if (!at || this.node.hidden) return;
    const [first, ...rest] = lines;
    this.node.replaceChildren(
      element("strong", {}, first),
      ...rest.map((line) => element("div", {}, line)),
    );
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const { clientWidth, clientHeight } = stage;
    const x = at.x + AWAY + width <= clientWidth ? at.x + AWAY : at.x - AWAY - width;
    const y = at.y + AWAY + height <= clientHeight ? at.y + AWAY : at.y - AWAY - height;
    this.node.style.transform = `translate(${Math.max(0, x)}px, ${Math.max(0, y)}px)`;
  }
}

type PictureCommands = Pick<
  InspectorCommands,
  "moved" | "painted" | "panels" | "resized" | "steering"
>;

export interface Plate {
  planeRows: number;
  planeCols: number;
  /** Names of the axes: down, across. */
  names: readonly [down: string, across: string];
  dtype: string;
  paint: Paint;
  /** Tiles to draw for the visible part, the finest last. */
  tiles: (layout: PlaneLayout) => readonly Tile[];
  /** Coarse tile of the complete plane, if known. */
  whole: () => Tile | null;
}

const MAX_MARKS = 4096;

/** A plane as a picture: a heat map, a profile for a vector, one cell for a scalar. */
export class PlanePicture {
  readonly stage = div("tvmdbg-stage tvmdbg-tensor-stage tvmdbg-fill");
  readonly #base = layer("tvmdbg-base");
  readonly #overlay = layer("tvmdbg-overlay");
  readonly #root: HTMLElement;
  readonly #commands: PictureCommands;
  readonly #overview: PlaneOverview;
  readonly #repaint: Repaint;
  #plate: Plate | null = null;
  #tiles: readonly Tile[] = [];
  readonly #tooltip = new ValueTooltip();
  #lines: readonly string[] = [];
  #digits: Digit[] = [];
  #marked: Region | null = null;
  #cross: Point | null = null;
  #hover: Point | null = null;
  #exact = "";
  #baseDirty = true;
  #labels: PlacedLabel[] = [];

  constructor(
    root: HTMLElement,
    readonly viewport: PlaneViewport,
    overview: PlaneOverview,
    commands: PictureCommands,
    signal: AbortSignal,
  ) {
    this.#root = root;
    this.#commands = commands;
    this.#overview = overview;
    this.stage.append(this.#base.canvas, this.#overlay.canvas, overview.node, this.#tooltip.node);
    this.#repaint = new Repaint(this.stage, () => this.#paint(), signal);
    onThemeChange(() => this.redraw(), signal);
    gestures(
      this.#base.canvas,
      root,
      viewport,
      {
        hover: (x, y) => this.#hoverAt(this.viewport.layout && pointAt(this.viewport.layout, x, y)),
        leave: () => this.#hoverAt(null),
        pick: (x, y) => {
          const point = this.viewport.layout && pointAt(this.viewport.layout, x, y);
          if (point) commands.panels.cross.mark(point);
        },
        mark: (from, to) => {
          const { layout } = this.viewport;
          if (!layout) return;
          const point = nearestPoint(layout, to.x, to.y);
          commands.panels.marked.between(from, point);
          commands.panels.cross.place(point);
        },
        wheel: (steps) => commands.steering.index(steps),
        moved: () => this.moved(),
      },
      signal,
    );
    for (const type of ["focus", "blur"]) {
      root.addEventListener(type, () => this.#repaint.request(), { signal });
    }
  }

  get hover(): Point | null {
    return this.#hover;
  }

  /** Finest visible tile. */
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
    this.viewport.over(plate?.planeRows ?? 0, plate?.planeCols ?? 0);
    this.redraw();
  }

  /** Takes the size of its box at once, so that requested cells fit it. */
  measure(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width && height) this.viewport.resize({ width, height }, devicePixelRatio || 1);
  }

  reveal(point: Point): void {
    if (this.viewport.reveal(point)) this.moved();
  }

  moved(): void {
    this.#commands.moved();
    this.redraw();
  }

  redraw(): void {
    this.#baseDirty = true;
    this.#repaint.request();
  }

  /** The middle of a value's cell on the stage; null if it is not visible. */
  placeOf({ row, col }: Point): { x: number; y: number } | null {
    const box = this.viewport.layout && cellBox(this.viewport.layout, row, col);
    return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  outline(region: Region | null): void {
    this.#marked = region;
    this.#repaint.request();
  }

  tell(lines: readonly string[]): void {
    this.#lines = lines;
    this.#repaint.request();
  }

  /** Sets the crosshair, and the exact text there once it is known. */
  mark(cross: Point | null, exact: string): void {
    this.#cross = cross;
    this.#exact = exact;
    this.#repaint.request();
  }

  /** Contents of the screen, for tests. */
  inspect() {
    const [layout, tile] = [this.viewport.layout, this.tile];
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
      digits: this.#digits,
      marks,
      marked: this.#marked && layout && regionBox(layout, this.#marked),
      plot: layout?.plot ?? null,
      viewport: layout && {
        ...{ row, col, rowStep, colStep, down, across },
        region: this.viewport.region,
        exact: tile?.exact ?? null,
        tile: tile && { ...tile, minimum: 0, maximum: 0, mean: 0, flags: 0 },
      },
    };
  }

  #paint(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width === 0 || height === 0) return;
    if (this.viewport.resize({ width, height }, devicePixelRatio || 1)) {
      this.#baseDirty = true;
      this.#commands.resized();
    }
    if (this.#baseDirty) this.#paintBase(width, height);
    this.#paintOverlay(width, height);
    this.#commands.painted();
  }

  #paintBase(width: number, height: number): void {
    this.#baseDirty = false;
    clear(this.#base, width, height);
    this.#tiles = [];
    this.#digits = [];
    const [layout, plate] = [this.viewport.layout, this.#plate];
    this.#base.canvas.style.touchAction = this.viewport.zoomed ? "none" : "pan-y";
    this.#base.canvas.style.cursor = "crosshair";
    if (!layout || !plate) {
      this.#overview.hide();
      return;
    }
    this.#tiles = plate.tiles(layout);
    const theme = readTheme(this.#root);
    const paint = layout.kind === "profile" ? paintProfile : paintPlane;
    const { context } = this.#base;
    const draw = canvasCells(context, plate.paint);
    paint(context, layout, this.#tiles, { ...plate.paint, draw }, theme);
    this.#overview.show(layout, this.viewport.zoomed, plate);
    const covered = this.#overview.boxIn(this.stage);
    const { tile } = this;
    if (tile) this.#digits = paintDigits(context, layout, tile, { ...plate, covered }, theme);
  }

  /** Includes the labels, so that labels under the crosshair's can give way. */
  #paintOverlay(width: number, height: number): void {
    const { context } = this.#overlay;
    clear(this.#overlay, width, height);
    this.#labels = [];
    const [layout, plate] = [this.viewport.layout, this.#plate];
    if (!layout || !plate) {
      this.#tooltip.show([], null, this.stage);
      return;
    }
    const { planeRows, planeCols } = layout;
    const theme = readTheme(this.#root);
    const labels = new PlotLabels(context, theme, width, height);
    this.#labels = labels.written;
    if (planeRows * planeCols === 1) {
      this.#writeScalar(layout, width, theme);
      this.#tooltip.show([], null, this.stage);
      return;
    }
    const cross = this.#cross;
    const crossShown = cross && cross.row < planeRows && cross.col < planeCols;
    const marked = this.#marked && regionBox(layout, this.#marked);
    if (marked) this.#paintMarked(layout.plot, marked);
    if (this.#hover) this.#outline(cellBox(layout, this.#hover.row, this.#hover.col), false);
    if (crossShown) this.#outline(cellBox(layout, cross.row, cross.col), true);
    const shown = this.#hover ?? (crossShown ? cross : null);
    this.#showTooltip(layout, shown);
    if (shown) platePlace(labels, layout, shown);
    const [down, across] = plate.names;
    const name = across && `${across} →`;
    if (layout.kind === "profile") labelProfile(labels, layout, plate.paint.scale, name);
    else labelPlane(labels, layout, [down && `← ${down}`, name]);
  }

  #outline(box: Rectangle | null, strong: boolean): void {
    const { context } = this.#overlay;
    if (!box) return;
    const { x, y, width, height } = box;
    const grow = strong ? 2 : 1;
    context.lineWidth = strong ? 2 : 1;
    context.strokeStyle = "#ffffff";
    context.strokeRect(x - grow - 1, y - grow - 1, width + 2 * grow + 2, height + 2 * grow + 2);
    context.strokeStyle = "#000000";
    context.strokeRect(x - grow, y - grow, width + 2 * grow, height + 2 * grow);
  }

  /** Dims everything outside of the region, unless that makes digits harder to read. */
  #paintMarked(plot: Rectangle, { x, y, width, height }: Rectangle): void {
    const { context } = this.#overlay;
    const [right, bottom] = [plot.x + plot.width, plot.y + plot.height];
    if (!this.#digits.length) {
      context.fillStyle = "rgb(128 128 128 / 45%)";
      context.fillRect(plot.x, plot.y, plot.width, y - plot.y);
      context.fillRect(plot.x, y + height, plot.width, bottom - y - height);
      context.fillRect(plot.x, y, x - plot.x, height);
      context.fillRect(x + width, y, right - x - width, height);
    }
    this.#outline({ x, y, width, height }, this.#digits.length > 0);
  }

  #showTooltip(layout: PlaneLayout, shown: Point | null): void {
    const byKey = document.activeElement === this.#root;
    const box = shown && (this.#hover || byKey) ? cellBox(layout, shown.row, shown.col) : null;
    const at = box && { x: box.x + box.width, y: box.y + box.height };
    this.#tooltip.show(this.#lines, at, this.stage);
  }

  #writeScalar({ plot }: PlaneLayout, width: number, theme: Theme): void {
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

  #hoverAt(point: Point | null): void {
    if (point?.row === this.#hover?.row && point?.col === this.#hover?.col) return;
    this.#hover = point;
    this.#repaint.request();
    this.#commands.panels.cross.readAgain();
  }
}

/** Box of the visible part of a region, or null. */
function regionBox(layout: PlaneLayout, [row, col, rows, cols]: Region): Rectangle | null {
  const { plot } = layout;
  const within = (at: number, first: number, length: number) =>
    Math.max(first, Math.min(first + length, at));
  const profile = layout.kind === "profile";
  const left = within(plot.x + (col - layout.col) * layout.across, plot.x, plot.width);
  const right = within(plot.x + (col + cols - layout.col) * layout.across, plot.x, plot.width);
  const above = plot.y + (row - layout.row) * layout.down;
  const top = profile ? plot.y : within(above, plot.y, plot.height);
  const bottom = profile
    ? plot.y + plot.height
    : within(above + rows * layout.down, plot.y, plot.height);
  if (right <= left || bottom <= top) return null;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Labels of row and column on the axes. */
function platePlace(labels: PlotLabels, layout: PlaneLayout, { row, col }: Point): void {
  const { plot, kind } = layout;
  const box = cellBox(layout, row, col);
  if (!box) return;
  const profile = kind === "profile";
  const y = profile ? plot.y + plot.height + STRIP + 13 : plot.y - 9;
  labels.plate(String(col), box.x + box.width / 2, y, "center");
  const beside = Math.max(plot.y + 8, box.y + box.height / 2);
  if (!profile) labels.plate(String(row), plot.x - 3, beside, "right");
}
