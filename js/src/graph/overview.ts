import { clear, type Layer, layer } from "../shared/canvas.ts";
import { element } from "../shared/dom.ts";
import { isMarked } from "./health_marks.ts";
import type { Marks } from "./overlay.ts";
import { flatFill, type Picture, prominence } from "./picture.ts";

const GUTTER = 10;
const PAD = 4;
/** Boxes are drawn no larger, CSS px. */
const MOST = 18;
/** Faulty and doubtful boxes are drawn no smaller, CSS px. */
const SUSPICIOUS = 4;

/**
 * The whole graph beside the stage: a strip along the flow, stretched to it on both axes, with the part that the
 * stage shows, the selection (a line), the hits (ticks) and the slowest node, or the most suspicious (a triangle).
 */
export class Overview {
  readonly node = element("div", { class: "tvmdbg-graph-overview" });
  readonly #still: Layer = layer("");
  readonly #moving: Layer = layer("tvmdbg-overlay");
  #picture: Picture | null = null;
  #drawn = "";

  constructor(moveTo: (x: number, y: number) => void, signal: AbortSignal) {
    this.node.append(this.#still.canvas, this.#moving.canvas);
    this.node.title = "whole graph: drag to move the part that is shown";
    const { canvas } = this.#still;
    const move = (event: PointerEvent) => {
      if (!this.#picture) return;
      const box = canvas.getBoundingClientRect();
      const at = this.#scale(this.#picture);
      moveTo(at.worldX(event.clientX - box.left), at.worldY(event.clientY - box.top));
    };
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      move(event);
    };
    canvas.addEventListener("pointerdown", down, { signal });
    const drag = (event: PointerEvent) => {
      if (canvas.hasPointerCapture(event.pointerId)) move(event);
    };
    canvas.addEventListener("pointermove", drag, { signal });
  }

  /** Makes the next paint draw the graph anew. */
  invalidate(): void {
    this.#drawn = "";
  }

  paint(picture: Picture, marks: Marks): void {
    this.#picture = picture;
    const { clientWidth: width, clientHeight: height } = this.node;
    if (width === 0 || height === 0) return;
    const key = `${width}x${height}x${devicePixelRatio}`;
    if (this.#drawn !== key) {
      this.#drawn = key;
      clear(this.#still, width, height);
      this.#graph(picture);
    }
    clear(this.#moving, width, height);
    this.#marks(picture, marks);
  }

  #scale({ placed }: Picture) {
    const { bounds, direction } = placed.layout;
    const { clientWidth: width, clientHeight: height } = this.node;
    const down = direction === "down";
    const [left, top] = down ? [GUTTER, PAD] : [PAD, GUTTER];
    const roomX = Math.max(1, width - left - (down ? GUTTER : PAD));
    const roomY = Math.max(1, height - top - (down ? PAD : GUTTER));
    const wide = Math.max(1, bounds.maxX - bounds.minX);
    const high = Math.max(1, bounds.maxY - bounds.minY);
    return {
      x: (at: number) => left + ((at - bounds.minX) / wide) * roomX,
      y: (at: number) => top + ((at - bounds.minY) / high) * roomY,
      worldX: (at: number) => bounds.minX + ((at - left) / roomX) * wide,
      worldY: (at: number) => bounds.minY + ((at - top) / roomY) * high,
      width,
      height,
      down,
    };
  }

  /** Hot nodes are drawn over cold ones, and suspicious ones over sound ones: none is lost among many. */
  #graph(picture: Picture): void {
    const { context } = this.#still;
    const { placed, palette } = picture;
    const at = this.#scale(picture);
    const boxes = Array.from({ length: placed.scene.count }, (_, box) => box);
    boxes.sort((a, b) => prominence(picture, a) - prominence(picture, b));
    for (const box of boxes) {
      const { x, y, width, height } = placed.rectangle(box);
      const least = isMarked(picture, box) ? SUSPICIOUS : 2;
      const wide = Math.min(MOST, Math.max(least, at.x(x + width) - at.x(x)));
      const high = Math.min(MOST, Math.max(least, at.y(y + height) - at.y(y)));
      const left = at.x(x + width / 2) - wide / 2;
      const top = at.y(y + height / 2) - high / 2;
      context.fillStyle = flatFill(picture, box);
      context.fillRect(left, top, wide, high);
      if (wide > 5 && high > 5) {
        context.strokeStyle = palette.theme.line;
        context.lineWidth = 0.5;
        context.strokeRect(left, top, wide, high);
      }
    }
  }

  #marks(picture: Picture, { selected, hits }: Marks): void {
    const { context } = this.#moving;
    const { placed, times, camera, palette, colorBy, health } = picture;
    const { theme } = palette;
    const at = this.#scale(picture);
    const place = (box: number) =>
      at.down ? at.y(placed.layout.y[box]!) : at.x(placed.layout.x[box]!);
    const across = at.down ? at.width : at.height;
    const bar = (from: number, along: number, length: number, thick: number) =>
      at.down
        ? context.fillRect(from, along - thick / 2, length, thick)
        : context.fillRect(along - thick / 2, from, thick, length);
    context.fillStyle = theme.warning;
    let last = Number.NaN;
    for (const box of hits) {
      const along = Math.round(place(box));
      if (along !== last) bar(0, along, GUTTER - 3, 2);
      last = along;
    }
    context.fillStyle = theme.accent;
    for (const box of selected) bar(0, place(box), across, 2);
    const worst = health ? health.nodes.worst : -1;
    const pointed = placed.boxOf(colorBy === "health" ? worst : times.slowest);
    if (pointed >= 0) triangle(context, across, place(pointed), at.down, theme.error);
    const view = camera.view();
    const limit = (value: number, most: number) => Math.min(most - 1, Math.max(1, value));
    const [left, right] = [limit(at.x(view.minX), at.width), limit(at.x(view.maxX), at.width)];
    const [top, bottom] = [limit(at.y(view.minY), at.height), limit(at.y(view.maxY), at.height)];
    const size = [Math.max(4, right - left), Math.max(4, bottom - top)] as const;
    context.globalAlpha = 0.1;
    context.fillStyle = theme.accent;
    context.fillRect(left, top, ...size);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left, top, ...size);
  }
}

function triangle(
  context: CanvasRenderingContext2D,
  edge: number,
  along: number,
  down: boolean,
  color: string,
): void {
  const points = [
    [edge - 1, along - 4],
    [edge - 8, along],
    [edge - 1, along + 4],
  ] as const;
  context.beginPath();
  for (const [across, at] of points) context.lineTo(down ? across : at, down ? at : across);
  context.closePath();
  context.fillStyle = color;
  context.fill();
}
