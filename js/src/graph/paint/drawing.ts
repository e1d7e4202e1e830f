import type { Pen } from "../../shared/drawing/pen.ts";
import { BoxPainter } from "./boxes.ts";
import { EdgePainter } from "./edges.ts";
import { paintOrigins, paintSpread } from "./fault_marks.ts";
import { FramePainter } from "./frames.ts";
import { MarginPainter } from "./margin.ts";
import { detail, type LabelRecord, type Picture } from "./picture.ts";

/** Draws a graph into one context: frames, lines, boxes, and the texts beside them. */
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

  /** Where set, every text that is drawn is noted here. */
  set labels(labels: LabelRecord[] | null) {
    for (const painter of [this.#boxes, this.#edges, this.margin, this.frames]) {
      painter.labels = labels;
    }
  }

  paint(picture: Picture): void {
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
