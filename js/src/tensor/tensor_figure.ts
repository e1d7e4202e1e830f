import { completed } from "../shared/client/client.ts";
import type { Distribution, StatisticsAnswer } from "../shared/client/tensor_questions.ts";
import {
  type Drawing,
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  heading,
  heightOf,
  LINE,
  MARGIN,
  type Note,
  paintParts,
  panelDrawing,
  paragraph,
  SMALL,
  space,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { append } from "../shared/many.ts";
import { specialText, type ValueWords, valueWords } from "./descriptions.ts";
import { type Spread, spreadOf } from "./distribution/spread.ts";
import {
  legendPart,
  type PictureAnswers,
  type PictureData,
  pictureParts,
  type TensorColors,
} from "./figure_picture.ts";
import {
  besideEachOther,
  histogramLines,
  histogramPart,
  histogramWords,
  spreadFacts,
  statisticRows,
  statisticsPart,
  type Verdict,
  verdictPart,
} from "./figure_statistics.ts";
import { type KnownTensor, tensorFacts } from "./header.ts";
import { isUnsure, type PictureTrust, trustWords } from "./layout_picker.ts";
import { beyondText, crowdText } from "./picture/color_controls.ts";
import { type ColorChoice, colorScale, nearRange } from "./picture/color_scale.ts";
import type { TensorOptions } from "./state.ts";

const MOST = 4;

/** Lines of muted text. */
export function lines(texts: readonly string[]): FigurePart {
  return {
    height: texts.length * LINE,
    paint(pen, theme, top) {
      pen.font = `${SMALL}px ${theme.font}`;
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      pen.fillStyle = theme.muted;
      texts.forEach((text, at) => {
        pen.fillText(text, MARGIN, top + (at + 0.5) * LINE);
      });
    },
  };
}

/** Breaks a text after semicolons if its parts fit into lines, else evenly. */
export function wrapParts(text: string, room: number, widths: TextWidths): string[] {
  const lines: string[] = [];
  for (const clause of text.match(/[^;]+;?/g) ?? []) {
    const part = clause.trim();
    const joined = lines.length ? `${lines.at(-1)} ${part}` : part;
    if (widths.width(joined, SMALL) <= room) lines.splice(-1, 1, joined);
    else if (widths.width(part, SMALL) <= room) lines.push(part);
    else return balanced(text, room, widths);
  }
  return lines.length <= MOST ? lines : balanced(text, room, widths);
}

/** The fewest lines that hold the text, of similar lengths. */
function balanced(text: string, room: number, widths: TextWidths): string[] {
  const wanted = widths.wrap(text, room, SMALL, MOST);
  let [low, high] = [room / 2, room];
  while (high - low > 1) {
    const middle = (low + high) / 2;
    const lines = widths.wrap(text, middle, SMALL, MOST);
    const isWhole = lines.length === wanted.length && lines.join(" ") === wanted.join(" ");
    if (isWhole) high = middle;
    else low = middle;
  }
  return widths.wrap(text, high, SMALL, MOST);
}

interface TensorFigureData {
  title: string;
  tensor: KnownTensor & PictureTrust;
  text: string;
  /** Warnings about the tensor's file. */
  warnings: string[];
  /** Why its values are not shown, and why they could not be read; may be empty. */
  redacted: string;
  unread: string;
  /** Why a requested layout does not fit. */
  misfit: string;
  /** Shown axes, and the indices of the others. */
  caption: string;
  picture: Omit<PictureData, "room"> | null;
  dtype: string;
}

interface TensorFigureAnswers extends PictureAnswers {
  /** `distribution` is not null if its columns are here. */
  statistics: Omit<StatisticsAnswer, "distribution"> &
    Partial<Distribution> & { distribution: unknown };
}

type TensorFigureRequest = FigureRequest<TensorFigureData, TensorOptions, TensorFigureAnswers>;

/** Widths of the statistics beside the picture, of the gap, and of the widest picture, px. */
const [STATISTICS, GAP, WIDEST] = [300, 20, 640];
/** Width below which the statistics are below the picture. */
const NARROW = 620;

export function tensorFigure(request: TensorFigureRequest): Drawing {
  return panelDrawing(request, tensorPanel(request));
}

export function tensorPanel(request: TensorFigureRequest): FigurePanel {
  const { data, answers, options, width, text } = request;
  const room = width - 2 * MARGIN;
  const known = statisticsOf(answers.statistics);
  const facts = tensorFacts(data.tensor).map((fact) => fact.text);
  const words = valueWords(known, data.dtype);
  const verdict = verdictOf(data, known, words);
  const rows = statisticRows(known, data.redacted !== "");
  const choice: ColorChoice = {
    scale: options.color_scale ?? "auto",
    map: options.color_map ?? "auto",
    range: options.color_range ?? "auto",
  };
  const drawn = answers.tile ?? answers.channels ?? answers.profile ?? null;
  if (drawn) Object.assign(drawn, completed(drawn as never));
  const scale = colorScale({ statistics: known, tile: drawn as never }, choice);
  const spread = spreadFor(known, data.dtype, choice, scale?.kind ?? "linear");
  const adapted =
    beyondText(known, choice) || (choice.scale === "auto" ? crowdText(known, choice) : "");
  const colors: TensorColors = {
    scale,
    known,
    cells: options.cells ?? "mean",
    choice: choice.scale,
    dtype: data.dtype,
  };
  const paragraphs = (notes: readonly Note[]) =>
    notes.map((note) => paragraph(note, room, text, note.most));
  const parts: FigurePart[] = [
    heading(data.tensor.title, [data.title, ...facts].join(" · "), room, text),
    ...paragraphs(notesOf(data)),
    verdictPart(verdict, room, text),
    ...paragraphs([trustNote(data, answers)]),
    space(8),
  ];
  const isNarrow = width < NARROW;
  const side = Math.min(STATISTICS, room);
  const right = [
    ...(rows.length ? [statisticsPart(rows, words?.health === "error", side, text)] : []),
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
  if (isNarrow || !left.length) append(parts, [...left, ...right]);
  else parts.push(besideEachOther(left, right, MARGIN + wide + GAP));
  const letters = [...(adapted ? [`  ${adapted}`] : []), ...(spread ? histogramLines(spread) : [])];
  const name = `Tensor ${data.tensor.title}: ${facts.join(", ")}; ${verdict.text}`;
  const counts = [...verdict.faults, ...verdict.rest];
  return {
    height: heightOf(parts),
    title: name,
    words: [name, ...counts, ...data.warnings].join(". "),
    text: [
      [data.text, ...facts].join("; "),
      ...data.warnings.map((warning) => `  warning: ${warning}`),
      ...[data.redacted, data.unread].filter(Boolean).map((reason) => `  ${reason}`),
      `  ${[verdict.text, ...counts].join("; ")}`,
      `  ${trustWords(data.tensor, null, data.misfit).join(" · ")}`,
      ...(data.caption ? [`  ${data.caption}`] : []),
      ...rows.map(([name, text, place]) => `  ${name.padEnd(7)} ${text} ${place}`.trimEnd()),
      ...letters,
    ].join("\n"),
    description: {
      verdict: verdict.text,
      color_map: scale?.map ?? null,
      spread: spread && spreadFacts(spread),
    },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

function statisticsOf(answer: TensorFigureAnswers["statistics"]): StatisticsAnswer {
  const { low, high, count, distribution, ...rest } = answer;
  return { ...rest, distribution: distribution ? { low: low!, high: high!, count: count! } : null };
}

function spreadFor(
  known: StatisticsAnswer,
  dtype: string,
  choice: ColorChoice,
  kind: "linear" | "log" | "symlog",
): Spread | null {
  const { size = 0, finite = 0, minimum } = known.statistics ?? {};
  // Null for withheld counts.
  if (!size || (finite && minimum?.value == null)) return null;
  const near = nearRange(known, choice);
  return spreadOf(known, dtype, { kind, zoom: near && [near.low, near.high] });
}

function histogramParts(
  spread: Spread | null,
  known: StatisticsAnswer,
  adapted: string,
  scale: ReturnType<typeof colorScale>,
  room: number,
  { text }: TensorFigureRequest,
): FigurePart[] {
  if (!spread) return [];
  const words = [histogramWords(spread), adapted].filter(Boolean).join("; ");
  const size = known.statistics?.size ?? 0;
  return [
    space(8),
    paragraph({ text: words, color: "muted" }, room, text, 2),
    histogramPart(spread, size, scale, room),
  ];
}

const UNREAD = "could not be read";

function verdictOf(
  { unread }: TensorFigureData,
  known: StatisticsAnswer,
  words: ValueWords | null,
): Verdict {
  const { statistics, reason } = known;
  if (!statistics || !words || words.health === "empty") {
    const text = words?.verdict ?? (unread ? UNREAD : `no statistics: ${reason}`);
    return { text, bad: false, faults: [], rest: [] };
  }
  const faults = words.specials.filter((special) => statistics[special] > 0);
  const others = words.specials.slice(faults.length);
  return {
    text: words.verdict,
    bad: words.health === "error",
    faults: faults.map((fault) => specialText(statistics, fault)),
    rest: [
      ...others.map((other) => specialText(statistics, other)),
      ...words.counts.map(({ text }) => text),
    ],
  };
}

function notesOf({ tensor, warnings, redacted, unread }: TensorFigureData): Note[] {
  const notes: Note[] = [];
  if (tensor.trust !== "exact") {
    const text = `The values were matched to this node ${tensor.trust}.`;
    notes.push({ text, color: "warning", most: 3 });
  }
  for (const warning of warnings)
    notes.push({ text: `Warning: ${warning}`, color: "warning", most: 12 });
  if (redacted) notes.push({ text: redacted, color: "muted", most: 3 });
  if (unread) notes.push({ text: unread, color: "error", most: 6 });
  return notes;
}

function trustNote(
  { tensor, misfit }: TensorFigureData,
  { tile, channels, profile }: TensorFigureAnswers,
): Note {
  const exact = tile || channels || profile ? (tile?.exact ?? true) : null;
  const text = trustWords(tensor, exact, misfit).join(" · ");
  return { text, color: isUnsure(tensor) ? "warning" : "muted", most: 4 };
}
