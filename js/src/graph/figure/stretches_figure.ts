import {
  chips,
  type Drawing,
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  heading,
  heightOf,
  MARGIN,
  type Note,
  paintParts,
  panelDrawing,
  paragraph,
  SMALL,
  space,
} from "../../shared/drawing/figure.ts";
import type { SvgContext } from "../../shared/drawing/svg_context.ts";
import { heatFill, inkOn, kindFill, type Theme } from "../../shared/drawing/theme.ts";
import { counted, integer, percent } from "../../shared/format.ts";
import { largest } from "../../shared/many.ts";

/** Consecutive operators with their sums, as in `figures/request.py`. */
interface Stretch {
  title: string;
  kind: string;
  nodes: number;
  first: number;
  last: number;
  time_ns: number | null;
  time_text: string;
  selected: number;
  hits: number;
}

interface StretchesData {
  title: string;
  totals: string;
  text: string;
  notes: Note[];
  stretches: Stretch[];
  edges: [source: number, target: number, count: number][];
  legend: { kind: string; nodes: number; time_ns: number }[];
  total_ns: number | null;
  by_time: boolean;
}

type StretchesFigureRequest = FigureRequest<StretchesData>;

const PITCH = 26;
const BOX = 20;
const GUTTER = 72;
const APART = 8;

export function stretchesFigure(request: StretchesFigureRequest): Drawing {
  return panelDrawing(request, stretchesPanel(request));
}

export function stretchesPanel(request: StretchesFigureRequest): FigurePanel {
  const { data, width, text } = request;
  const room = width - 2 * MARGIN;
  const parts = [
    heading(data.title, data.totals, room, text),
    ...data.notes.map((note) => paragraph(note, room, text, note.most)),
    chips(
      data.legend.map((row) => kindChip(row, data.total_ns)),
      room,
      text,
    ),
    space(8),
    boxes(request),
  ];
  const { notes, text: words, by_time, ...facts } = data;
  const title = `Graph of ${data.title}: ${data.totals}`;
  return {
    height: heightOf(parts),
    title,
    words: title,
    text: words,
    description: { ...facts, condensed: { groups: data.stretches } },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

function kindChip({ kind, nodes, time_ns }: StretchesData["legend"][number], total: number | null) {
  const share = time_ns > 0 && total ? percent(time_ns / total) : integer(nodes);
  return { name: `${kind} ${share}`, fill: (theme: Theme) => kindFill(theme, kind) };
}

function boxes({ data, width, text }: StretchesFigureRequest): FigurePart {
  const { stretches } = data;
  const times = stretches.map(({ time_ns }) => time_ns ?? 0);
  const slowest = largest(times, 0);
  const left = MARGIN + GUTTER;
  const room = width - left - MARGIN - 2 * APART;
  return {
    height: stretches.length * PITCH,
    paint(pen, theme, top) {
      for (const [source, target] of data.edges) edge(pen, theme, top, left, source, target);
      pen.font = `${SMALL}px ${theme.font}`;
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      for (const [at, row] of stretches.entries()) {
        const y = top + at * PITCH;
        const isHeat = data.by_time && slowest > 0 && row.time_ns !== null;
        const fill = isHeat ? heatFill(theme, times[at]! / slowest) : kindFill(theme, row.kind);
        pen.fillStyle = fill;
        pen.fillRect(left, y, width - left - MARGIN, BOX);
        if (row.selected || row.hits) {
          pen.strokeStyle = theme.accent;
          pen.lineWidth = 2;
          pen.strokeRect(left, y, width - left - MARGIN, BOX);
        }
        const line = text.fit(stretchText(row), room, SMALL);
        const taken = text.width(line, SMALL);
        pen.fillStyle = inkOn(fill);
        pen.fillText(line, width - MARGIN - APART - taken, y + BOX / 2);
        const rest = room - taken - APART;
        if (rest > PITCH) pen.fillText(text.fit(row.title, rest, SMALL), left + APART, y + BOX / 2);
      }
    },
  };
}

/** `41,667 nodes · #1 … #41667 · 24.3 ms · 4.2 % · 3 selected`. */
function stretchText({ nodes, first, last, time_text, selected, hits }: Stretch): string {
  const facts = [`${counted(nodes, "node")} · #${first} … #${last}`, time_text];
  if (selected) facts.push(`${integer(selected)} selected`);
  if (hits) facts.push(`${integer(hits)} found`);
  return facts.join(" · ");
}

function edge(
  pen: SvgContext,
  theme: Theme,
  top: number,
  left: number,
  source: number,
  target: number,
): void {
  const [from, to] = [source, target].map((at) => top + at * PITCH + BOX / 2) as [number, number];
  const out = left - Math.min(GUTTER - 6, 10 + 3 * Math.abs(target - source));
  pen.strokeStyle = theme.muted;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(left, from + 3);
  pen.lineTo(out, from + 3);
  pen.lineTo(out, to - 3);
  pen.lineTo(left, to - 3);
  pen.moveTo(left - 4, to - 6);
  pen.lineTo(left, to - 3);
  pen.lineTo(left - 4, to);
  pen.stroke();
}
