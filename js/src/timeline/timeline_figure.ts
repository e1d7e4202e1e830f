import type { TableAnswer } from "../shared/client/answers.ts";
import { timelineColumns, windowColumns } from "../shared/client/timeline_client.ts";
import { ChartBrush } from "../shared/drawing/brush.ts";
import type { Pen } from "../shared/drawing/canvas.ts";
import {
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  type HoverText,
  heading,
  heightOf,
  lacking,
  MARGIN,
  type Note,
  paintParts,
  paragraph,
  pencil,
  space,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { figureTheme, type Theme } from "../shared/drawing/theme.ts";
import { counted, duration, integer } from "../shared/format.ts";
import { append } from "../shared/many.ts";
import { Change, changeText } from "./data/change.ts";
import { Names, titleText } from "./data/names.ts";
import { Ranking } from "./data/ranking.ts";
import { Slices } from "./data/slices.ts";
import type { TableBy, TimelineOptions } from "./data/state.ts";
import { askChart, muted } from "./figure_charts.ts";
import { changeFacts, changesTable, rowLooks, table } from "./figure_table.ts";
import { Fills } from "./tracks/fills.ts";
import { RecordedStrips } from "./tracks/recorded_strips.ts";
import { AXIS, OVERVIEW, TimelineScene, TOP } from "./tracks/scene.ts";
import { TracksPainter } from "./tracks/tracks_painter.ts";

/** Limits of tracks, of rows of a track, and of columns per px. */
const MOST = { tracks: 8, rows: 8 };
const RATIO = 0.5;
/** Number of the longest slices with a tooltip. */
const TITLED = 160;
/** Rows of the table, differences, and ranked rows that colors and names come from. */
const LISTED = 10;
const SUMMED = 14;
const CHANGES = { longest: 500 };
const CHANGES_LISTED = 16;
const LONGEST = 1000;
/** Bins of a row, about one per pixel column. */
const FINE_BINS = 512;
/** Slices of a time range whose nodes may be named. */
const MOST_NAMED = 8000;

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
    const shown = range ?? this.scene.opening;
    if (shown) this.scene.viewport.show(...shown);
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
    return new TracksPainter(this.scene, new ChartBrush(pen), fills, lines);
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
    const brush = new ChartBrush(pen);
    brush.start(theme);
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

interface TimelineFigureOptions extends TimelineOptions {
  selected: number[];
}

export type TimelineFigureRequest = FigureRequest<TimelineFigureOptions>;

/** What a figure says around its chart and its table. */
interface Told {
  title: string;
  detail: string;
  name: string;
  words: string;
  notes: Note[];
  description: Record<string, unknown>;
}

export async function timelineFigure(request: TimelineFigureRequest): Promise<FigurePanel> {
  const { client, title, options, width, text } = request;
  const head = await client.ask("timeline", { longest: LONGEST });
  if (!head) {
    const { missing } = await client.ask("summary");
    return lacking(request, "No times", missing.timeline ?? "");
  }
  const { info } = head;
  const slices = new Slices(timelineColumns(head, info));
  const columns = options.table_by === "change" ? await client.ask("change", CHANGES) : null;
  const change = columns && new Change(columns);
  const ask = (by: TableBy, most: number) =>
    client.ask("table", { by: by as "node", most, inOrder: options.sort === "order" });
  const isSummed = !["node", "change"].includes(options.table_by) && options.show !== "chart";
  const [operators, summed, chart, seen] = await Promise.all([
    ask("node", LISTED),
    isSummed ? ask(options.table_by, SUMMED) : null,
    options.show === "table" ? null : askChart(client, title, options),
    inWindow(request, slices),
  ]);
  const rows = [...operators!.rows, ...(summed?.rows ?? [])].map(({ node }) => node);
  const first = [head.lodNode, head.rankNode, head.node ?? [], rows, seen, chart?.nodes ?? []];
  const named = new Set(first.flatMap((nodes) => [...nodes]));
  named.delete(-1);
  const graph = await client.ask("graph", { named: [...named] });
  const names = new Names(slices, graph, change);
  names.colors.chosen = options.slice_color;
  if (change) change.colored = names.colors.by === "change";
  new Ranking(slices, names).color(names.colors);

  const told = change
    ? toldChange(request, change, slices)
    : toldTimes(request, operators!, slices, names);
  const room = width - 2 * MARGIN;
  const paragraphs = (notes: readonly Note[] = []) =>
    notes.map((note) => paragraph(note, room, text, note.most));
  const parts: FigurePart[] = [
    heading(told.title, told.detail, room, text),
    ...paragraphs(told.notes),
  ];
  let titles: HoverText[] = [];
  const many = info.slices + info.unusable > 0;
  if (many && options.show !== "table" && options.chart === "time") {
    const drawn = new TimeChart(slices, names, options.time_range, options.selected, width, text);
    const { all, start, end, first, last } = drawn.scene.viewport;
    if (!all) {
      const shown = `Shown: ${duration(start)} to ${duration(end)} of ${duration(first)} to ${duration(last)}.`;
      append(parts, paragraphs([muted(shown, 2)]));
    }
    const top = heightOf(parts) - MARGIN;
    titles = drawn.hover.map((hover) => ({ ...hover, y: hover.y + top }));
    parts.push(drawn.part);
    if (change?.colored) append(parts, paragraphs([muted(colorsOf(change), 2)]));
    const more = `${counted(drawn.left, "more track")} not drawn`;
    if (drawn.left) append(parts, paragraphs([muted(more, 1)]));
  } else if (many && chart) {
    const { part, above, below } = chart.draw({
      names,
      slices,
      graph,
      selected: options.selected,
      width: room,
    });
    append(parts, [...paragraphs(above), ...(part ? [part] : []), ...paragraphs(below)]);
    Object.assign(told.description, chart.description);
  }
  if (change) {
    if (options.show !== "chart") {
      parts.push(changesTable(change, CHANGES_LISTED, options.selected, width, text));
      const left = change.columns.info.rows - Math.min(change.length, CHANGES_LISTED);
      if (left > 0) append(parts, paragraphs([muted(`… and ${integer(left)} more`)]));
    }
  } else {
    const listed = isSummed ? summed! : operators!;
    if (isSummed || (listed.rows.length && (options.show !== "chart" || !many))) {
      append(parts, [space(4), ...paragraphs([muted(listed.said, 5)])]);
      const looks = rowLooks(slices, names, listed.heads[0] === "#");
      if (listed.rows.length) parts.push(table(listed, looks, options.selected, width, text));
      append(parts, paragraphs(listed.below.map((line) => muted(line, 6))));
    }
    if (summed?.facts.by) {
      told.description.table = { ...summed.facts, rows: summed.rows.map(({ facts }) => facts) };
    }
  }
  return {
    height: heightOf(parts),
    title: told.name,
    words: told.words,
    text: "",
    description: told.description,
    titles,
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

/** Takes the slices of the time range, or of all time where the first bins are coarse; gives the nodes of the longest. */
async function inWindow(
  { client, options }: TimelineFigureRequest,
  slices: Slices,
): Promise<number[]> {
  const { info } = slices.columns;
  const range = options.time_range ?? (info.bins < FINE_BINS ? [info.first, info.last] : null);
  if (!info.bins || !range || options.chart !== "time" || options.show === "table") return [];
  const [from, to] = range as [number, number];
  const window = await client.ask("window", { from, to });
  if (!("rowFirst" in window)) return [];
  const columns = windowColumns(slices.columns, window);
  slices.fillWindow(columns, from, to);
  const { node, duration } = columns;
  if (!node || !options.time_range) return [];
  const longest = Array.from(node.keys()).sort((a, b) => duration[b]! - duration[a]! || a - b);
  return longest.slice(0, MOST_NAMED).map((at) => node[at]!);
}

function toldTimes(
  { title, options }: TimelineFigureRequest,
  { caption, detail, rows, facts }: TableAnswer,
  slices: Slices,
  names: Names,
): Told {
  const { info, tracks } = slices.columns;
  const looks = rowLooks(slices, names, true);
  const { show, chart, table_by, sort, time_range, selected } = options;
  return {
    title,
    detail,
    name: `Timeline of ${title}: ${detail}`,
    words: `${info.words.said}. ${caption}`,
    notes: [{ text: info.words.said, color: info.synthetic ? "warning" : "muted", most: 4 }],
    description: {
      title,
      synthetic: info.synthetic,
      clock: info.clock,
      said: info.words.said,
      words: info.words,
      nested: info.nested,
      ...{ show, chart, table_by, sort, time_range, selected },
      ...facts,
      tracks: Array.from(tracks.codes, (_, track) => tracks.at(track)),
      slices: info.slices + info.unusable,
      top: rows.map((row) => ({ ...row.facts, label: looks.text(row) })),
    },
  };
}

function colorsOf({ most }: Change): string {
  const ends = [-most, most].map(changeText).join(" to ");
  return `color: B − A, ${ends}; gray: noise or unknown`;
}

const LAID = "synthetic timeline: mean node times back to back; total is not model latency";

function toldChange({ title }: TimelineFigureRequest, change: Change, { columns }: Slices): Told {
  const { sentence, said, counts } = change.columns.info;
  const { info, tracks } = columns;
  return {
    title: "Times",
    detail: title,
    name: `Times, ${title}`,
    words: sentence,
    notes: [
      { text: sentence, most: 4 },
      ...said.map((line) => muted(line)),
      ...(info.synthetic ? [{ text: LAID, color: "warning", most: 2 }] : []),
    ],
    description: {
      title,
      sentence,
      said,
      tracks: Array.from(tracks.codes, (_, track) => tracks.at(track)),
      counts,
      rows: change.rows("change").map((row) => changeFacts(change, row)),
    },
  };
}
