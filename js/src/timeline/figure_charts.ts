import type { RooflineColumns } from "../shared/client/answers.ts";
import { Viewport } from "../shared/drawing/canvas.ts";
import { type FigurePart, MARGIN, type Note } from "../shared/drawing/figure.ts";
import type { SvgContext } from "../shared/drawing/svg_context.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { FoldedPainter, Lanes, MEDIAN } from "./charts/folded_painter.ts";
import { HeatPainter } from "./charts/heat_painter.ts";
import { Icicle } from "./charts/icicle.ts";
import { type Matrix, type MatrixRow, spreadOf } from "./charts/repeat_matrix.ts";
import { RooflinePainter, RooflinePlot } from "./charts/roofline_painter.ts";
import { OperatorPoints } from "./charts/roofline_points.ts";
import { Brush } from "./charts/stage.ts";
import type { TreePlaces } from "./data/merged_tree.ts";
import { type Names, type Title, titleText } from "./data/names.ts";

/** Items of a chart as counted by Python: a node, or only a name. */
interface ItemColumns {
  /** -1 without a node. */
  node: number[];
  name: string[];
  label: string[];
  kind: string[];
}

class ItemNames {
  readonly #columns: ItemColumns;
  readonly #names: Names;
  readonly #isGroup: readonly boolean[];
  readonly #codeOf: (name: string) => number;

  constructor(
    columns: ItemColumns,
    names: Names,
    codeOf: (name: string) => number,
    isGroup: readonly boolean[] = [],
  ) {
    this.#columns = columns;
    this.#names = names;
    this.#codeOf = codeOf;
    this.#isGroup = isGroup;
  }

  timeText(ns: number): string {
    return this.#names.timeText(ns);
  }

  node(key: number): number {
    return this.#columns.node[key]!;
  }

  group(key: number): number {
    return this.#isGroup[key] ? key : -1;
  }

  titleOf(key: number): Title {
    const { label, name, node } = this.#columns;
    if (node[key]! >= 0) return this.#names.titleOf(node[key]!, label[key]!);
    return { label: this.#isGroup[key] ? name[key]! : label[key]!, id: "", shape: "" };
  }

  title(key: number): string {
    return titleText(this.titleOf(key));
  }

  mark(theme: Theme, key: number): string {
    const { kind, name, node } = this.#columns;
    if (node[key]! >= 0 && this.#names.known) return this.#names.fill(theme, node[key]!, -1);
    return this.#names.colors.ofName(theme, this.#codeOf(name[key]!), kind[key]!);
  }

  fill(theme: Theme, key: number): string {
    return this.mark(theme, key);
  }
}

export type ChartData = { notes: Note[]; below?: Note[] } & (
  | { kind: "time" }
  | ({ kind: "merged" } & MergedData)
  | ({ kind: "repeats" } & MatrixData)
  | ({ kind: "folded" } & MatrixData)
  | { kind: "roofline"; flops: number | null; bytes: number | null }
  | { kind: "none" }
);

interface MergedData {
  whole: number;
  names: ItemColumns;
  group: boolean[];
  depth: number[];
  start: number[];
  total: number[];
  self: number[];
  count: number[];
}

interface MatrixData {
  names: ItemColumns;
  /** Null: no number. */
  ns: (number | null)[][];
  p10: number[];
  median: number[];
  p90: number[];
  mean: number[];
  noisy: boolean[];
  totals: number[];
  /** Number of warm-up repeats. */
  warm: number;
  ofSlices: boolean;
  repeats: number;
}

export interface ChartContext {
  names: Names;
  codeOf: (name: string) => number;
  selected: readonly number[];
  nodeNs: Float64Array;
  roofline: RooflineColumns | null;
  /** px. */
  width: number;
}

const LEVEL = 20;
/** Least width of a cell of the heat strip, px. */
const CELL = 10;
const ROOFLINE = 240;

/** A chart with its caption; null if there is nothing to draw. */
export function otherChart(data: ChartData, context: ChartContext): [FigurePart, Note[]] | null {
  if (data.kind === "merged") return [merged(data, context), []];
  if (data.kind === "repeats") return repeats(data, context);
  if (data.kind === "folded") return [folded(data, context), []];
  const part = data.kind === "roofline" ? roofline(data, context) : null;
  return part && [part, []];
}

/** A figure part painted by a brush from the margin on. */
function painted(height: number, paint: (brush: Brush, theme: Theme) => void): FigurePart {
  return {
    height: height + 6,
    paint(pen: SvgContext, theme, top) {
      pen.save();
      pen.translate(MARGIN, top);
      const brush = new Brush(pen);
      brush.theme = theme;
      paint(brush, theme);
      pen.restore();
    },
  };
}

function merged(data: MergedData, { names, codeOf, selected, width }: ChartContext): FigurePart {
  const depths = data.depth.reduce((most, depth) => Math.max(most, depth + 1), 0);
  const levels = new Int32Array(depths + 1);
  for (const depth of data.depth) levels[depth + 1]!++;
  for (let level = 0; level < depths; level++) levels[level + 1]! += levels[level]!;
  const tree: TreePlaces = {
    size: data.depth.length,
    whole: data.whole,
    depths,
    levels,
    key: Int32Array.from(data.depth.keys()),
    depth: Int32Array.from(data.depth),
    start: Float64Array.from(data.start),
    total: Float64Array.from(data.total),
    self: Float64Array.from(data.self),
    count: Int32Array.from(data.count),
  };
  const own = new ItemNames(data.names, names, codeOf, data.group);
  const icicle = new Icicle(tree, own);
  const height = depths * LEVEL;
  return painted(height, (brush) => {
    icicle.paint(brush, width, height);
    data.names.node.forEach((node, place) => {
      const box = selected.includes(node) ? icicle.box(place, width, height) : null;
      if (box) brush.frame({ ...box, width: box.width - 1, height: box.height - 1 });
    });
  });
}

function rowsOf(data: MatrixData): MatrixRow[] {
  return data.ns.map((values, key) => ({
    key,
    node: data.names.node[key]!,
    values: Float64Array.from(values, (value) => value ?? Number.NaN),
    slices: null,
    median: data.median[key]!,
    p10: data.p10[key]!,
    p90: data.p90[key]!,
    mean: data.mean[key]!,
    noisy: data.noisy[key]!,
    start: key,
  }));
}

function repeats(
  data: MatrixData,
  { names, codeOf, selected, width }: ChartContext,
): [FigurePart, Note[]] {
  const rows = rowsOf(data);
  const matrix: Matrix = {
    rows,
    columns: data.repeats,
    ofSlices: data.ofSlices,
    totals: Float64Array.from(data.totals),
    spread: spreadOf(rows),
  };
  const own = new ItemNames(data.names, names, codeOf);
  const painter = new HeatPainter(matrix, own, data.ofSlices ? 0 : data.warm, CELL);
  painter.order = Int32Array.from(rows.keys());
  const part = painted(painter.height, (brush, theme) => {
    painter.paint(brush, width, painter.height);
    rows.forEach(({ node }, row) => {
      const box = node >= 0 && selected.includes(node) ? painter.box(row, -1, width) : null;
      if (box) brush.fill(theme.accent, -8, box.y, 4, box.height);
    });
  });
  const repeats = painter.step(width);
  const noun = data.ofSlices ? "slices" : "repeats";
  const caption = `A column is the one of ${repeats} ${noun} that is farthest from the median.`;
  return [part, repeats > 1 ? [{ text: caption, color: "muted", most: 2 }] : []];
}

function folded(data: MatrixData, { names, codeOf, selected, width }: ChartContext): FigurePart {
  const rows = rowsOf(data);
  const lanes = new Lanes(rows);
  const viewport = new Viewport(0, Math.max(1, lanes.longest(0)));
  const own = new ItemNames(data.names, names, codeOf);
  const painter = new FoldedPainter({ rows, lanes, repeats: 0, warm: 0 }, own, viewport);
  return painted(painter.height, (brush) => {
    painter.paint(brush, width, painter.height);
    rows.forEach(({ node }, row) => {
      const box = node >= 0 && selected.includes(node) ? painter.box(row, MEDIAN, width) : null;
      if (box) brush.frame(box);
    });
  });
}

function roofline(
  given: { flops: number | null; bytes: number | null },
  { names, nodeNs, roofline, selected, width }: ChartContext,
): FigurePart | null {
  if (!roofline) return null;
  const points = new OperatorPoints(roofline, nodeNs);
  if (!points.byTime.length) return null;
  const seen = points.highest;
  const lines = { flops: given.flops ?? seen.flops, bytes: given.bytes ?? seen.bytes };
  const painter = new RooflinePainter(points, names);
  const place = new RooflinePlot(width, ROOFLINE, points.extent(lines));
  return painted(ROOFLINE, (brush) => {
    painter.paint(brush, place, given, seen);
    for (const node of selected) {
      const point = points.of(node);
      if (point >= 0 && points.isDrawn(point)) painter.ring(brush, place, point, 2);
    }
  });
}
