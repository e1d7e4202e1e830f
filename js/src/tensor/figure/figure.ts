import { completeCells } from "../../shared/client/tensor_client.ts";
import type { Distribution, StatisticsAnswer } from "../../shared/client/tensor_questions.ts";
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
import { beyondText, crowdText } from "../colors/adapted_words.ts";
import { type ColorChoice, colorScale, nearRange } from "../colors/color_scale.ts";
import { type Spread, spreadOf } from "../distribution/spread.ts";
import { type Known, tensorFacts } from "../facts.ts";
import type { TensorOptions } from "../options.ts";
import { lines, wrapParts } from "./caption.ts";
import { histogramLines, histogramPart, histogramWords, spreadFacts } from "./histogram_part.ts";
import { legendPart } from "./legend_part.ts";
import {
  type PictureAnswers,
  type PictureData,
  pictureParts,
  type TensorColors,
} from "./picture_part.ts";
import {
  besideEachOther,
  type StatisticRow,
  statisticsPart,
  type Verdict,
  verdictPart,
} from "./statistics_part.ts";

interface Data {
  /** Of the run. */
  title: string;
  tensor: Known;
  /** The figure as text without the facts of the header and the histogram. */
  text: string;
  /** What is heard of the values and of the tensor after the verdict. */
  heard: string[];
  notes: Note[];
  verdict: Verdict;
  trust: Note;
  /** Which axes are shown, and where the others are held. */
  caption: string;
  rows: StatisticRow[];
  finiteOnly: boolean;
  picture: Omit<PictureData, "room"> | null;
  dtype: string;
}

interface Answers extends PictureAnswers {
  /** `distribution` is not null where there are its columns. */
  statistics: Omit<StatisticsAnswer, "distribution"> &
    Partial<Distribution> & { distribution: unknown };
}

type Request = FigureRequest<Data, TensorOptions, Answers>;

/** Room for the statistics beside the picture, px, between both, and for the widest picture. */
const [STATISTICS, GAP, WIDEST] = [300, 20, 640];
/** Below this width the statistics stand below the picture. */
const NARROW = 620;

/** One tensor as a static figure. */
export function tensorFigure(request: Request): Drawing {
  return panelDrawing(request, tensorPanel(request));
}

export function tensorPanel(request: Request): FigurePanel {
  const { data, answers, options, width, text } = request;
  const room = width - 2 * MARGIN;
  const known = statisticsOf(answers.statistics);
  const facts = tensorFacts(data.tensor).map((fact) => fact.text);
  const choice: ColorChoice = {
    scale: options.color_scale ?? "auto",
    map: options.color_map ?? "auto",
    range: options.color_range ?? "auto",
  };
  const drawn = answers.tile ?? answers.channels ?? answers.profile ?? null;
  if (drawn) Object.assign(drawn, completeCells(drawn));
  const scale = colorScale({ statistics: known, tile: drawn as never }, choice);
  const spread = spreadFor(known, data.dtype, choice, scale?.kind ?? "linear");
  const adapted = beyondText(known, choice) || autoText(known, choice);
  const colors: TensorColors = {
    scale,
    known,
    cells: options.cells ?? "mean",
    asked: choice.scale,
    dtype: data.dtype,
  };
  const said = (notes: readonly Note[]) =>
    notes.map((note) => paragraph(note, room, text, note.most));
  const parts: Part[] = [
    heading(data.tensor.title, [data.title, ...facts].join(" · "), room, text),
    ...said(data.notes),
    verdictPart(data.verdict, room, text),
    ...said([data.trust]),
    space(8),
  ];
  const isNarrow = width < NARROW;
  const side = Math.min(STATISTICS, room);
  const told = [
    ...(data.rows.length ? [statisticsPart(data.rows, data.finiteOnly, side, text)] : []),
    ...histogramParts(spread, known, adapted, scale, side, request),
  ];
  const wide = Math.min(WIDEST, isNarrow ? room : room - STATISTICS - GAP);
  const left = data.picture
    ? pictureParts(answers, { ...data.picture, room: wide }, colors, text)
    : [];
  if (left.length) {
    left.unshift(lines(wrapParts(data.caption, wide, text)));
    if (!answers.profile) left.push(legendPart(colors, wide, text));
  }
  if (isNarrow || !left.length) parts.push(...left, ...told);
  else parts.push(besideEachOther(left, told, MARGIN + wide + GAP));
  const letters = [...(adapted ? [`  ${adapted}`] : []), ...(spread ? histogramLines(spread) : [])];
  const name = `Tensor ${data.tensor.title}: ${facts.join(", ")}; ${data.verdict.text}`;
  const [first, ...more] = data.text.split("\n");
  return {
    height: heightOf(parts),
    title: name,
    words: [name, ...data.heard].join(". "),
    text: [[first, ...facts].join("; "), ...more, ...letters].join("\n"),
    description: {
      color_map: scale?.map ?? null,
      spread: spread && spreadFacts(spread),
    },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

function statisticsOf(answer: Answers["statistics"]): StatisticsAnswer {
  const { low, high, count, distribution, ...told } = answer;
  const columns = { low: low!, high: high!, count: count! };
  return { ...told, distribution: distribution ? columns : null };
}

function spreadFor(
  known: StatisticsAnswer,
  dtype: string,
  choice: ColorChoice,
  kind: "linear" | "log" | "symlog",
): Spread | null {
  const { size = 0, finite = 0, minimum } = known.statistics ?? {};
  // What counts are withheld of.
  if (!size || (finite && minimum?.value == null)) return null;
  const near = nearRange(known, choice);
  return spreadOf(known, dtype, { kind, zoom: near && [near.low, near.high] });
}

/** Why the scale is not linear; nothing where one was asked for. */
function autoText(known: StatisticsAnswer, choice: ColorChoice): string {
  return choice.scale === "auto" ? crowdText(known, choice) : "";
}

function histogramParts(
  spread: Spread | null,
  known: StatisticsAnswer,
  adapted: string,
  scale: ReturnType<typeof colorScale>,
  room: number,
  { text }: Request,
): Part[] {
  if (!spread) return [];
  const words = [histogramWords(spread), adapted].filter(Boolean).join("; ");
  const size = known.statistics?.size ?? 0;
  return [
    space(8),
    paragraph({ text: words, color: "muted" }, room, text, 2),
    histogramPart(spread, size, scale, room),
  ];
}
