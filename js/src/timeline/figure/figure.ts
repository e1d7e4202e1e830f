import type { GraphColumns, TimelineInfo } from "../../shared/client/run_client.ts";
import type { ChangeColumns, RooflineColumns } from "../../shared/client/run_parts.ts";
import { timelineColumns, windowColumns } from "../../shared/client/timeline_client.ts";
import type { Columns } from "../../shared/client/wire.ts";
import {
  type Drawing,
  type FigurePanel,
  type FigureRequest,
  type Hover,
  panelDrawing,
} from "../../shared/drawing/figure.ts";
import {
  heading,
  heightOf,
  MARGIN,
  type Note,
  type Part,
  paintParts,
  paragraph,
  space,
} from "../../shared/drawing/figure_parts.ts";
import { counted, duration } from "../../shared/format.ts";
import { append } from "../../shared/many.ts";
import { Change } from "../change/change.ts";
import { Names } from "../data/names.ts";
import { Ranking } from "../data/ranking.ts";
import { Slices } from "../data/slices.ts";
import type { TimelineOptions } from "../state.ts";
import { type ChangesData, changesTable } from "./changes_table.ts";
import { type ChartData, otherChart } from "./charts.ts";
import { rowLooks, type TableData, table } from "./table.ts";
import { TimeChart } from "./time_chart.ts";

interface Data {
  title: string;
  detail: string;
  /** Of the document. */
  name: string;
  words: string;
  text: string;
  notes: Note[];
  selected: number[];
  chart: ChartData | null;
  table: TableData | null;
  /** Of two runs compared. */
  changes?: ChangesData | null;
  /** Operators that Python tells of, to be called as here. */
  top?: { node: number; name: string }[];
}

interface Answers {
  timeline: Columns<"timeline"> & { info: TimelineInfo };
  graph: GraphColumns | null;
  change?: ChangeColumns | null;
  roofline?: RooflineColumns;
  /** Slices of `time_range`, where it has not too many. */
  window?: Columns<"window"> | Columns<"bins">;
}

type Request = FigureRequest<Data, TimelineOptions, Answers>;

/** The timeline as a static figure. */
export function timelineFigure(request: Request): Drawing {
  return panelDrawing(request, timelinePanel(request));
}

export function timelinePanel(request: Request): FigurePanel {
  const { data, answers, options, width, text } = request;
  const room = width - 2 * MARGIN;
  const { slices, names } = told(answers, options);
  const codes = new Map(slices.names.unique.map((name, code) => [name, code]));
  const codeOf = (name: string) => codes.get(name) ?? -1;
  const said = (notes: readonly Note[] = []) =>
    notes.map((each) => paragraph(each, room, text, each.most));
  const parts: Part[] = [heading(data.title, data.detail, room, text), ...said(data.notes)];
  let titles: Hover[] = [];
  const { chart } = data;
  if (chart?.kind === "time") {
    const drawn = new TimeChart(slices, names, options.time_range, data.selected, width, text);
    const { all, start, end, first, last } = drawn.scene.viewport;
    if (!all) {
      const shown = `Shown: ${duration(start)} to ${duration(end)} of ${duration(first)} to ${duration(last)}.`;
      append(parts, said([{ text: shown, color: "muted", most: 2 }]));
    }
    const top = heightOf(parts) - MARGIN;
    titles = drawn.hover.map((each) => ({ ...each, y: each.y + top }));
    parts.push(drawn.part);
    const more = `${counted(drawn.left, "more track")} not drawn`;
    if (drawn.left) append(parts, said([{ text: more, color: "muted", most: 1 }]));
  } else if (chart) {
    const { nodeNs } = slices.columns;
    const { selected } = data;
    const roofline = answers.roofline ?? null;
    const context = { names, codeOf, selected, nodeNs, roofline, width: room };
    const [part, notes] = otherChart(chart, context) ?? [];
    append(parts, [
      ...said(chart.notes),
      ...(part ? [part] : []),
      ...said(notes),
      ...said(chart.below),
    ]);
  }
  if (data.table) {
    const numbered = data.table.heads[0] === "#";
    const looks = rowLooks(slices, names, codeOf, numbered);
    append(parts, [space(4), ...said(data.table.notes)]);
    if (data.table.rows.length) parts.push(table(data.table, looks, data.selected, width, text));
    append(parts, said(data.table.below));
  }
  if (data.changes) {
    parts.push(changesTable(data.changes.rows, data.selected, width, text));
    append(parts, said(data.changes.below));
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

/** What the answers tell, as the live view makes it of them. */
function told(
  answers: Answers,
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
