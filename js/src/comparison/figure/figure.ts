import { graphPanel } from "../../graph/figure/figure.ts";
import type { GraphData, GraphRequest, GraphTraits } from "../../graph/figure/request.ts";
import {
  type Drawing,
  type FigurePanel,
  type FigureRequest,
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
import { largest } from "../../shared/many.ts";
import { levelPanels } from "./level.ts";
import { type DifferenceRow, differences } from "./table.ts";

interface Side {
  data: GraphData;
  options: GraphTraits;
}

interface Data {
  /** Of the document. */
  title: string;
  sentence: string;
  /** How much is matched, and how surely. */
  matched: string;
  /** Both graphs; none where there is no room for two. */
  graphs: Side[];
  /** Nodes that stand for each other. */
  pairs: [a: number, b: number][];
  rows: DifferenceRow[];
  below: Note[];
  text: string;
}

/** By question, with the letter of its run behind it. */
type Answers = Record<string, unknown>;

type Request = FigureRequest<Data, unknown, Answers>;

/** What differs between two runs: their graphs beside each other, and a table. */
export function comparisonFigure(request: Request): Drawing {
  const { data, width, text } = request;
  const room = width - 2 * MARGIN;
  const said = (note: Note) => paragraph(note, room, text, note.most);
  const panels = panelsOf(request);
  const parts: Part[] = [
    heading("Comparison", "", room, text),
    said({ text: data.sentence, bold: true, most: 4 }),
    said({ text: data.matched, color: "muted", most: 2 }),
    space(4),
    ...(panels.length ? [beside(panels, width)] : []),
    differences(data.rows, width, text),
    ...data.below.map(said),
  ];
  return panelDrawing(request, {
    height: heightOf(parts),
    title: data.title,
    words: data.sentence,
    text: data.text,
    description: { graphs: panels.map(({ description }) => description) },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  });
}

function panelsOf({ data, answers, columns, ...request }: Request): readonly FigurePanel[] {
  const [a, b] = data.graphs.map((side, at): GraphRequest => {
    const letter = "AB"[at]!;
    const own = <T>(all: Record<string, T>) =>
      Object.fromEntries(
        Object.entries(all)
          .filter(([name]) => name.endsWith(letter))
          .map(([name, each]) => [name.slice(0, -1), each]),
      );
    return {
      ...request,
      ...side,
      width: request.width / 2,
      answers: own(answers) as unknown as GraphRequest["answers"],
      columns: own(columns),
    };
  });
  if (!a || !b) return [];
  return levelPanels([a, b], data.pairs) ?? [graphPanel(a), graphPanel(b)];
}

/** Two panels beside each other, with lines between them and below. */
function beside(panels: readonly FigurePanel[], width: number): Part {
  const height = largest(panels.map((panel) => panel.height));
  return {
    height: height + 4,
    paint(pen, theme, top) {
      for (const [at, panel] of panels.entries()) {
        pen.save();
        pen.translate((at * width) / 2, top);
        panel.paint(pen, theme);
        pen.restore();
      }
      pen.strokeStyle = theme.line;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(width / 2, top);
      pen.lineTo(width / 2, top + height);
      pen.moveTo(0, top + height);
      pen.lineTo(width, top + height);
      pen.stroke();
    },
  };
}
