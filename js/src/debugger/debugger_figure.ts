import { graphPanel, sizeOf } from "../graph/figure/graph_figure.ts";
import type { GraphFigureOptions } from "../graph/figure/sheet.ts";
import {
  colorOf,
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  heading,
  heightOf,
  LINE,
  MARGIN,
  paintParts,
  panelDrawing,
  SMALL,
  smallWriter,
} from "../shared/drawing/figure.ts";
import type { TensorFigureRequest } from "../tensor/figure_answers.ts";
import { tensorFigure } from "../tensor/tensor_figure.ts";
import { type TimelineFigureRequest, timelineFigure } from "../timeline/timeline_figure.ts";

type PanelName = "findings" | "graph" | "tensor" | "timeline";

interface DebuggerFigureOptions {
  graph: GraphFigureOptions;
  tensor: TensorFigureRequest["options"];
  timeline: TimelineFigureRequest["options"];
  /** True once all tensors were scanned for findings. */
  findings: boolean;
  shown: PanelName[];
  /** Texts of views that leave their words to Python. */
  texts: Record<string, string>;
  /** Bytes of the complete document; the graph takes what the other views leave. */
  most: number;
}

type DebuggerFigureRequest = FigureRequest<DebuggerFigureOptions>;

export async function debuggerFigure(request: DebuggerFigureRequest): Promise<FigurePanel> {
  const { graph, tensor, timeline, findings, shown, texts, most } = request.options;
  const others = {
    ...(findings && { findings: await findingsPanel(request) }),
    tensor: await tensorFigure({ ...request, view: "tensor", options: tensor }),
    timeline: await timelineFigure({ ...request, view: "timeline", options: timeline }),
  };
  const size = (panels: FigurePanel[]) =>
    sizeOf(panelDrawing(request, stacked(request, panels)).svg);
  const room = most - size(Object.values(others)) + size([]);
  const limits = { ...graph.most, bytes: Math.min(graph.most.bytes, room) };
  const panels: Record<string, FigurePanel> = {
    ...others,
    graph: await graphPanel({ ...request, view: "graph", options: { ...graph, most: limits } }),
  };
  const stack = shown.map((name) => {
    const panel = panels[name]!;
    return { ...panel, text: panel.text || (texts[name] ?? "") };
  });
  const description = Object.fromEntries(
    Object.entries(panels).map(([name, { description }]) => [name, { view: name, ...description }]),
  );
  return { ...stacked(request, stack), description: { title: request.title, ...description } };
}

function stacked(
  { title, width }: DebuggerFigureRequest,
  panels: readonly FigurePanel[],
): FigurePanel {
  return {
    height: panels.reduce((sum, { height }) => sum + height, 0),
    title: `Run ${title}`,
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

const MOST_FINDINGS = 5;

async function findingsPanel(request: DebuggerFigureRequest): Promise<FigurePanel> {
  const { client, title: run, width, text } = request;
  const { findings } = await client.ask("findings");
  const first = findings.slice(0, MOST_FINDINGS);
  const rest = findings.length - first.length;
  const more = rest ? ` and ${rest} more` : "";
  const said = first.map(({ title, confidence }) => `${title} (${confidence} confidence)`);
  const indent = text.width("Warning  ", SMALL, true);
  const room = width - 2 * MARGIN;
  const lines = first.map(({ severity }, row): FigurePart => {
    const wrapped = text.wrap(said[row]!, room - indent, SMALL, 4);
    return {
      height: wrapped.length * LINE,
      paint(pen, theme, top) {
        const put = smallWriter(pen, theme);
        for (const [at, line] of wrapped.entries()) {
          put(line, indent, top + (at + 0.5) * LINE, theme.text);
        }
        pen.font = `600 ${SMALL}px ${theme.font}`;
        const color =
          colorOf(theme, severity) === theme.text ? theme.muted : colorOf(theme, severity);
        put(severity.charAt(0).toUpperCase() + severity.slice(1), 0, top + LINE / 2, color);
      },
    };
  });
  const detail = rest ? `the first ${first.length}${more}` : "";
  const parts = [heading("Findings", detail, room, text), ...lines];
  const listed = first.map(({ severity, rule }, row) => `  ${severity} [${rule}] ${said[row]}`);
  return {
    height: heightOf(parts),
    title: `Findings of ${run}`,
    words: said.join(". "),
    text: [`${run}: findings`, ...listed].join("\n") + more,
    description: {
      findings: first.map(({ rule, severity, title }) => ({ rule, severity, title })),
      left_out: rest,
      view: "findings",
      title: run,
    },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}
