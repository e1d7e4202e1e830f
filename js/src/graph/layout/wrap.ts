import { lowerBound } from "../../shared/many.ts";
import { StrokePen } from "./routing.ts";
import type { LayoutColumns, LayoutResult } from "./types.ts";

const LANE = 6;
const SIDE = 10;
const GAP = 24;
/** Share of a column by which a cut may move off the even position to cut fewer lines. */
const LEEWAY = 0.08;
/** Largest number of columns tried. */
const TRIES = 16;
/** Growth of the picture that makes more columns worthwhile. */
const WORTH = 1.08;

/** Possible cuts of a layout: the layer before, the position, and the number of lines crossed. */
interface Gaps {
  layer: Int32Array;
  at: Float64Array;
  lines: Int32Array;
}

function findGaps(
  { layerTop, layerBottom, layers, routes }: LayoutResult,
  frameTop: Float64Array,
  frameLength: Float64Array,
  axis: number,
): Gaps {
  const at = layerBottom.slice();
  const frames = Int32Array.from(frameTop, (_, f) => f).sort((f, g) => frameTop[f]! - frameTop[g]!);
  let reached = Number.NEGATIVE_INFINITY;
  for (let l = 0, i = 0; l < layers; l++) {
    for (; i < frames.length && frameTop[frames[i]!]! <= layerBottom[l]!; i++) {
      reached = Math.max(reached, frameTop[frames[i]!]! + frameLength[frames[i]!]!);
    }
    at[l] = Math.max(at[l]!, reached);
  }
  const lines = new Int32Array(layers + 1);
  const { offsets, points } = routes;
  for (let e = 0; e + 1 < offsets.length; e++) {
    if (offsets[e] === offsets[e + 1]) continue;
    const first = points[2 * offsets[e]! + axis]!;
    const last = points[2 * offsets[e + 1]! - 2 + axis]!;
    lines[lowerBound(layerTop, Math.min(first, last))]!++;
    lines[lowerBound(layerTop, Math.max(first, last))]!--;
  }
  for (let l = 0; l < layers; l++) lines[l + 1]! += lines[l]!;
  const layer = Int32Array.from(layerTop.keys()).filter(
    (l) => l + 1 < layers && at[l]! < layerTop[l + 1]!,
  );
  return {
    layer,
    at: Float64Array.from(layer, (l) => at[l]!),
    lines: Int32Array.from(layer, (l) => lines[l + 1]!),
  };
}

/** Gaps at which to cut into at most this many columns: evenly, through few lines. */
function findCuts({ at, lines }: Gaps, length: number, columns: number): number[] {
  const cuts: number[] = [];
  let from = 0;
  for (let c = columns; c > 1; c--) {
    const even = (length - from) / c;
    const away = (i: number) => Math.abs(at[i]! - from - even);
    const far = (i: number) => Math.max(0, away(i) - LEEWAY * even);
    const first = (cuts.at(-1) ?? -1) + 1;
    let best = first;
    for (let i = first + 1; i < at.length && at[i]! < from + 2 * even; i++) {
      if ((far(i) - far(best) || lines[i]! - lines[best]! || away(i) - away(best)) < 0) best = i;
    }
    if (best >= at.length) break;
    cuts.push(best);
    from = at[best]!;
  }
  return cuts;
}

/** Where a stroke with the points [from, to), which run down, crosses `at`. */
function acrossAt(points: Float64Array, from: number, to: number, at: number, axis: number) {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[2 * middle + axis]! < at) low = middle + 1;
    else high = middle;
  }
  const across = points[2 * low + 1 - axis]!;
  if (low === from || points[2 * low + axis] === at) return across;
  const before = points[2 * low - 1 - axis]!;
  const [y0, y1] = [points[2 * low - 2 + axis]!, points[2 * low + axis]!];
  return before + ((across - before) * (at - y0)) / (y1 - y0);
}

/**
 * Wraps a long thin layout into columns side by side (rows, if the flow runs to the right) of about the aspect width /
 * height: cuts through few lines, never through a frame; cut lines run in lanes from the foot of a column to the head
 * of the next.
 */
export function wrap(
  result: LayoutResult,
  sizes: { width: ArrayLike<number>; height: ArrayLike<number> },
  aspect: number,
): LayoutResult {
  const down = result.direction === "down";
  const axis = down ? 1 : 0;
  const across = down ? result.x : result.y;
  const along = down ? result.y : result.x;
  const wide = down ? sizes.width : sizes.height;
  const { frames, bounds, layers, layerTop, layerBottom, routes } = result;
  const frameTop = down ? frames.y : frames.x;
  const frameLeft = down ? frames.x : frames.y;
  const frameLength = down ? frames.height : frames.width;
  const frameWide = down ? frames.width : frames.height;
  const breadth = (down ? bounds.maxX - bounds.minX : bounds.maxY - bounds.minY) + GAP;
  const length = down ? bounds.maxY : bounds.maxX;
  const shape = down ? aspect : 1 / aspect;
  const gaps = findGaps(result, frameTop, frameLength, axis);
  /** Columns that remain after the chosen cuts: extents, and the column of every box. */
  const cutAt = (chosen: readonly number[]) => {
    const layer = chosen.map((i) => gaps.layer[i]!);
    const at = chosen.map((i) => gaps.at[i]!);
    const low = new Float64Array(at.length + 1).fill(Number.POSITIVE_INFINITY);
    const high = new Float64Array(at.length + 1).fill(Number.NEGATIVE_INFINITY);
    const widen = (c: number, from: number, to: number) => {
      low[c] = Math.min(low[c]!, from);
      high[c] = Math.max(high[c]!, to);
    };
    const columnOf = result.layer.map((l) => lowerBound(layer, l));
    for (const [v, c] of columnOf.entries()) {
      widen(c, across[v]! - wide[v]! / 2, across[v]! + wide[v]! / 2);
    }
    for (let f = 0; f < frameTop.length; f++) {
      const c = lowerBound(at, frameTop[f]! + frameLength[f]!);
      widen(c, frameLeft[f]!, frameLeft[f]! + frameWide[f]!);
    }
    return { layer, at, low, high, widen, columnOf };
  };
  const wanted = Math.sqrt((shape * length) / breadth);
  const least = Math.max(1, Math.floor(0.7 * wanted));
  let [cuts, largest] = [cutAt([]), 0];
  for (let i = 0; i < TRIES; i++) {
    const columns = least + Math.floor((i * Math.max(TRIES, 1.3 * wanted)) / TRIES);
    const tried = cutAt(findCuts(gaps, length, columns));
    const ends = [...tried.at, length];
    const tall = ends.reduce((most, end, c) => Math.max(most, end - (ends[c - 1] ?? 0)), 0);
    const total = tried.low.reduce((sum, low, c) => sum + tried.high[c]! - low + GAP, 0);
    const scale = Math.min(shape / total, 1 / tall);
    if (scale > WORTH * largest) [cuts, largest] = [tried, scale];
  }
  const count = cuts.at.length + 1;
  if (count === 1) return result;
  const { low, high, widen, columnOf } = cuts;
  const columnAt = (y: number) => lowerBound(cuts.at, y);
  // Strokes run down while they are cut; reversed edges are turned round before and after.
  const { offsets } = routes;
  const points = routes.points.slice();
  const isStub = new Uint8Array(offsets.length);
  for (const e of result.stubs) isStub[e] = 1;
  const turn = (p: Float64Array, from: number, to: number) => {
    for (let i = from, j = to - 1; i < j; i++, j--) {
      for (let k = 0; k < 2; k++) [p[2 * i + k], p[2 * j + k]] = [p[2 * j + k]!, p[2 * i + k]!];
    }
  };
  const lanes: Map<number, number>[] = cuts.at.map(() => new Map());
  const cut: number[] = [];
  for (const e of result.reversed) turn(points, offsets[e]!, offsets[e + 1]!);
  for (let e = 0; e + 1 < offsets.length; e++) {
    const [from, to] = [offsets[e]!, offsets[e + 1]!];
    if (from === to) continue;
    for (let p = from; p < to; p++) {
      const at = points[2 * p + 1 - axis]!;
      widen(columnAt(points[2 * p + axis]!), at, at);
    }
    if (isStub[e]) continue;
    const first = columnAt(points[2 * from + axis]!);
    const last = columnAt(points[2 * to - 2 + axis]!);
    if (first < last) cut.push(e);
    for (let c = first; c < last; c++) {
      const at = acrossAt(points, from, to, cuts.at[c]!, axis);
      lanes[c]!.set(at, 0);
      widen(c, at, at);
      widen(c + 1, at, at);
    }
  }
  let most = 0;
  for (const lane of lanes) {
    [...lane.keys()]
      .sort((p, q) => q - p)
      .forEach((at, i) => {
        lane.set(at, i);
      });
    most = Math.max(most, lane.size);
  }

  const head = most === 0 ? 0 : SIDE + LANE * most;
  const start = Float64Array.from({ length: count }, (_, c) => (c === 0 ? 0 : cuts.at[c - 1]!));
  const end = Float64Array.from({ length: count }, (_, c) =>
    c + 1 < count ? cuts.at[c]! : length,
  );
  const shift = new Float64Array(count);
  let right = 0;
  let foot = 0;
  for (let c = 0; c < count; c++) {
    const lined = c + 1 < count ? lanes[c]!.size : 0;
    shift[c] = right - low[c]!;
    right += high[c]! - low[c]! + (c + 1 < count ? GAP + (lined && SIDE + LANE * lined) : 0);
    foot = Math.max(foot, head + end[c]! - start[c]! + (lined && SIDE + LANE * lined));
  }
  const pen = new StrokePen();
  const put = (x: number, y: number) => (down ? pen.corner(x, y) : pen.corner(y, x));
  const newOffsets = new Int32Array(offsets.length);
  for (let e = 0; e + 1 < offsets.length; e++) {
    const [from, to] = [offsets[e]!, offsets[e + 1]!];
    let c = from < to ? columnAt(points[2 * from + axis]!) : 0;
    for (let p = from; p < to; p++) {
      const y = points[2 * p + axis]!;
      const x = points[2 * p + 1 - axis]!;
      const own = columnAt(y);
      if (isStub[e]) c = own;
      for (; c < own; c++) {
        const at = acrossAt(points, from, to, cuts.at[c]!, axis);
        const lane = lanes[c]!;
        const i = lane.get(at)!;
        const bottom = head + end[c]! - start[c]!;
        const side = shift[c]! + high[c]! + SIDE + LANE * i;
        const next = at + shift[c + 1]!;
        // A branch that leaves its trunk at the cut begins after it.
        if (routes.trunk[e]! < 0 || points[2 * from + axis] !== cuts.at[c]) {
          put(at + shift[c]!, bottom);
          put(at + shift[c]!, bottom + SIDE + LANE * i);
          put(side, bottom + SIDE + LANE * i);
          put(side, LANE * i);
          put(next, LANE * i);
        } else pen.count = newOffsets[e]!;
        put(next, head);
      }
      put(x + shift[c]!, y - start[c]! + head);
    }
    newOffsets[e + 1] = pen.count;
  }
  const drawn = pen.points.slice(0, 2 * pen.count);
  for (const e of result.reversed) turn(drawn, newOffsets[e]!, newOffsets[e + 1]!);

  const newAcross = across.map((at, v) => at + shift[columnOf[v]!]!);
  const newAlong = along.map((at, v) => at - start[columnOf[v]!]! + head);
  const layerColumn = (l: number) => lowerBound(cuts.layer, l);
  const moved = (at: number, l: number) => at - start[layerColumn(l)]! + head;
  const frameColumn = frameTop.map((top, f) => columnAt(top + frameLength[f]!));
  const newLeft = frameLeft.map((at, f) => at + shift[frameColumn[f]!]!);
  const newTop = frameTop.map((at, f) => at - start[frameColumn[f]!]! + head);
  const [minA, maxA] = [low.map((at, c) => at + shift[c]!), high.map((at, c) => at + shift[c]!)];
  const minB = new Float64Array(count).fill(head);
  const maxB = end.map((at, c) => at - start[c]! + head);
  const firstLayer = Int32Array.from([0, ...cuts.layer.map((l) => l + 1), layers]);
  const columns: LayoutColumns = down
    ? { firstLayer, minX: minA, maxX: maxA, minY: minB, maxY: maxB, cut: Int32Array.from(cut) }
    : { firstLayer, minX: minB, maxX: maxB, minY: minA, maxY: maxA, cut: Int32Array.from(cut) };
  return {
    ...result,
    x: down ? newAcross : newAlong,
    y: down ? newAlong : newAcross,
    layerTop: layerTop.map(moved),
    layerBottom: layerBottom.map(moved),
    bounds: { minX: 0, minY: 0, maxX: down ? right : foot, maxY: down ? foot : right },
    frames: { ...frames, x: down ? newLeft : newTop, y: down ? newTop : newLeft },
    columns,
    routes: { ...routes, offsets: newOffsets, points: drawn },
  };
}
