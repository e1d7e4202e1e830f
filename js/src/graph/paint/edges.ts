import { type Pen, type Rectangle, TextMeasure } from "../../shared/drawing/canvas.ts";
import { counted, entryText } from "../../shared/format.ts";
import { append, largest, smallest } from "../../shared/many.ts";
import { EDGE_TEXT_SCALE } from "../camera.ts";
import { EdgeStyle } from "../layout/scene.ts";
import type { Detail, GraphPicture, LabelRecord } from "./picture.ts";

export const DASHES: Record<number, number[]> = {
  [EdgeStyle.DATA]: [],
  [EdgeStyle.AMBIGUOUS]: [6, 4],
  [EdgeStyle.CONTROL]: [1.5, 4],
  [EdgeStyle.BRIDGE]: [6, 3, 1.5, 3],
};
const CORNER = 9;
const ARROW = 6;
const TEXT_PX = 11;
const SPUR = 15;
const MOST_EDGES = 4000;
/** Scale from which lines that stand for more than themselves have a text. */
const LEAST_TEXT_SCALE = 0.55;

export class EdgePainter {
  readonly #context: Pen;
  readonly #measure: TextMeasure;
  labels: LabelRecord[] | null = null;

  constructor(context: Pen) {
    this.#context = context;
    this.#measure = new TextMeasure(context);
  }

  paint(picture: GraphPicture, level: Detail, taken: readonly Rectangle[] = []): void {
    if (level === "density") return;
    const { placed, camera, palette } = picture;
    const context = this.#context;
    const styles: number[][] = [[], [], [], []];
    for (const edge of this.#inView(picture)) styles[placed.scene.edgeStyle[edge]!]!.push(edge);
    const fine = level === "shape";
    context.strokeStyle = palette.edge;
    context.lineWidth = fine ? Math.max(0.5, camera.scale * 2) : Math.max(1, 1.2 * camera.scale);
    context.lineJoin = "round";
    for (const [style, edges] of styles.entries()) {
      if (edges.length === 0) continue;
      context.setLineDash(DASHES[style]!);
      context.beginPath();
      for (const edge of edges) this.trace(picture, edge, fine);
      context.stroke();
    }
    context.setLineDash([]);
    if (fine) return;
    context.fillStyle = palette.edge;
    context.beginPath();
    for (const edges of styles) for (const edge of edges) this.arrow(picture, edge);
    context.fill();
    this.#looseEnds(picture);
    if (camera.scale >= LEAST_TEXT_SCALE) this.#texts(picture, styles.flat(), taken);
  }

  /** Visible edges; if there are very many, only the distinguishable ones. */
  #inView({ placed, camera }: GraphPicture): number[] {
    const edges: number[] = [];
    placed.eachEdge(camera.view(20), (edge) => edges.push(edge));
    if (edges.length <= MOST_EDGES) return edges;
    const { offsets, points } = placed.layout.routes;
    const pixel = (point: number) =>
      Math.imul(Math.round(camera.screenX(points[2 * point]!)), 0x9e3779b1) ^
      Math.imul(Math.round(camera.screenY(points[2 * point + 1]!)), 0x85ebca6b);
    const seen = new Set<number>();
    return edges.filter((edge) => {
      const [from, to] = [pixel(offsets[edge]!), pixel(offsets[edge + 1]! - 1)];
      const key = (from >>> 0) * 2 ** 21 + ((to ^ placed.scene.edgeStyle[edge]!) >>> 11);
      return !seen.has(key) && seen.add(key);
    });
  }

  trace(picture: GraphPicture, edge: number, straight: boolean): void {
    const { placed, camera } = picture;
    const { points } = placed.layout.routes;
    if (placed.isStub[edge]) {
      const start = placed.layout.routes.offsets[edge]!;
      this.polyline(picture, points, start, start + 2, true);
      this.polyline(picture, points, start + 2, start + 4, true);
      return;
    }
    const [first, end] = placed.pointsInView(edge, camera.view(20));
    this.polyline(picture, points, first, end, straight);
  }

  polyline(
    { camera }: GraphPicture,
    points: ArrayLike<number>,
    first: number,
    end: number,
    straight: boolean,
  ): void {
    const context = this.#context;
    const { scale } = camera;
    const [shiftX, shiftY] = [camera.screenX(0), camera.screenY(0)];
    const x = (i: number) => points[2 * i]! * scale + shiftX;
    const y = (i: number) => points[2 * i + 1]! * scale + shiftY;
    if (end - first < 2) return;
    context.moveTo(x(first), y(first));
    for (let i = first + 1; i < end - 1; i++) {
      if (straight) {
        context.lineTo(x(i), y(i));
        continue;
      }
      const before = Math.hypot(x(i) - x(i - 1), y(i) - y(i - 1));
      const after = Math.hypot(x(i + 1) - x(i), y(i + 1) - y(i));
      const round = Math.min(CORNER * scale, before / 2, after / 2);
      context.arcTo(x(i), y(i), x(i + 1), y(i + 1), round);
    }
    context.lineTo(x(end - 1), y(end - 1));
  }

  arrow({ placed, camera }: GraphPicture, edge: number): void {
    const { offsets, points } = placed.layout.routes;
    const end = offsets[edge + 1]! - 1;
    if (end <= offsets[edge]!) return;
    const [x, y] = [camera.screenX(points[2 * end]!), camera.screenY(points[2 * end + 1]!)];
    if (x < -20 || y < -20 || x > camera.width + 20 || y > camera.height + 20) return;
    const size = ARROW * Math.min(1.3, camera.scale);
    const context = this.#context;
    context.moveTo(x, y);
    if (placed.layout.direction === "down") {
      const back = placed.isReversed[edge] ? size : -size;
      context.lineTo(x - size * 0.6, y + back);
      context.lineTo(x + size * 0.6, y + back);
    } else {
      const back = placed.isReversed[edge] ? size : -size;
      context.lineTo(x + back, y - size * 0.6);
      context.lineTo(x + back, y + size * 0.6);
    }
    context.closePath();
  }

  /** Operands without a producer in the graph (dashed, with a ring), and edges to hidden nodes (dotted). */
  #looseEnds(picture: GraphPicture): void {
    const { placed, camera, palette } = picture;
    const { dangling, cutInto, cutOutOf } = placed.scene;
    const context = this.#context;
    const down = placed.layout.direction === "down";
    const length = SPUR * Math.min(1, camera.scale);
    const spur = (box: number, before: boolean, ring: boolean) => {
      const { x, y, width, height } = placed.rectangle(box);
      const along = ring ? 0.12 : 0.88;
      const startX = camera.screenX(down ? x + width * along : before ? x : x + width);
      const startY = camera.screenY(down ? (before ? y : y + height) : y + height * along);
      const reach = before ? -length : length;
      const [endX, endY] = down ? [startX, startY + reach] : [startX + reach, startY];
      context.strokeStyle = ring ? palette.theme.warning : palette.edge;
      context.lineWidth = 1.3;
      context.setLineDash(ring ? [4, 3] : [1.5, 3]);
      context.beginPath();
      context.moveTo(startX, startY);
      context.lineTo(endX, endY);
      context.stroke();
      context.setLineDash([]);
      if (!ring) return;
      context.beginPath();
      context.arc(endX, endY, 3, 0, 2 * Math.PI);
      context.stroke();
    };
    placed.eachBox(camera.view(SPUR), (box) => {
      if (dangling[box]) spur(box, true, true);
      if (cutInto[box]) spur(box, true, false);
      if (cutOutOf[box]) spur(box, false, false);
    });
  }

  /** Texts of edges, unless they would cover something: at the start, and at both ends of cut edges. */
  #texts(picture: GraphPicture, edges: readonly number[], elsewhere: readonly Rectangle[]): void {
    const { placed, palette, camera } = picture;
    const context = this.#context;
    context.font = `${TEXT_PX}px ${palette.theme.font}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const taken: LabelRecord[] = [];
    const isFree = (spot: Rectangle) => {
      const { x, y, width, height } = spot;
      if (x < 0 || y < 0 || x + width > camera.width || y + height > camera.height) return false;
      if (taken.some((other) => overlap(other, spot))) return false;
      if (elsewhere.some((other) => overlap(other, spot))) return false;
      let isCovered = false;
      const [minX, minY] = [camera.worldX(x), camera.worldY(y)];
      const view = { minX, minY, maxX: camera.worldX(x + width), maxY: camera.worldY(y + height) };
      placed.eachBox(view, () => {
        isCovered = true;
      });
      return !isCovered;
    };
    for (const { text, edge, point } of this.#labels(picture, edges)) {
      const width = this.#measure.width(text);
      const record = this.#spots(picture, edge, point, width).find(isFree);
      if (!record) continue;
      taken.push({ ...record, text, node: -1 });
      context.globalAlpha = 0.85;
      context.fillStyle = palette.theme.background;
      context.fillRect(record.x - 2, record.y, width + 4, record.height);
      context.globalAlpha = 1;
      context.fillStyle = palette.theme.muted;
      context.fillText(text, record.x, record.y + record.height / 2);
    }
    if (this.labels) append(this.labels, taken);
  }

  /** Texts of edges with their anchor points: one per tensor, and one per cut end. */
  *#labels(
    picture: GraphPicture,
    edges: readonly number[],
  ): Generator<{ text: string; edge: number; point: number }> {
    const { placed, graph } = picture;
    const { scene, isStub } = placed;
    const { routes } = placed.layout;
    const { edgeSource, edgeTarget, edgeSlot, edgeStyle, edge: graphEdge } = scene;
    const over = new Map<number, Set<number>>();
    for (const edge of edges) {
      if (edgeStyle[edge] !== EdgeStyle.BRIDGE) continue;
      const counts = over.get(edgeSource[edge]!) ?? new Set();
      over.set(edgeSource[edge]!, counts.add(-1 - graphEdge[edge]!));
    }
    const drawn = new Set<string>();
    const isNew = (key: string) => !drawn.has(key) && drawn.add(key);
    const name = (box: number) => scene.text(box).title;
    for (const edge of edges) {
      if (edgeStyle[edge] === EdgeStyle.CONTROL) continue;
      const box = edgeSource[edge]!;
      // Where a line turns to the next column, a text would cover it.
      if (placed.columnOf(box) !== placed.columnOf(edgeTarget[edge]!)) continue;
      const slot = edgeSlot[edge]!;
      const tensor = `${box}:${slot}`;
      if (isStub[edge]) {
        const start = routes.offsets[edge]!;
        if (isNew(`${tensor} far`)) {
          const far = placed.edgesOf(box).filter((edge) => {
            return isStub[edge] && edgeSource[edge] === box && edgeSlot[edge] === slot;
          });
          yield { text: `${name(box)} → ${counted(far.length, "reader")}`, edge, point: start + 1 };
        }
        if (isNew(`${tensor} ${edgeTarget[edge]}`)) {
          yield { text: `from ${name(box)}`, edge, point: start + 2 };
        }
        continue;
      }
      if (routes.trunk[edge] !== -1 || placed.isReversed[edge] || !isNew(tensor)) continue;
      const point = routes.offsets[edge]!;
      if (edgeStyle[edge] === EdgeStyle.BRIDGE) {
        yield { text: bridgeText(over.get(box)!), edge, point };
        continue;
      }
      if (picture.camera.scale < EDGE_TEXT_SCALE) continue;
      const node = graph.edgeSource[graphEdge[edge]!]!;
      const output = graph.edgeOutput[graphEdge[edge]!]!;
      const outputs = graph.entryOffsets[node + 1]! - graph.entryOffsets[node]!;
      const value = picture.colors.entry(graph.entryOffsets[node]! + output);
      const which = outputs > 1 ? `:${output} ` : "";
      yield {
        text: `${which}${entryText(graph, node, output)}${value && ` · ${value}`}`,
        edge,
        point,
      };
    }
  }

  /** Positions for the text of an edge, best first: beside a point of it, away from the line's turn. */
  #spots(
    { placed, camera }: GraphPicture,
    edge: number,
    point: number,
    width: number,
  ): Rectangle[] {
    const { routes, direction, layer, layerTop } = placed.layout;
    const x = camera.screenX(routes.points[2 * point]!);
    const y = camera.screenY(routes.points[2 * point + 1]!);
    const height = TEXT_PX + 3;
    if (placed.isStub[edge]) {
      const [middle, beside] = [y - height / 2, x + 6];
      return [beside, x - 6 - width].map((left) => ({ x: left, y: middle, width, height }));
    }
    if (direction === "right") {
      const next = layerTop[layer[placed.scene.edgeSource[edge]!]! + 1];
      if (next !== undefined && camera.screenX(next) - x < width + 10) return [];
      const above = { x: x + 6, y: y - height - 2, width, height };
      const below = { ...above, y: y + 4 };
      const up = routes.points[2 * point + 3]! < routes.points[2 * point + 1]! - 1;
      return up ? [below, above] : [above, below];
    }
    const right = { x: x + 6, y: y + 4, width, height };
    const left = { ...right, x: x - 6 - width };
    return routes.points[2 * point + 2]! > routes.points[2 * point]! + 1
      ? [left, right]
      : [right, left];
  }
}

/** `through 2 hidden`; the range of counts for several lines with one beginning. */
function bridgeText(counts: ReadonlySet<number>): string {
  const [fewest, most] = [smallest(counts), largest(counts)];
  return `through ${fewest === most ? most : `${fewest} to ${most}`} hidden`;
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  return (
    a.x < b.x + b.width + 6 &&
    b.x < a.x + a.width + 6 &&
    a.y < b.y + b.height &&
    b.y < a.y + a.height
  );
}

/** Distance up to which the pointer is on a line, CSS px. */
const REACH = 5;
const MOST = 3000;

export function edgeAt({ placed, camera }: GraphPicture, x: number, y: number): number {
  const { offsets, points } = placed.layout.routes;
  const [atX, atY] = [camera.worldX(x), camera.worldY(y)];
  const reach = REACH / camera.scale;
  const view = { minX: atX - reach, maxX: atX + reach, minY: atY - reach, maxY: atY + reach };
  let [nearest, least, looked] = [-1, reach, 0];
  placed.eachEdge(view, (edge) => {
    if (looked++ > MOST) return;
    const start = offsets[edge]!;
    const isStub = placed.isStub[edge];
    const [first, end] = isStub ? [start, start + 4] : placed.pointsInView(edge, view);
    for (let i = first; i + 1 < end; i++) {
      if (isStub && i === start + 1) continue;
      const away = distance(atX, atY, points, i);
      if (away < least) [nearest, least] = [edge, away];
    }
  });
  return nearest;
}

/** Distance of a point from the segment that begins at the point `i` of a stroke. */
function distance(x: number, y: number, points: ArrayLike<number>, i: number): number {
  const [fromX, fromY] = [points[2 * i]!, points[2 * i + 1]!];
  const [wide, high] = [points[2 * i + 2]! - fromX, points[2 * i + 3]! - fromY];
  const along = ((x - fromX) * wide + (y - fromY) * high) / (wide * wide + high * high || 1);
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(x - fromX - share * wide, y - fromY - share * high);
}
