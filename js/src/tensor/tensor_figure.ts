import { errorText } from "../shared/client/request.ts";
import type { StatisticsAnswer } from "../shared/client/tensor_questions.ts";
import {
  type FigurePanel,
  type FigurePart,
  heading,
  heightOf,
  LINE,
  lacking,
  MARGIN,
  type Note,
  paintParts,
  paragraph,
  SMALL,
  smallWriter,
  space,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { append } from "../shared/many.ts";
import { specialCounts, type ValueWords, valueWords } from "./descriptions.ts";
import { type Spread, spreadOf } from "./distribution/spread.ts";
import {
  answersOf,
  captionOf,
  factsOf,
  headerOf,
  sizedAxis,
  type TensorAnswers,
  type TensorFigureRequest,
  UNREAD,
} from "./figure_answers.ts";
import { legendPart, pictureParts, type TensorColors } from "./figure_picture.ts";
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
import { tensorFacts } from "./header.ts";
import { isUnsure, trustWords } from "./layout_picker.ts";
import { beyondText, crowdText } from "./picture/color_controls.ts";
import { type ColorChoice, colorScale, nearRange } from "./picture/color_scale.ts";
import { axisText, planeCols, planeRows } from "./plane.ts";

const MOST = 4;

/** Lines of muted text. */
export function lines(texts: readonly string[]): FigurePart {
  return {
    height: texts.length * LINE,
    paint(pen, theme, top) {
      const write = smallWriter(pen, theme);
      for (const [at, text] of texts.entries())
        write(text, 0, top + (at + 0.5) * LINE, theme.muted);
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

/** Widths of the statistics beside the picture, of the gap, and of the widest picture, px. */
const [STATISTICS, GAP, WIDEST] = [300, 20, 640];
/** Width below which the statistics are below the picture. */
const NARROW = 620;

export async function tensorFigure(request: TensorFigureRequest): Promise<FigurePanel> {
  const { client, options } = request;
  if (!options.entry) {
    const { missing } = await client.ask("summary");
    const why = missing.tensors ?? "This run's params file has no tensors.";
    return lacking(request, "No tensors", why);
  }
  const stored = await headerOf(request, null, "", null).catch(errorText);
  if (typeof stored === "string") return lacking(request, "No tensors", stored);
  return answeredPanel(request, await answersOf(request, stored));
}

function answeredPanel(request: TensorFigureRequest, answers: TensorAnswers): FigurePanel {
  const { title, options, width, text } = request;
  const { tensor, statistics: known, plane } = answers;
  const dtype = tensor.valueDtype;
  const room = width - 2 * MARGIN;
  const facts = tensorFacts(tensor).map((fact) => fact.text);
  const words = valueWords(known, dtype);
  const verdict = verdictOf(answers, words);
  const rows = statisticRows(known, tensor.withheld !== undefined);
  const caption = captionOf(answers, options.show);
  const choice: ColorChoice = {
    scale: options.color_scale,
    map: options.color_map,
    range: options.color_range,
  };
  const drawn = answers.tile ?? answers.channels ?? answers.profile ?? null;
  const scale = colorScale({ statistics: known, tile: drawn as never }, choice);
  const spread = spreadFor(known, dtype, choice, scale?.kind ?? "linear");
  const adapted =
    beyondText(known, choice) || (choice.scale === "auto" ? crowdText(known, choice) : "");
  const colors: TensorColors = {
    scale,
    known,
    cells: options.cells,
    choice: choice.scale,
    dtype,
  };
  const paragraphs = (notes: readonly Note[]) =>
    notes.map((note) => paragraph(note, room, text, note.most));
  const parts: FigurePart[] = [
    heading(tensor.title, [title, ...facts].join(" · "), room, text),
    ...paragraphs(notesOf(answers)),
    verdictPart(verdict, room, text),
    ...paragraphs([trustNote(answers)]),
    space(8),
  ];
  const isNarrow = width < NARROW;
  const side = Math.min(STATISTICS, room);
  const right = [
    ...(rows.length
      ? [statisticsPart(rows, known.statistics?.verdict === "error", side, text)]
      : []),
    ...histogramParts(spread, known, adapted, scale, side, request),
  ];
  const wide = Math.min(WIDEST, isNarrow ? room : room - STATISTICS - GAP);
  const left: FigurePart[] = [];
  if (plane) {
    const [down, across] = plane.axes.map((axis) => axisText(tensor.axisNames, axis));
    const data = {
      room: wide,
      planeRows: planeRows(plane),
      planeCols: planeCols(plane),
      names: [down!, across!] as [string, string],
      along: sizedAxis(tensor, answers.along),
      region: answers.region,
    };
    left.push(lines(wrapParts(caption, wide, text)));
    append(left, pictureParts(answers, data, colors, text));
    if (!answers.profile) left.push(legendPart(colors, wide, text));
  }
  if (isNarrow || !left.length) append(parts, [...left, ...right]);
  else parts.push(besideEachOther(left, right, MARGIN + wide + GAP));
  const letters = [...(adapted ? [`  ${adapted}`] : []), ...(spread ? histogramLines(spread) : [])];
  const name = `Tensor ${tensor.title}: ${facts.join(", ")}; ${verdict.text}`;
  const counts = [...verdict.faults, ...verdict.rest];
  return {
    height: heightOf(parts),
    title: name,
    words: [name, ...counts, ...tensor.notes].join(". "),
    text: [
      [`${title}: ${tensor.title}`.replaceAll("\n", "\\n"), ...facts].join("; "),
      ...tensor.notes.map((warning) => `  warning: ${warning}`),
      ...[tensor.withheld, answers.unread].filter(Boolean).map((reason) => `  ${reason}`),
      `  ${[verdict.text, ...counts].join("; ")}`,
      `  ${trustWords(tensor, null, answers.misfit).join(" · ")}`,
      ...(caption ? [`  ${caption}`] : []),
      ...rows.map(([name, text, place]) => `  ${name.padEnd(7)} ${text} ${place}`.trimEnd()),
      ...letters,
    ].join("\n"),
    description: {
      ...factsOf(request, answers),
      verdict: verdict.text,
      color_map: scale?.map ?? null,
      spread: spread && spreadFacts(spread),
    },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
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

function verdictOf(
  { unread, statistics: { statistics, reason } }: TensorAnswers,
  words: ValueWords | null,
): Verdict {
  if (!statistics || !words || statistics.verdict === "empty") {
    const text = words?.verdict ?? (unread ? UNREAD : `no statistics: ${reason}`);
    return { text, bad: false, faults: [], rest: [] };
  }
  const counts = specialCounts(statistics);
  const loud = statistics.specials.filter((special) => statistics[special] > 0).length;
  return {
    text: words.verdict,
    bad: statistics.verdict === "error",
    faults: counts.slice(0, loud),
    rest: [...counts.slice(loud), ...words.counts.map(({ text }) => text)],
  };
}

function notesOf({ tensor, unread }: TensorAnswers): Note[] {
  const notes: Note[] = [];
  if (tensor.trust !== "exact") {
    const text = `The values were matched to this node ${tensor.trust}.`;
    notes.push({ text, color: "warning", most: 3 });
  }
  for (const warning of tensor.notes)
    notes.push({ text: `Warning: ${warning}`, color: "warning", most: 12 });
  if (tensor.withheld) notes.push({ text: tensor.withheld, color: "muted", most: 3 });
  if (unread) notes.push({ text: unread, color: "error", most: 6 });
  return notes;
}

function trustNote({ tensor, misfit, tile, channels, profile }: TensorAnswers): Note {
  const exact = tile || channels || profile ? (tile?.exact ?? true) : null;
  const text = trustWords(tensor, exact, misfit).join(" · ");
  return { text, color: isUnsure(tensor) ? "warning" : "muted", most: 4 };
}
