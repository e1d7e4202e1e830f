import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { Fault } from "../../shared/client/health.ts";
import type { Pen, Rectangle } from "../../shared/drawing/canvas.ts";
import { BADGE, inkOn, paintBadge } from "../../shared/drawing/theme.ts";
import { counted, drawnKind } from "../../shared/format.ts";
import { TITLE_SCALE } from "../camera.ts";
import { edgePath } from "../layout/types.ts";
import { BoxPainter, outline } from "./boxes.ts";
import { EdgePainter } from "./edges.ts";
import { FramePainter } from "./frames.ts";
import { MarginPainter, TEXT_PX } from "./margin.ts";
import { detail, type GraphPicture, type LabelRecord } from "./picture.ts";

/** Share of the error color over boxes that a fault spread to. */
const TINT = 0.16;
/** Color modes with a tint; in others the color stands for a value of the legend. */
const TINTED: readonly string[] = ["kind", "time"];

export function faultOf({ health, colorBy }: GraphPicture, box: number): number {
  return colorBy === "health" || !health ? Fault.NONE : health.fault[box]!;
}

function paintSpread(context: Pen, picture: GraphPicture): void {
  const { placed, camera, palette } = picture;
  const tint = TINTED.includes(picture.colorBy) ? TINT : 0;
  const { error, background } = palette.theme;
  placed.eachBox(camera.view(4), (box) => {
    if (faultOf(picture, box) === Fault.NONE) return;
    const { x, y, width, height } = camera.screen(placed.rectangle(box));
    context.beginPath();
    context.roundRect(x, y, width, height, 4 * Math.min(1, camera.scale));
    context.fillStyle = error;
    context.globalAlpha = tint;
    context.fill();
    context.globalAlpha = 1;
    // A halo separates the border from any fill.
    for (const [color, line] of [
      [background, 4],
      [error, 2],
    ] as const) {
      context.strokeStyle = color;
      context.lineWidth = line;
      if (color === error && faultOf(picture, box) === Fault.SPREAD) context.setLineDash([4, 3]);
      context.stroke();
    }
    context.setLineDash([]);
  });
}

/** Draws a badge at boxes where a fault began, and at the one with a warning, at every scale. */
function paintOrigins(context: Pen, picture: GraphPicture): void {
  const { placed, camera, palette } = picture;
  placed.eachBox(camera.view(BADGE), (box) => {
    const isWarned = box === picture.health?.warned;
    if (isWarned || faultOf(picture, box) === Fault.ORIGIN) {
      const { x, y, height } = camera.screen(placed.rectangle(box));
      const radius = Math.max(4, Math.min(BADGE / 2, height));
      const { theme } = palette;
      paintBadge(context, x, y + 1, radius, isWarned ? { ...theme, error: theme.warning } : theme);
    }
  });
}

/** Marks over the graph, which change without it. */
export interface OverlayMarks {
  selected: readonly number[];
  outlined?: readonly number[];
  frame: number;
  hovered: number;
  hits: ReadonlyMap<number, number>;
  noted: readonly number[];
}

/** Number of edges at one box above which only the box is marked. */
const MOST_EDGES = 400;
const SMALLEST_MARK = 7;
/** Height from which hits are framed; lower boxes get a dot, CSS px. */
const FRAME_PX = 6;
const DOT = 5;
/** Size of the sign of a note, and its overlap with the box, CSS px. */
const NOTE = { width: 15, height: 12, tail: 4 };

export class OverlayPainter {
  readonly #context: Pen;
  readonly #edges: EdgePainter;
  readonly #margin: MarginPainter;
  readonly #frames: FramePainter;

  constructor(
    context: Pen,
    edges: EdgePainter,
    { margin, frames }: { margin: MarginPainter; frames: FramePainter },
  ) {
    this.#context = context;
    this.#edges = edges;
    this.#margin = margin;
    this.#frames = frames;
  }

  paint(picture: GraphPicture, marks: OverlayMarks, edge: number): void {
    const { selected, outlined = [], frame, hovered, hits, noted } = marks;
    const { theme } = picture.palette;
    const { placed, camera } = picture;
    if (frame >= 0) this.#group(picture, frame);
    if (hits.size && camera.scale * tokens.node.height < FRAME_PX) this.#dots(picture, hits);
    else if (hits.size) {
      placed.eachBox(camera.view(8), (box) => {
        if (!hits.has(box)) return;
        this.#frame(picture, box, theme.warning, 2, 2.5, [5, 2]);
        if (placed.scene.group[box]! >= 0) this.#count(picture, box, hits.get(box)!);
      });
    }
    for (const box of outlined) this.#frame(picture, box, theme.accent, 2, 2, []);
    const primary = selected.at(-1);
    if (primary !== undefined) this.#edgesOf(picture, primary);
    if (edge >= 0) {
      this.#context.beginPath();
      this.#edges.trace(picture, edge, false);
      this.#context.strokeStyle = theme.text;
      this.#context.lineWidth = 2.5;
      this.#context.stroke();
    }
    if (primary !== undefined || edge >= 0) this.#frames.paintHeaders(picture, this.#context);
    for (const box of selected) {
      const line = box === primary ? 3 : 2;
      if (camera.scale < TITLE_SCALE) this.#frame(picture, box, theme.background, line + 2, 2, []);
      this.#frame(picture, box, theme.accent, line, 2, []);
      this.#row(picture, box);
    }
    if (hovered >= 0) this.#frame(picture, hovered, theme.text, 1.5, 0, []);
    // The frame of a selected box must not cross its badge.
    if (picture.health && selected.length) paintOrigins(this.#context, picture);
    for (const box of noted) this.#note(picture, noteSpot(picture, box));
  }

  #group(picture: GraphPicture, frame: number): void {
    const { x, y, width, height } = picture.camera.screen(picture.placed.frame(frame));
    const context = this.#context;
    context.strokeStyle = picture.palette.theme.accent;
    context.lineWidth = 2.5;
    context.beginPath();
    context.roundRect(x - 1, y - 1, width + 2, height + 2, 7);
    context.stroke();
  }

  /** A sheet with lines on it, whose tail points at the box. */
  #note({ palette, camera }: GraphPicture, { x, y, width, height }: Rectangle): void {
    if (x > camera.width || y > camera.height || x + width < 0 || y + height < 0) return;
    const { accent, background } = palette.theme;
    const context = this.#context;
    const foot = y + height - NOTE.tail;
    context.beginPath();
    context.roundRect(x, y, width, NOTE.height, 2.5);
    context.moveTo(x + 3, foot - 0.5);
    context.lineTo(x + 3, y + height);
    context.lineTo(x + 8, foot - 0.5);
    context.strokeStyle = background;
    context.lineWidth = 2;
    context.stroke();
    context.fillStyle = accent;
    context.fill();
    context.fillStyle = inkOn(accent);
    for (const line of [3, 5.5, 8]) context.fillRect(x + 3, y + line, line > 7 ? 6 : 9, 1.2);
  }

  #row(picture: GraphPicture, box: number): void {
    const spot = this.#margin.spotOf(box);
    const line = this.#margin.leader(picture, box);
    if (!spot || !line) return;
    const { accent, font } = picture.palette.theme;
    const context = this.#context;
    context.fillStyle = context.strokeStyle = accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(line.x1, line.y1);
    context.lineTo(line.x2, line.y2);
    context.stroke();
    context.beginPath();
    context.roundRect(spot.x - 4, spot.y - TEXT_PX / 2 - 1, spot.width + 8, TEXT_PX + 2, 3);
    context.fill();
    context.font = `${TEXT_PX}px ${font}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = inkOn(accent);
    context.fillText(spot.text, spot.x, spot.y);
  }

  #count({ placed, camera, palette }: GraphPicture, box: number, hits: number): void {
    const { x, y, width, height } = placed.rectangle(box);
    const { warning, font } = palette.theme;
    const context = this.#context;
    const text = counted(hits, "hit");
    context.font = `600 ${TEXT_PX}px ${font}`;
    const wide = context.measureText(text).width + 8;
    const [left, middle] = [camera.screenX(x + width) + 6, camera.screenY(y + height / 2)];
    context.beginPath();
    context.roundRect(left, middle - 8, wide, 16, 4);
    context.fillStyle = warning;
    context.fill();
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = inkOn(warning);
    context.fillText(text, left + 4, middle);
  }

  #dots({ placed, camera, palette }: GraphPicture, hits: ReadonlyMap<number, number>): void {
    const context = this.#context;
    const { x, y } = placed.layout;
    const [shiftX, shiftY] = [camera.screenX(0), camera.screenY(0)];
    const columns = Math.ceil(camera.width / DOT) + 4;
    const drawn = new Set<number>();
    context.beginPath();
    placed.eachBox(camera.view(DOT), (box) => {
      if (!hits.has(box)) return;
      const column = Math.round((x[box]! * camera.scale + shiftX) / DOT);
      const row = Math.round((y[box]! * camera.scale + shiftY) / DOT);
      const place = row * columns + column;
      if (drawn.has(place)) return;
      drawn.add(place);
      const [left, top] = [x[box]! * camera.scale + shiftX, y[box]! * camera.scale + shiftY];
      context.rect(left - DOT / 2, top - DOT / 2, DOT, DOT);
    });
    context.fillStyle = palette.theme.warning;
    context.fill();
    context.strokeStyle = palette.theme.background;
    context.lineWidth = 1;
    context.stroke();
  }

  #frame(
    { placed, camera, graph }: GraphPicture,
    box: number,
    color: string,
    width: number,
    distance: number,
    dash: number[],
  ): void {
    const { x, y, width: wide, height: high } = placed.rectangle(box);
    const around = (size: number) => Math.max(SMALLEST_MARK, size * camera.scale) + 2 * distance;
    const shape = { width: around(wide), height: around(high) };
    const context = this.#context;
    outline(
      context,
      {
        ...shape,
        x: camera.screenX(x + wide / 2) - shape.width / 2,
        y: camera.screenY(y + high / 2) - shape.height / 2,
      },
      drawnKind(graph, placed.scene.node[box]!),
      Math.min(1.5, Math.max(camera.scale, 0.5)),
    );
    context.strokeStyle = color;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
  }

  #edgesOf(picture: GraphPicture, box: number): void {
    const { placed, palette, camera } = picture;
    const around = placed.edgesOf(box);
    if (around.length > MOST_EDGES) return;
    const context = this.#context;
    context.strokeStyle = palette.theme.accent;
    context.lineWidth = Math.max(1.5, 2 * Math.min(1, camera.scale));
    context.lineJoin = "round";
    context.beginPath();
    for (const edge of around) {
      if (placed.isStub[edge]) this.#edges.trace(picture, edge, false);
      else {
        const path = edgePath(placed.layout, edge);
        this.#edges.polyline(picture, path, 0, path.length / 2, camera.scale < 0.3);
      }
    }
    context.stroke();
    if (camera.scale < 0.3) return;
    context.fillStyle = palette.theme.accent;
    context.beginPath();
    for (const edge of around) this.#edges.arrow(picture, edge);
    context.fill();
  }
}

/** Position of a note's sign: at the left end of its box's upper border. */
export function noteSpot({ placed, camera }: GraphPicture, box: number): Rectangle {
  const { x, y } = placed.rectangle(box);
  return {
    x: camera.screenX(x) + 2,
    y: camera.screenY(y) - NOTE.height - 1,
    width: NOTE.width,
    height: NOTE.height + NOTE.tail,
  };
}

export class GraphPainter {
  readonly margin: MarginPainter;
  readonly frames: FramePainter;
  readonly #context: Pen;
  readonly #boxes: BoxPainter;
  readonly #edges: EdgePainter;

  constructor(context: Pen) {
    this.#context = context;
    this.#boxes = new BoxPainter(context);
    this.#edges = new EdgePainter(context);
    this.margin = new MarginPainter(context);
    this.frames = new FramePainter(context);
  }

  set labels(labels: LabelRecord[] | null) {
    for (const painter of [this.#boxes, this.#edges, this.margin, this.frames]) {
      painter.labels = labels;
    }
  }

  paint(picture: GraphPicture): void {
    const level = detail(picture);
    this.frames.paint(picture);
    this.#edges.paint(picture, level, this.frames.headers);
    this.frames.paintHeaders(picture);
    this.#boxes.paint(picture, level);
    if (picture.health && level !== "density") paintSpread(this.#context, picture);
    if (picture.health) paintOrigins(this.#context, picture);
    this.margin.clear();
    if (level === "shape") this.margin.paint(picture);
  }
}
