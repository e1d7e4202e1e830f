import type { ChangeColumns, GraphColumns, RooflineColumns } from "../shared/client/answers.ts";
import { timelineColumns, windowColumns } from "../shared/client/timeline_client.ts";
import type { TimelineInfo } from "../shared/client/timeline_columns.ts";
import type { Columns } from "../shared/client/wire.ts";
import { type Pen, TextMeasure } from "../shared/drawing/canvas.ts";
import {
  type Drawing,
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  type HoverText,
  heading,
  heightOf,
  MARGIN,
  type Note,
  paintParts,
  panelDrawing,
  paragraph,
  pencil,
  space,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { figureTheme, type Theme } from "../shared/drawing/theme.ts";
import { counted, duration } from "../shared/format.ts";
import { append } from "../shared/many.ts";
import { Brush } from "./charts/stage.ts";
import { Change } from "./data/change.ts";
import { Names, titleText } from "./data/names.ts";
import { Ranking } from "./data/ranking.ts";
import { Slices } from "./data/slices.ts";
import type { TimelineOptions } from "./data/state.ts";
import { type ChartData, otherChart } from "./figure_charts.ts";
import { type ChangesData, changesTable, rowLooks, type TableData, table } from "./figure_table.ts";
import { Fills } from "./tracks/fills.ts";
import { RecordedStrips } from "./tracks/recorded_strips.ts";
import { AXIS, OVERVIEW, TimelineScene, TOP } from "./tracks/scene.ts";
import { TracksPainter } from "./tracks/tracks_painter.ts";

/** Limits of tracks, of rows of a track, and of columns per px. */
const MOST = { tracks: 8, rows: 8 };
const RATIO = 0.5;
/** Number of the longest slices with a tooltip. */
const TITLED = 160;

class TimeChart {
  readonly part: FigurePart;
  /** Relative to the top of the part. */
  readonly hover: HoverText[];
  /** Number of omitted tracks. */
  readonly left: number;
  readonly scene: TimelineScene;
  readonly #names: Names;
  readonly #selected: readonly number[];

  constructor(
    slices: Slices,
    names: Names,
    range: readonly [number, number] | null,
    selected: readonly number[],
    width: number,
    text: TextWidths,
  ) {
    this.#names = names;
    this.#selected = selected;
    this.scene = new TimelineScene(slices, names, MOST);
    if (range) this.scene.viewport.show(...range);
    const { layout } = this.scene;
    this.scene.resize(width - 2 * MARGIN, TOP + layout.height);
    this.left = Math.max(0, slices.tracks.length - MOST.tracks);
    this.hover = this.#hover(text);
    this.part = {
      height: AXIS + layout.height + 4,
      paint: (pen, theme, top) => {
        pen.save();
        pen.translate(MARGIN, top - OVERVIEW);
        this.#painter(pen, theme).paint(theme, RATIO);
        this.#marks(pen, theme);
        pen.restore();
      },
    };
  }

  #painter(pen: Pen, theme: Theme): TracksPainter {
    const { names, slices } = this.scene;
    const fills = new Fills(slices, names);
    fills.retheme(theme);
    const bins = (from: number, to: number, step: number) => this.scene.bins.bins(from, to, step);
    const lines = new RecordedStrips({ slices, fills, bins }, this.scene, theme);
    return new TracksPainter(this.scene, pen, new TextMeasure(pen), fills, lines);
  }

  #hover(text: TextWidths): HoverText[] {
    const theme = figureTheme(false, text.font);
    const painter = this.#painter(pencil(text), theme);
    painter.paint(theme, RATIO, true);
    const { slices } = this.scene;
    const marks = painter.drawn.marks.filter(
      ({ kind, slice }) => kind === "slice" && Number.isFinite(slices.durationOf(slice)),
    );
    marks.sort((a, b) => b.width - a.width);
    return marks.slice(0, TITLED).map(({ slice, node, x, y, width, height }) => {
      const title = titleText(this.#names.titleOf(node, this.#names.ofSlice(slice)));
      const tooltip = `${title}: ${slices.timeText(slices.durationOf(slice))}`;
      return { x: x + MARGIN, y: y - OVERVIEW, width, height, text: tooltip };
    });
  }

  #marks(pen: Pen, theme: Theme): void {
    const { slices } = this.scene;
    const brush = new Brush(pen);
    brush.theme = theme;
    for (const node of this.#selected) {
      for (const slice of slices.of(node)) {
        const row = slices.rows[slices.rowOf(slice)]!;
        const { y, height } = this.scene.rowBox(row);
        const [left, right] = [slices.startOf(slice), slices.endOf(slice)].map((ns) =>
          Math.min(this.scene.width, Math.max(0, this.scene.x(ns))),
        );
        if (height > 0 && right! > left!) {
          brush.frame({ x: left!, y, width: right! - left!, height });
        }
      }
    }
  }
}

interface TimelineFigureData {
  title: string;
  detail: string;
  name: string;
  words: string;
  text: string;
  notes: Note[];
  selected: number[];
  chart: ChartData | null;
  table: TableData | null;
  changes?: ChangesData | null;
  /** The slowest operators, to be given their titles. */
  top?: { node: number; name: string }[];
}

interface TimelineFigureAnswers {
  timeline: Columns<"timeline"> & { info: TimelineInfo };
  graph: GraphColumns | null;
  change?: ChangeColumns | null;
  roofline?: RooflineColumns;
  /** Slices of `time_range`, if there are few enough. */
  window?: Columns<"window"> | Columns<"bins">;
}

type TimelineFigureRequest = FigureRequest<
  TimelineFigureData,
  TimelineOptions,
  TimelineFigureAnswers
>;

export function timelineFigure(request: TimelineFigureRequest): Drawing {
  return panelDrawing(request, timelinePanel(request));
}

export function timelinePanel(request: TimelineFigureRequest): FigurePanel {
  const { data, answers, options, width, text } = request;
  const room = width - 2 * MARGIN;
  const { slices, names } = timelineData(answers, options);
  const codes = new Map(slices.names.unique.map((name, code) => [name, code]));
  const codeOf = (name: string) => codes.get(name) ?? -1;
  const paragraphs = (notes: readonly Note[] = []) =>
    notes.map((note) => paragraph(note, room, text, note.most));
  const parts: FigurePart[] = [
    heading(data.title, data.detail, room, text),
    ...paragraphs(data.notes),
  ];
  let titles: HoverText[] = [];
  const { chart } = data;
  if (chart?.kind === "time") {
    const drawn = new TimeChart(slices, names, options.time_range, data.selected, width, text);
    const { all, start, end, first, last } = drawn.scene.viewport;
    if (!all) {
      const shown = `Shown: ${duration(start)} to ${duration(end)} of ${duration(first)} to ${duration(last)}.`;
      append(parts, paragraphs([{ text: shown, color: "muted", most: 2 }]));
    }
    const top = heightOf(parts) - MARGIN;
    titles = drawn.hover.map((hover) => ({ ...hover, y: hover.y + top }));
    parts.push(drawn.part);
    const more = `${counted(drawn.left, "more track")} not drawn`;
    if (drawn.left) append(parts, paragraphs([{ text: more, color: "muted", most: 1 }]));
  } else if (chart) {
    const { nodeNs } = slices.columns;
    const { selected } = data;
    const roofline = answers.roofline ?? null;
    const context = { names, codeOf, selected, nodeNs, roofline, width: room };
    const [part, notes] = otherChart(chart, context) ?? [];
    append(parts, [
      ...paragraphs(chart.notes),
      ...(part ? [part] : []),
      ...paragraphs(notes),
      ...paragraphs(chart.below),
    ]);
  }
  if (data.table) {
    const numbered = data.table.heads[0] === "#";
    const looks = rowLooks(slices, names, codeOf, numbered);
    append(parts, [space(4), ...paragraphs(data.table.notes)]);
    if (data.table.rows.length) parts.push(table(data.table, looks, data.selected, width, text));
    append(parts, paragraphs(data.table.below));
  }
  if (data.changes) {
    parts.push(changesTable(data.changes.rows, data.selected, width, text));
    append(parts, paragraphs(data.changes.below));
  }
  const operators = rowLooks(slices, names, codeOf, true);
  const top = data.top?.map(({ node, name }) => ({ label: operators.text({ node, label: name }) }));
  return {
    height: heightOf(parts),
    title: data.name,
    words: data.words,
    text: data.text,
    description: top ? { top } : {},
    titles,
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

/** Timeline data from the answers, as the live view makes it. */
function timelineData(
  answers: TimelineFigureAnswers,
  { slice_color, time_range }: TimelineOptions,
): { slices: Slices; names: Names } {
  const { info, ...columns } = answers.timeline;
  const head = timelineColumns(columns, info);
  const slices = new Slices(head);
  const { window } = answers;
  if (window && "rowFirst" in window)
    slices.fillWindow(windowColumns(head, window), ...(time_range ?? [slices.start, slices.end]));
  const change = answers.change ? new Change(answers.change) : null;
  const names = new Names(slices, answers.graph, change);
  names.colors.chosen = slice_color;
  const ranking = new Ranking(slices, names);
  ranking.color(names.colors);
  return { slices, names };
}
