import type { RooflineColumns } from "../shared/client/answers.ts";
import type { Client } from "../shared/client/client.ts";
import type { MergedColumns, RepeatsColumns } from "../shared/client/timeline_columns.ts";
import { ChartBrush } from "../shared/drawing/brush.ts";
import { Viewport } from "../shared/drawing/canvas.ts";
import { type FigurePart, MARGIN, type Note } from "../shared/drawing/figure.ts";
import type { SvgContext } from "../shared/drawing/svg_context.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted, duration, integer } from "../shared/format.ts";
import { FoldedPainter, Lanes, MEDIAN } from "./charts/folded_painter.ts";
import { HeatPainter } from "./charts/heat_painter.ts";
import { Icicle } from "./charts/icicle.ts";
import { RepeatMatrix } from "./charts/repeat_matrix.ts";
import { RooflinePainter, RooflinePlot } from "./charts/roofline_painter.ts";
import { OperatorPoints } from "./charts/roofline_points.ts";
import { type ItemData, ItemNames } from "./data/item_names.ts";
import type { TreePlaces } from "./data/merged_tree.ts";
import type { TimelineOptions } from "./data/state.ts";

export interface ChartContext extends ItemData {
  selected: readonly number[];
  /** px. */
  width: number;
}

/** A chart with the sentences around it. */
interface ChartParts {
  /** Missing if there is nothing to draw. */
  part?: FigurePart | null;
  above: Note[];
  below?: Note[];
}

/** A chart whose data has come. */
export interface FigureChart {
  /** Nodes that it may name. */
  nodes: Iterable<number>;
  description: Record<string, unknown>;
  draw: (context: ChartContext) => ChartParts;
}

const LEVEL = 20;
/** Least width of a cell of the heat strip, px. */
const CELL = 10;
const ROOFLINE = 240;
/** Places of a merged tree that are drawn, and listed; those asked for, so that deep ones leave enough. */
const MERGED = { share: 1e-3, places: 400, levels: 14, listed: 40, asked: 20_000 };
const ROWS = 24;
/** Rows of folded repeats that may be wide enough for a name. */
const NAMED = 400;

export async function askChart(
  client: Client,
  title: string,
  { chart, peak_flops: flops, bandwidth: bytes }: TimelineOptions,
): Promise<FigureChart | null> {
  if (chart === "merged") {
    const reply = await client.ask("merged", { most: MERGED.asked });
    return reply && mergedChart(reply);
  }
  if (chart === "roofline") {
    const reply = (await client.ask("roofline", { told: true, flops, bytes }))!;
    return "missing" in reply
      ? missingChart("roofline", reply.missing)
      : rooflineChart(reply, title, { flops, bytes });
  }
  if (chart !== "repeats" && chart !== "folded") return null;
  const slowest = (await client.ask("repeats", { most: ROWS }))!;
  if ("missing" in slowest) return missingChart("repeats", slowest.missing);
  const description = { repeats: toldRepeats(slowest) };
  if (chart === "repeats") return { ...repeatsChart(slowest), description };
  const all = (await client.ask("repeats")) as RepeatsColumns;
  return { ...foldedChart(all), description };
}

export function muted(text: string, most = 4): Note {
  return { text, color: "muted", most };
}

function missingChart(name: string, missing: string): FigureChart {
  return {
    nodes: [],
    description: { [name]: { missing } },
    draw: () => ({ above: [muted(missing, 5)] }),
  };
}

/** A figure part painted by a brush from the margin on. */
function painted(height: number, paint: (brush: ChartBrush, theme: Theme) => void): FigurePart {
  return {
    height: height + 6,
    paint(pen: SvgContext, theme, top) {
      pen.save();
      pen.translate(MARGIN, top);
      const brush = new ChartBrush(pen);
      brush.start(theme);
      paint(brush, theme);
      pen.restore();
    },
  };
}

function mergedChart(reply: MergedColumns): FigureChart {
  const { total, depth, node, info } = reply;
  const byTotal = Array.from(total.keys()).sort((a, b) => total[b]! - total[a]! || a - b);
  const least = MERGED.share * info.whole;
  const shown = byTotal
    .filter((at) => least > 0 && total[at]! >= least && depth[at]! < MERGED.levels)
    .slice(0, MERGED.places)
    .sort((a, b) => a - b);
  const path = (place: number): string[] =>
    place < 0 ? [] : [...path(reply.parent[place]!), reply.names.at(place)];
  const places = byTotal.slice(0, MERGED.listed).map((at) => ({
    path: path(at),
    node: node[at]!,
    total_ns: total[at]!,
    self_ns: reply.self[at]!,
    slices: reply.count[at]!,
    start_ns: reply.start[at]!,
  }));
  const { said, whole: total_ns, paths } = info;
  return {
    nodes: shown.map((at) => node[at]!),
    description: { merged: { said, total_ns, paths, places } },
    draw: ({ selected, width, ...data }) => {
      const tree = placesOf(reply, shown);
      const icicle = new Icicle(tree, new ItemNames(reply, data));
      const height = tree.depths * LEVEL;
      const text = `total ${duration(total_ns)}, merged by path (${said}), heaviest first`;
      const left = paths - shown.length;
      return {
        above: [muted(`${text}, not in order of time.`, 3)],
        part: painted(height, (brush) => {
          icicle.paint(brush, width, height);
          shown.forEach((at, place) => {
            const box = selected.includes(node[at]!) ? icicle.box(place, width, height) : null;
            if (box) brush.frame({ ...box, width: box.width - 1, height: box.height - 1 });
          });
        }),
        below: left ? [muted(`${counted(left, "more path")} too small to be drawn`)] : [],
      };
    },
  };
}

/** Some of the places, keyed by their row in the answer. */
function placesOf(reply: MergedColumns, shown: readonly number[]): TreePlaces {
  const depth = Int32Array.from(shown, (at) => reply.depth[at]!);
  const depths = depth.length ? depth.at(-1)! + 1 : 0;
  const levels = new Int32Array(depths + 1);
  for (const level of depth) levels[level + 1]!++;
  for (let level = 0; level < depths; level++) levels[level + 1]! += levels[level]!;
  const column = (values: Float64Array) => Float64Array.from(shown, (at) => values[at]!);
  return {
    size: shown.length,
    whole: reply.info.whole,
    depths,
    levels,
    key: Int32Array.from(shown),
    depth,
    start: column(reply.start),
    total: column(reply.total),
    self: column(reply.self),
    count: Int32Array.from(shown, (at) => reply.count[at]!),
  };
}

function toldRepeats(reply: RepeatsColumns): Record<string, unknown> {
  const { info } = reply;
  return {
    operators: info.rows,
    repeats: info.repeats,
    totals_ns: Array.from(reply.totals),
    warm_up: { cut: info.warm, why: info.why },
    of_slices: info.ofSlices,
    folded_ns: info.folded,
    rows: new RepeatMatrix(reply).rows.map(({ key, node, values, p10, median, p90 }) => ({
      node,
      label: reply.names.at(key),
      ns: Array.from({ length: info.repeats }, (_, at) =>
        Number.isFinite(values[at]) ? values[at] : null,
      ),
      start_ns: reply.start[key]!,
      p10_ns: p10,
      p50_ns: median,
      p90_ns: p90,
    })),
  };
}

function repeatsChart(reply: RepeatsColumns): Omit<FigureChart, "description"> {
  const { info } = reply;
  const matrix = new RepeatMatrix(reply);
  const { rows } = matrix;
  const draw = ({ selected, width, ...data }: ChartContext): ChartParts => {
    const painter = new HeatPainter(matrix, new ItemNames(reply, data), CELL);
    painter.order = Int32Array.from(rows.keys());
    const step = painter.step(width);
    const noun = info.ofSlices ? "slices" : "repeats";
    const of = info.ofSlices ? "only names with several slices" : "in execution order";
    const caption = `A column is the one of ${step} ${noun} that is farthest from the median.`;
    const most = `Drawn: the slowest ${rows.length} of ${integer(info.rows)}, ${of}.`;
    return {
      above: [muted(info.said)],
      part: painted(painter.height, (brush, theme) => {
        painter.paint(brush, width, painter.height);
        rows.forEach(({ node }, row) => {
          const box = node >= 0 && selected.includes(node) ? painter.box(row, -1, width) : null;
          if (box) brush.fill(theme.accent, -8, box.y, 4, box.height);
        });
      }),
      below: [
        ...(step > 1 ? [muted(caption, 2)] : []),
        ...(rows.length < info.rows ? [muted(most)] : []),
      ],
    };
  };
  return { nodes: reply.node, draw };
}

function foldedChart(reply: RepeatsColumns): Omit<FigureChart, "description"> {
  const { rows } = new RepeatMatrix(reply);
  const named = rows.toSorted((a, b) => b.median - a.median).slice(0, NAMED);
  const [first, then] = reply.info.foldedSaid;
  const draw = ({ selected, width, ...data }: ChartContext): ChartParts => {
    const lanes = new Lanes(rows);
    const viewport = new Viewport(0, Math.max(1, lanes.longest(0)));
    const painter = new FoldedPainter(rows, lanes, 0, 0, new ItemNames(reply, data), viewport);
    return {
      above: [muted(first!)],
      part: painted(painter.height, (brush) => {
        painter.paint(brush, width, painter.height);
        rows.forEach(({ node }, row) => {
          const box = node >= 0 && selected.includes(node) ? painter.box(row, MEDIAN, width) : null;
          if (box) brush.frame(box);
        });
      }),
      below: [muted(then!)],
    };
  };
  return { nodes: named.map(({ node }) => node), draw };
}

function rooflineChart(
  reply: RooflineColumns,
  title: string,
  given: { flops: number | null; bytes: number | null },
): FigureChart {
  const { said = [], notDrawn = [], points: facts = [] } = reply.info;
  return {
    nodes: [],
    description: {
      roofline: {
        ...{ missing: "", title, said },
        peak_flops: given.flops,
        bandwidth: given.bytes,
        points: facts,
      },
    },
    draw: (context) => ({
      above: said.map((line) => muted(line, 3)),
      part: rooflinePart(reply, given, context),
      below: notDrawn.map((line) => muted(line, 2)),
    }),
  };
}

function rooflinePart(
  reply: RooflineColumns,
  given: { flops: number | null; bytes: number | null },
  { names, slices, selected, width }: ChartContext,
): FigurePart | null {
  const points = new OperatorPoints(reply, slices.columns.nodeNs);
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
