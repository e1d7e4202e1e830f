import type { Tile } from "../../shared/client/tensor_questions.ts";
import type { Layer, Pen, Rectangle } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { screenText } from "../../shared/number_text.ts";
import { div } from "../../shell/dom.ts";
import type { PointerSpot } from "../../shell/pointer.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import { Tooltip } from "../../shell/tooltip.ts";
import { TensorPart } from "../parts.ts";
import type { Point } from "../plane.ts";
import type { Region, TensorHost } from "../state.ts";
import { type Digit, paintDigits } from "./digits.ts";
import { canvasCells, PlaneOverview } from "./overview.ts";
import {
  cellBox,
  FONT_SIZE,
  nearestPoint,
  type PlacedLabel,
  type PlaneLayout,
  PlotLabels,
  pointAt,
  STRIP,
  within,
} from "./plane_layout.ts";
import { labelPlane, type Paint, paintPlane } from "./plane_painter.ts";
import { labelProfile, paintProfile } from "./profile_scene.ts";
import { type GestureEvents, gestures, PlaneViewport } from "./viewport.ts";

/** Distance of the tooltip from a cell; the tooltip itself keeps more from its place. */
const CLOSER = 2;

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
/** Largest font of a single value, CSS px. */
const SINGLE = 56;

/** A plane as a picture: a heat map, a profile for a vector, one cell for a scalar. */
export class PlanePicture extends TensorPart implements GestureEvents, StagePainters {
  readonly viewport = new PlaneViewport();
  readonly stage = div("tvmdbg-stage tvmdbg-tensor-stage tvmdbg-fill");
  readonly #drawn = new Stage(
    this.host.root,
    "tvmdbg-base",
    () => this,
    this.host.signal,
    this.stage,
  );
  readonly #overview = new PlaneOverview(this, this.host.signal);
  readonly #tooltip = new Tooltip(this.host.signal, "tvmdbg-tensor-tooltip");
  #plate: Plate | null = null;
  #tiles: readonly Tile[] = [];
  #lines: readonly string[] = [];
  #digits: Digit[] = [];
  #marked: Region | null = null;
  #cross: Point | null = null;
  #hover: Point | null = null;
  #exact = "";
  #labels: PlacedLabel[] = [];

  constructor(host: TensorHost) {
    super(host);
    const { root, signal } = host;
    this.stage.append(this.#overview.node, this.#tooltip.node);
    gestures(this.#drawn.canvas, root, this, signal);
    for (const type of ["focus", "blur"]) {
      root.addEventListener(type, () => this.#drawn.touched(), { signal });
    }
  }

  resize(width: number, height: number): void {
    if (this.viewport.resize({ width, height }, devicePixelRatio || 1)) this.host.resized();
  }

  painted(): void {
    this.host.painted();
  }

  get hover(): Point | null {
    return this.#hover;
  }

  point(at: PointerSpot | null): void {
    this.#hoverAt(at && this.#pointAt(at));
  }

  pick(at: PointerSpot): void {
    const point = this.#pointAt(at);
    if (point) this.host.panels.cross.mark(point);
  }

  markTo(from: Point, { x, y }: PointerSpot): void {
    const { layout } = this.viewport;
    if (!layout) return;
    const point = nearestPoint(layout, x, y);
    this.host.panels.marked.between(from, point);
    this.host.panels.cross.place(point);
  }

  turns(by: number): boolean {
    return this.host.steering.turns(by);
  }

  wheel(steps: number): void {
    this.host.steering.index(steps);
  }

  center(row: number, col: number): void {
    if (this.viewport.center(row, col)) this.moved();
  }

  #pointAt({ x, y }: PointerSpot): Point | null {
    const { layout } = this.viewport;
    return layout && pointAt(layout, x, y);
  }

  /** Finest visible tile. */
  get tile(): Tile | null {
    return this.#tiles.at(-1) ?? null;
  }

  /** Until the pointer moves again. */
  forgetHover(): void {
    this.#hover = null;
    this.#drawn.touched();
  }

  /** Ignores a plate of an earlier plane. */
  show(plate: Plate | null): void {
    if (plate && !this.viewport.isOver(plate.planeRows, plate.planeCols)) return;
    const before = this.#plate;
    if (before?.planeRows !== plate?.planeRows || before?.planeCols !== plate?.planeCols) {
      this.#hover = null;
    }
    this.#plate = plate;
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
    this.host.moved();
    this.redraw();
  }

  redraw(): void {
    this.#drawn.changed();
  }

  /** The middle of a value's cell on the stage; null if it is not visible. */
  placeOf({ row, col }: Point): { x: number; y: number } | null {
    const box = this.viewport.layout && cellBox(this.viewport.layout, row, col);
    return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  outline(region: Region | null): void {
    this.#marked = region;
    this.#drawn.touched();
  }

  tell(lines: readonly string[]): void {
    this.#lines = lines;
    this.#drawn.touched();
  }

  /** Sets the crosshair, and the exact text there once it is known. */
  mark(cross: Point | null, exact: string): void {
    this.#cross = cross;
    this.#exact = exact;
    this.#drawn.touched();
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

  base(theme: Theme, _width: number, _height: number, { canvas, context }: Layer): void {
    this.#tiles = [];
    this.#digits = [];
    const [layout, plate] = [this.viewport.layout, this.#plate];
    canvas.style.touchAction = this.viewport.zoomed ? "none" : "pan-y";
    canvas.style.cursor = "crosshair";
    if (!layout || !plate) {
      this.#overview.hide();
      return;
    }
    this.#tiles = plate.tiles(layout);
    if (isSingle(layout)) return;
    const paint = layout.kind === "profile" ? paintProfile : paintPlane;
    const draw = canvasCells(context, plate.paint);
    paint(context, layout, this.#tiles, { ...plate.paint, draw }, theme);
    this.#overview.show(layout, this.viewport.zoomed, plate);
    const covered = this.#overview.boxIn(this.stage);
    const { tile } = this;
    if (tile) this.#digits = paintDigits(context, layout, tile, { ...plate, covered }, theme);
  }

  /** Includes the labels, so that labels under the crosshair's can give way. */
  over(theme: Theme, width: number, height: number, { context }: Layer): void {
    this.#labels = [];
    const [layout, plate] = [this.viewport.layout, this.#plate];
    if (!layout || !plate) {
      this.#tooltip.hide();
      return;
    }
    const { planeRows, planeCols } = layout;
    const labels = new PlotLabels(context, theme, width, height);
    this.#labels = labels.written;
    if (isSingle(layout)) {
      this.#writeSingle(context, width, height, theme);
      this.#tooltip.hide();
      return;
    }
    const cross = this.#cross;
    const crossShown = cross && cross.row < planeRows && cross.col < planeCols;
    const marked = this.#marked && regionBox(layout, this.#marked);
    if (marked) this.#paintMarked(context, layout.plot, marked);
    if (this.#hover) outline(context, cellBox(layout, this.#hover.row, this.#hover.col), false);
    if (crossShown) outline(context, cellBox(layout, cross.row, cross.col), true);
    const shown = this.#hover ?? (crossShown ? cross : null);
    this.#showTooltip(layout, shown);
    if (shown) platePlace(labels, layout, shown);
    const [down, across] = plate.names;
    const name = across && `${across} →`;
    if (layout.kind === "profile") labelProfile(labels, layout, plate.paint.scale, name);
    else labelPlane(labels, layout, [down && `← ${down}`, name]);
  }

  /** Dims everything outside of the region, unless that makes digits harder to read. */
  #paintMarked(context: Pen, plot: Rectangle, { x, y, width, height }: Rectangle): void {
    const [right, bottom] = [plot.x + plot.width, plot.y + plot.height];
    if (!this.#digits.length) {
      context.fillStyle = "rgb(128 128 128 / 45%)";
      context.fillRect(plot.x, plot.y, plot.width, y - plot.y);
      context.fillRect(plot.x, y + height, plot.width, bottom - y - height);
      context.fillRect(plot.x, y, x - plot.x, height);
      context.fillRect(x + width, y, right - x - width, height);
    }
    outline(context, { x, y, width, height }, this.#digits.length > 0);
  }

  #showTooltip(layout: PlaneLayout, shown: Point | null): void {
    const byKey = document.activeElement === this.host.root;
    const box = shown && (this.#hover || byKey) ? cellBox(layout, shown.row, shown.col) : null;
    if (!box) {
      this.#tooltip.hide();
      return;
    }
    const [x, y] = [box.x + box.width - CLOSER, box.y + box.height - CLOSER];
    this.#tooltip.tell(this.#lines, this.stage, x, y, box);
  }

  /** A single value is its own picture. */
  #writeSingle(context: Pen, width: number, height: number, theme: Theme): void {
    if (!this.#exact) return;
    const text = screenText(this.#exact);
    const fit = Math.floor((width - 24) / (0.62 * text.length));
    const size = Math.max(FONT_SIZE, Math.min(SINGLE, height / 2, fit));
    context.font = `600 ${size}px ui-monospace, monospace`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = /nan|inf/i.test(text) ? theme.error : theme.text;
    context.fillText(text, width / 2, height / 2);
    const long = context.measureText(text).width;
    const [x, y] = [(width - long) / 2, (height - size) / 2];
    this.#labels.push({ text, x, y, width: long, height: size });
  }

  #hoverAt(point: Point | null): void {
    if (point?.row === this.#hover?.row && point?.col === this.#hover?.col) return;
    this.#hover = point;
    this.#drawn.touched();
    this.host.panels.cross.readAgain();
  }
}

function isSingle({ planeRows, planeCols }: PlaneLayout): boolean {
  return planeRows * planeCols === 1;
}

function outline(context: Pen, box: Rectangle | null, strong: boolean): void {
  if (!box) return;
  const { x, y, width, height } = box;
  const grow = strong ? 2 : 1;
  context.lineWidth = strong ? 2 : 1;
  context.strokeStyle = "#ffffff";
  context.strokeRect(x - grow - 1, y - grow - 1, width + 2 * grow + 2, height + 2 * grow + 2);
  context.strokeStyle = "#000000";
  context.strokeRect(x - grow, y - grow, width + 2 * grow, height + 2 * grow);
}

/** Box of the visible part of a region, or null. */
function regionBox(layout: PlaneLayout, [row, col, rows, cols]: Region): Rectangle | null {
  const { plot } = layout;
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
