import { Fault } from "../../shared/client/health.ts";
import { clear, type Layer, layer } from "../../shared/drawing/canvas.ts";
import { finished, inStretches } from "../../shared/many.ts";
import { element } from "../../shell/dom.ts";
import { heatOf, showsTimes } from "./margin.ts";
import type { OverlayMarks } from "./painter.ts";
import { type GraphPicture, isMarked, shadesOf } from "./picture.ts";

/** Columns from the edge: ticks of hits, the graph, the heat strip, the pointer to the slowest node; CSS px. */
const GUTTER = 10;
const STRIP = 7;
const GAP = 3;
const PAD = 4;
const MOST = 18;
/** Least size of faulty and suspicious boxes, CSS px. */
const SUSPICIOUS = 4;
/** Number of boxes from which scenes are drawn in slices. */
const AT_ONCE = 3000;
/** Boxes between two pauses. */
const STRIDE = 2000;

/**
 * The complete graph beside the stage: a strip along the flow, in one piece even if the stage has columns, with the
 * visible part, the selection (a line), the hits (ticks) and the slowest node, or the most suspicious (a triangle).
 * Beside it the heat strip: the longest time at every position if times are known and the colors show none; else the
 * color of the worst or largest.
 */
export class GraphOverview {
  readonly node = element("div", { class: "tvmdbg-graph-overview", hidden: true });
  readonly #still: Layer = layer("");
  readonly #moving: Layer = layer("tvmdbg-overlay");
  #picture: GraphPicture | null = null;
  #drawn = "";
  #drawing: AbortController | null = null;
  readonly #rows = new Map<string, { of: object; rows: Set<number> }>();

  constructor(moveTo: (x: number, y: number) => void, signal: AbortSignal) {
    this.node.append(this.#still.canvas, this.#moving.canvas);
    this.node.setAttribute("role", "img");
    const { canvas } = this.#still;
    const move = (event: PointerEvent) => {
      if (!this.#picture) return;
      const box = canvas.getBoundingClientRect();
      const at = this.#scale(this.#picture);
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      const { columns } = this.#picture.placed.layout;
      const { column, along } = this.#picture.placed.atFlow(at.flow(at.down ? y : x));
      const across = at.across(at.down ? x : y);
      const size = this.#picture.placed.columns > 1 ? 0.5 : across;
      const [low, high] = at.down
        ? [columns.minX[column]!, columns.maxX[column]!]
        : [columns.minY[column]!, columns.maxY[column]!];
      const middle = low + size * (high - low);
      if (at.down) moveTo(middle, along);
      else moveTo(along, middle);
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

  invalidate(): void {
    this.#drawn = "";
  }

  paint(picture: GraphPicture, marks: OverlayMarks): void {
    this.#picture = picture;
    const { clientWidth: width, clientHeight: height } = this.node;
    if (width === 0 || height === 0) return;
    const key = `${width}x${height}x${devicePixelRatio}`;
    if (this.#drawn !== key) {
      this.#drawn = key;
      this.#rows.clear();
      this.#draw(picture, width, height);
    }
    clear(this.#moving, width, height);
    this.#marks(picture, marks);
  }

  #draw(picture: GraphPicture, width: number, height: number): void {
    this.#drawing?.abort();
    this.#drawing = new AbortController();
    const steps = this.#graph(picture, width, height);
    if (picture.placed.scene.count <= AT_ONCE) finished(steps);
    else inStretches(steps, this.#drawing.signal).catch(() => {});
  }

  /** Along the strip: the flow; across it: the columns, stretched to the strip. */
  #scale({ placed }: GraphPicture) {
    const { columns, direction } = placed.layout;
    const { clientWidth: width, clientHeight: height } = this.node;
    const down = direction === "down";
    const room = Math.max(1, (down ? height : width) - 2 * PAD);
    const thick = down ? width : height;
    const wide = Math.max(1, thick - 2 * GUTTER - STRIP - GAP);
    const [low, high] = down ? [columns.minX, columns.maxX] : [columns.minY, columns.maxY];
    const along = (flow: number) => PAD + (flow / placed.length) * room;
    const limit = (share: number) => Math.min(1, Math.max(0, share));
    return {
      along,
      flow: (at: number) => limit((at - PAD) / room) * placed.length,
      /** Position across a column of a point on the strip, 0 … 1; `at` is the inverse. */
      across: (at: number) => limit((at - GUTTER) / wide),
      at: (world: number, column: number) => {
        const size = Math.max(1, high[column]! - low[column]!);
        return GUTTER + limit((world - low[column]!) / size) * wide;
      },
      perPx: (column: number) => wide / Math.max(1, high[column]! - low[column]!),
      room,
      wide,
      thick,
      strip: GUTTER + wide + GAP,
      down,
    };
  }

  *#graph(picture: GraphPicture, width: number, height: number): Generator<void, void> {
    const { placed } = picture;
    const { x, y } = placed.layout;
    const { width: wides, height: highs } = placed.scene;
    const at = this.#scale(picture);
    const columns = Math.ceil(at.wide) + 1;
    const rows = Math.ceil(at.room) + 2 * PAD;
    const cells = new Int32Array(columns * rows).fill(-1);
    const strip = new Int32Array(rows).fill(-1);
    const shades = shadesOf(picture);
    const { rank } = shades;
    const isHeat = showsTimes(picture);
    const heat = (box: number) => heatOf(picture, box);
    const isFaulty = (picture.health?.nodes.origin ?? -1) >= 0;
    this.node.title = `the graph; drag to move. Framed: the stage. Strip: ${
      isHeat ? "time of the slowest" : "foremost color"
    } at each place. Arrow: ${isFaulty ? "the first fault" : "the slowest operator"}`;
    this.node.ariaLabel = this.node.title;
    const limit = (value: number, most: number) => Math.min(most - 1, Math.max(0, value));
    const perFlow = at.room / placed.length;
    for (let box = 0; box < placed.scene.count; box++) {
      if (box % STRIDE === STRIDE - 1) yield;
      if (!shades.color[box]) shades.make(box);
      const here = rank[box]!;
      const [long, broad] = at.down ? [highs[box]!, wides[box]!] : [wides[box]!, highs[box]!];
      const least = isMarked(picture, box) ? SUSPICIOUS : 2;
      const across = at.down ? x[box]! : y[box]!;
      const column = placed.columnOf(box);
      const high = Math.min(MOST, Math.max(least, long * perFlow));
      const size = Math.max(least, broad * at.perPx(column));
      const top = limit(Math.round(at.along(placed.flow(x[box]!, y[box]!)) - high / 2), rows);
      const left = limit(Math.round(at.at(across, column) - GUTTER - size / 2), columns);
      const right = limit(left + Math.round(size) - 1, columns);
      const bottom = limit(top + Math.round(high) - 1, rows);
      for (let row = top; row <= bottom; row++) {
        for (let cell = row * columns + left; cell <= row * columns + right; cell++) {
          if (cells[cell]! < 0 || here > rank[cells[cell]!]!) cells[cell] = box;
        }
        const there = strip[row]!;
        if (there < 0 || (isHeat ? heat(box) > heat(there) : here > rank[there]!)) strip[row] = box;
      }
    }
    clear(this.#still, width, height);
    const { context } = this.#still;
    const bar = (fill: string, row: number, from: number, length: number) => {
      context.fillStyle = fill;
      if (at.down) context.fillRect(from, row, length, 1);
      else context.fillRect(row, from, 1, length);
    };
    for (let row = 0; row < rows; row++) {
      for (let cell = 0; cell < columns; ) {
        const [box, from] = [cells[row * columns + cell]!, cell];
        while (cell < columns && cells[row * columns + cell] === box) cell++;
        if (box >= 0) bar(shades.fill(box), row, GUTTER + from, cell - from);
      }
      const first = strip[row]!;
      if (first < 0) continue;
      const fill = isHeat ? picture.palette.ramp("heat", heat(first)) : shades.fill(first);
      bar(fill, row, at.strip, STRIP);
    }
  }

  /** Rows of the strip with some boxes, cached by what these come from and the strip's size. */
  #rowsOf(
    name: string,
    picture: GraphPicture,
    of: object,
    boxes: () => Iterable<number>,
  ): Set<number> {
    const kept = this.#rows.get(name);
    if (kept?.of === of) return kept.rows;
    const at = this.#scale(picture);
    const { placed } = picture;
    const { x, y } = placed.layout;
    const rows = new Set<number>();
    for (const box of boxes()) rows.add(Math.round(at.along(placed.flow(x[box]!, y[box]!))));
    this.#rows.set(name, { of, rows });
    return rows;
  }

  #marks(picture: GraphPicture, { selected, frame, hits }: OverlayMarks): void {
    const { context } = this.#moving;
    const { placed, times, camera, palette, colorBy, health } = picture;
    const { theme } = palette;
    const at = this.#scale(picture);
    const { x, y } = placed.layout;
    const place = (box: number) => at.along(placed.flow(x[box]!, y[box]!));
    const area = (from: number, along: number, length: number, size: number) =>
      at.down ? ([from, along, length, size] as const) : ([along, from, size, length] as const);
    const ticks = (color: string, rows: Iterable<number>, from: number, length: number) => {
      context.fillStyle = color;
      for (const row of rows) context.fillRect(...area(from, row - 1, length, 2));
    };
    if (hits.size) {
      const rows = this.#rowsOf("hits", picture, hits, () => hits.keys());
      ticks(theme.warning, rows, 0, GUTTER - 3);
    }
    context.fillStyle = theme.accent;
    for (const box of selected) context.fillRect(...area(0, place(box) - 1, at.thick, 2));
    if (frame >= 0) {
      const { x, y, width, height } = placed.frame(frame);
      const [from, to] = [placed.flow(x, y), placed.flow(x + width, y + height)].map(at.along);
      context.fillRect(...area(GUTTER - 4, from!, 3, Math.max(2, to! - from!)));
    }
    const origin = health ? health.nodes.origin : -1;
    if (health && origin >= 0) {
      const boxes = () =>
        [...health.fault.keys()].filter((box) => health.fault[box] !== Fault.NONE);
      // Where a fault began or spread to.
      ticks(theme.error, this.#rowsOf("faults", picture, health, boxes), GUTTER - 3, 3);
    }
    const worst = health && colorBy === "health" ? health.nodes.worst : origin;
    const pointed = placed.boxOf(worst >= 0 ? worst : times.slowest);
    const color = worst >= 0 ? theme.error : theme.text;
    if (pointed >= 0) triangle(context, at.thick, place(pointed), at.down, color);
    const view = camera.view();
    context.lineWidth = 1.5;
    const parts: { left: number; right: number; start: number; end: number; whole: boolean }[] = [];
    placed.eachPart(view, (from, to, column) => {
      const [low, high] = at.down ? [view.minX, view.maxX] : [view.minY, view.maxY];
      const [start, end] = [at.along(from), at.along(to)];
      const [left, right] = [at.at(low, column), at.at(high, column)];
      const whole = right - left > at.wide - 1;
      const before = parts.at(-1);
      // Consecutive columns that are completely visible are one part of the strip.
      if (whole && before?.whole && start - before.end < 1) before.end = end;
      else parts.push({ left, right, start, end, whole });
    });
    for (const { left, right, start, end, whole } of parts) {
      const rectangle = whole
        ? area(1, start, at.thick - 2, Math.max(4, end - start))
        : area(left, start, Math.max(4, right - left), Math.max(4, end - start));
      context.globalAlpha = 0.1;
      context.fillStyle = theme.accent;
      context.fillRect(...rectangle);
      context.globalAlpha = 1;
      context.strokeStyle = theme.accent;
      context.strokeRect(...rectangle);
    }
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
