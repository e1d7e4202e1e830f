/** What a figure of a tensor asks for, and its facts. */
import { errorText } from "../shared/client/request.ts";
import type {
  StatisticsAnswer,
  TensorAnswer,
  TensorStatistics,
} from "../shared/client/tensor_questions.ts";
import type { FigureRequest } from "../shared/drawing/figure.ts";
import { integer } from "../shared/format.ts";
import { edgesOf } from "./distribution/spread.ts";
import type { PictureAnswers } from "./figure_picture.ts";
import { axisAlong, axisText, type Plane, planeCols, planeOf, planeRows } from "./plane.ts";
import { clipped, type Region, type TensorOptions } from "./state.ts";

export type TensorFigureRequest = FigureRequest<TensorOptions & { most_cells: number }>;

export interface TensorAnswers extends PictureAnswers {
  tensor: TensorAnswer;
  statistics: StatisticsAnswer;
  /** Null if there is nothing to draw. */
  plane: Plane | null;
  region: Region | null;
  /** Axis of channels or of a profile. */
  along: number | null;
  /** Why a requested layout does not fit. */
  misfit: string;
  /** Why the values cannot be read. */
  unread: string;
}

/** Bytes from which a sample is counted, unless all values were counted before. */
const LARGE = 2 ** 30;
/** Values of a plane above which its picture is made of a sample. */
const MOST_EXACT = 2 ** 26;
/** Most columns and rows of a picture, points of a line, channels and cells of a channel's side. */
const [WIDEST, TALLEST, POINTS] = [640, 220, 160];
const [CHANNELS, LARGEST_CHANNEL] = [64, 144];
export const UNREAD = "could not be read";

const NOTHING: StatisticsAnswer = {
  state: "exact",
  statistics: null,
  histogram: null,
  robust: null,
  linear: null,
  scale: "linear",
  crowd: 0,
  distribution: null,
  limits: null,
  done: 0,
  total: 0,
  reason: UNREAD,
  percentiles: [],
};

/** Asks for a tensor without a picture. */
export function headerOf(
  { client, options }: TensorFigureRequest,
  reading: string | null,
  layout: string | null,
  sizes: TensorOptions["data_sizes"],
): Promise<TensorAnswer> {
  const view = { entry: options.entry!, axes: null, index: null, part: null, exact: false };
  return client.ask("tensor", { ...view, reading, layout, sizes, rows: 0, cols: 0 });
}

/** Asks for the tensor as the options lay it out, the statistics and the values to draw. */
export async function answersOf(
  request: TensorFigureRequest,
  stored: TensorAnswer,
): Promise<TensorAnswers> {
  const { client, options } = request;
  const { show, data_layout, data_sizes } = options;
  const reading = stored.readings.includes(options.reading ?? "") ? options.reading : null;
  let misfit = "";
  const tensor = await headerOf(request, reading, data_layout, data_sizes).catch((error) => {
    misfit = errorText(error);
    return headerOf(request, reading, "", null);
  });
  let unread = "";
  const exact = tensor.nbytes < LARGE;
  const statistics = await client
    .ask("statistics", { entry: stored.entry, reading, exact })
    .catch((error) => {
      unread = `The values cannot be read: ${errorText(error)}`;
      return NOTHING;
    });
  const { viewShape: shape, withheld } = tensor;
  const known = { tensor, statistics, misfit, unread };
  const nothing = { ...known, plane: null, region: null, along: null };
  if (!statistics.statistics || shape.includes(0) || withheld) return nothing;
  const plane = planeOf(shape, options.axes, options.index);
  const pictured = show === "channels" ? plane.axes : [];
  const along = show === "heatmap" ? null : axisAlong(tensor, pictured, options.along);
  // Tiles and lines show their planes completely.
  const part = along === null ? options.region : null;
  const region = part && clipped(part, planeRows(plane), planeCols(plane));
  const shown = { ...known, plane, region, along };
  try {
    return { ...shown, ...(await drawnValues(request, shown)) };
  } catch (error) {
    const earlier = "The statistics are from an earlier read.";
    return {
      ...nothing,
      along,
      unread: `The values cannot be read: ${errorText(error)} ${earlier}`,
    };
  }
}

/** Values to draw; a plane if there is no axis for channels or a profile. */
async function drawnValues(
  { client, options }: TensorFigureRequest,
  { tensor, along: axis, region, ...shown }: TensorAnswers,
): Promise<PictureAnswers> {
  const plane = shown.plane!;
  const { entry, reading, layout, sizes } = tensor;
  const view = { entry, reading, layout, sizes, axes: plane.axes, index: plane.index };
  const { show, most_cells: most } = options;
  if (axis !== null && show === "line plot") {
    return { profile: await client.ask("profile", { ...view, axis, points: POINTS }) };
  }
  const [rows, cols] = region ? region.slice(2) : [planeRows(plane), planeCols(plane)];
  if (axis !== null && show === "channels") {
    const count = Math.min(tensor.viewShape[axis]!, CHANNELS);
    const square = Math.floor(Math.sqrt(Math.floor(most / count)));
    const side = Math.max(1, Math.min(LARGEST_CHANNEL, square));
    const size = { rows: Math.min(side, rows!), cols: Math.min(side, cols!) };
    return { channels: await client.ask("channels", { ...view, axis, first: 0, count, ...size }) };
  }
  const { tile, unread } = await client.ask("tensor", {
    ...view,
    part: region,
    ...cellsOf(rows!, cols!, most),
    exact: rows! * cols! <= MOST_EXACT,
  });
  if (unread !== undefined) throw new Error(unread);
  return { tile };
}

/** Most rows and columns of cells, limited by room and bytes. */
function cellsOf(rows: number, cols: number, most: number): { rows: number; cols: number } {
  if (rows === 1 && cols > 1) return { rows, cols: Math.min(POINTS, cols) };
  const [tall, wide] = [Math.min(rows, TALLEST), Math.min(cols, WIDEST)];
  const over = Math.max(1, Math.sqrt((tall * wide) / most));
  const limited = (size: number) => Math.max(1, Math.floor(size / over));
  return { rows: limited(tall), cols: limited(wide) };
}

/** `C (16)`. */
export function sizedAxis({ axisNames, viewShape }: TensorAnswer, axis: number | null): string {
  return axis === null ? "" : `${axisText(axisNames, axis)} (${integer(viewShape[axis]!)})`;
}

/** Sentence on which axes are shown, and the indices of the others. */
export function captionOf(
  { tensor, plane, region, along }: TensorAnswers,
  show: TensorOptions["show"],
): string {
  if (!plane) return "";
  const [down, across] = plane.axes;
  const sized = (axis: number) => sizedAxis(tensor, axis);
  if (show === "line plot" && along !== null) return `along ${sized(along)}, over all other axes`;
  if (across === null) return "a single value";
  let shown = `columns: ${sized(across)}`;
  if (down !== null) shown = `rows: ${sized(down)}, ${shown}`;
  if (region) {
    const [row, col, rows, cols] = region;
    const range = (first: number, count: number) =>
      `${integer(first)} to ${integer(first + count - 1)}`;
    shown += `; zoomed to rows ${range(row, rows)}, columns ${range(col, cols)}`;
  }
  const tiled = show === "channels" ? along : null;
  const head = tiled === null ? "no axis is left for channels" : `channels along ${sized(tiled)}`;
  const fixed = plane.shape.flatMap((size, axis) =>
    size > 1 && ![down, across, tiled].includes(axis)
      ? [`${axisText(tensor.axisNames, axis)} at ${plane.index[axis]} of ${integer(size)}`]
      : [],
  );
  return [...(show === "channels" ? [head] : []), shown, ...fixed].join("; ");
}

/** Facts of the figure, for scripts. */
export function factsOf(
  { title, options }: TensorFigureRequest,
  { tensor, statistics: known, plane, region, along, unread }: TensorAnswers,
): Record<string, unknown> {
  const { statistics, histogram, percentiles } = known;
  const { minimum, maximum, mean, std, ...rest } = statistics ?? ({} as Partial<TensorStatistics>);
  const { argmin, argmax, firstNan, firstPosInf, firstNegInf, ...more } = rest;
  const { specials: _specials, atEnds: _atEnds, verdict: _verdict, ...counts } = more;
  const places = { argmin, argmax, firstNan, firstPosInf, firstNegInf };
  const texts = Object.entries({ minimum, maximum, mean, std }).map(([name, number]) => [
    name,
    number?.text,
  ]);
  return {
    view: "tensor",
    title,
    entry: tensor.entry,
    name: tensor.name,
    dtype: tensor.dtype,
    shape: tensor.shape,
    nbytes: tensor.nbytes,
    trust: tensor.trust,
    captured: tensor.captured,
    notes: tensor.notes,
    reading: tensor.reading,
    layout: tensor.layout,
    sizes: tensor.sizes,
    axis_names: tensor.axisNames,
    view_shape: tensor.viewShape,
    axes: plane?.axes ?? null,
    index: plane?.index ?? null,
    show: options.show,
    along,
    cells: options.cells,
    region,
    color_scale: options.color_scale,
    color_range: options.color_range,
    unread,
    exact: known.state === "exact",
    counts: statistics && counts,
    statistics: statistics && { ...Object.fromEntries(texts), ...places },
    percentiles: percentiles.map(({ percent, low, high }) => ({
      percent,
      low: low.text,
      high: high.text,
    })),
    histogram: histogram && { ...histogram, edges: edgesOf(histogram) },
  };
}
