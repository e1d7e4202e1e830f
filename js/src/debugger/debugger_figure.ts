import { graphPanel, sizeOf } from "../graph/figure/graph_figure.ts";
import type { GraphFigureOptions } from "../graph/figure/sheet.ts";
import {
  colorOf,
  type Drawing,
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  heading,
  heightOf,
  LINE,
  MARGIN,
  missingPanel,
  paintParts,
  panelDrawing,
  SMALL,
  smallWriter,
} from "../shared/drawing/figure.ts";
import { tensorPanel } from "../tensor/tensor_figure.ts";
import { timelinePanel } from "../timeline/timeline_figure.ts";

interface EmbeddedView {
  /** Maker of its panel. */
  view: "graph" | "tensor" | "timeline" | "missing";
  data: Record<string, unknown>;
  options: unknown;
}

interface DebuggerFigureData {
  title: string;
  views: { graph: EmbeddedView; tensor: EmbeddedView; timeline: EmbeddedView };
  findings: {
    title: string;
    detail: string;
    rows: { severity: string; text: string }[];
    text: string;
  } | null;
  shown: ("findings" | "graph" | "tensor" | "timeline")[];
  /** Bytes of the complete document; the graph takes what the other views leave. */
  most: number;
}

type DebuggerFigureRequest = FigureRequest<DebuggerFigureData>;

const MAKERS = {
  graph: graphPanel,
  tensor: tensorPanel,
  timeline: timelinePanel,
  missing: missingPanel,
};

export async function debuggerFigure(request: DebuggerFigureRequest): Promise<Drawing> {
  const { data } = request;
  const { graph, tensor, timeline } = data.views;
  const others = {
    ...(data.findings && { findings: findingsPanel(request, data.findings) }),
    tensor: await panelOf(request, tensor),
    timeline: await panelOf(request, timeline),
  };
  const size = (panels: FigurePanel[]) =>
    sizeOf(panelDrawing(request, stacked(request, panels)).svg);
  const taken = size(Object.values(others)) - size([]);
  const panels: Record<string, FigurePanel> = {
    ...others,
    graph: await panelOf(request, lessened(graph, data.most - taken)),
  };
  const shown = data.shown.map((name) => panels[name]!);
  const description = Object.fromEntries(
    Object.entries(panels).map(([name, panel]) => [name, panel.description]),
  );
  return panelDrawing(request, { ...stacked(request, shown), description });
}

function stacked(
  { data, width }: DebuggerFigureRequest,
  panels: readonly FigurePanel[],
): FigurePanel {
  return {
    height: panels.reduce((sum, { height }) => sum + height, 0),
    title: `Run ${data.title}`,
    words: panels.map(({ words }) => words).join(". "),
    text: panels.map(({ text }) => text).join("\n\n"),
    description: {},
    paint(pen, theme) {
      let top = 0;
      for (const panel of panels) {
        pen.fillStyle = theme.line;
        if (top) pen.fillRect(1, top - 0.5, width - 2, 1);
        pen.save();
        pen.translate(0, top);
        panel.paint(pen, theme);
        pen.restore();
        top += panel.height;
      }
    },
  };
}

async function panelOf(
  request: DebuggerFigureRequest,
  { view, data, options }: EmbeddedView,
): Promise<FigurePanel> {
  const make = MAKERS[view] as (request: never) => FigurePanel | Promise<FigurePanel>;
  const panel = await make({ ...request, title: request.data.title, view, data, options } as never);
  return { ...panel, text: panel.text || (data.text as string) };
}

function lessened(graph: EmbeddedView, bytes: number): EmbeddedView {
  const { most, ...options } = graph.options as GraphFigureOptions;
  return {
    ...graph,
    options: { ...options, most: { ...most, bytes: Math.min(most.bytes, bytes) } },
  };
}

function findingsPanel(
  { data, width, text }: DebuggerFigureRequest,
  { title, detail, rows, text: summary }: NonNullable<DebuggerFigureData["findings"]>,
): FigurePanel {
  const indent = text.width("Warning  ", SMALL, true);
  const room = width - 2 * MARGIN;
  const lines = rows.map((row): FigurePart => {
    const wrapped = text.wrap(row.text, room - indent, SMALL, 4);
    return {
      height: wrapped.length * LINE,
      paint(pen, theme, top) {
        const put = smallWriter(pen, theme);
        for (const [at, line] of wrapped.entries()) {
          put(line, indent, top + (at + 0.5) * LINE, theme.text);
        }
        pen.font = `600 ${SMALL}px ${theme.font}`;
        const color =
          colorOf(theme, row.severity) === theme.text ? theme.muted : colorOf(theme, row.severity);
        put(row.severity.charAt(0).toUpperCase() + row.severity.slice(1), 0, top + LINE / 2, color);
      },
    };
  });
  const parts = [heading("Findings", detail, room, text), ...lines];
  return {
    height: heightOf(parts),
    title,
    words: rows.map((row) => row.text).join(". "),
    text: summary,
    description: { view: "findings", title: data.title },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}
