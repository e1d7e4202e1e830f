import type {
  ExactNumber,
  Percentile,
  StatisticsAnswer,
} from "../shared/client/tensor_questions.ts";
import {
  type FigurePart,
  type FigurePen,
  LINE,
  MARGIN,
  SMALL,
  smallWriter,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted, integer } from "../shared/format.ts";
import { largest } from "../shared/many.ts";
import { aboutText, numberText, screenText } from "../shared/number_text.ts";
import { paintHistogram } from "./distribution/histogram_painter.ts";
import type { Spread } from "./distribution/spread.ts";
import { slotText, spreadScene } from "./distribution/spread_scene.ts";
import { isExact, outward } from "./distribution/statistics.ts";
import { type ColorScale, SPECIAL_TEXT } from "./picture/color_scale.ts";

const TALL = 128;
const [LINES, LENGTH] = [12, 40];

export function histogramPart(
  spread: Spread,
  size: number,
  colors: ColorScale | null,
  room: number,
): FigurePart {
  const scene = spreadScene(spread, size, room, TALL, false);
  return cornered(TALL, (pen, theme) =>
    paintHistogram(pen, room, TALL, { spread, scene, colors, theme }, false),
  );
}

/** A part that is painted from its own corner. */
export function cornered(
  height: number,
  paint: (pen: FigurePen, theme: Theme) => void,
): FigurePart {
  return {
    height,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(MARGIN, top);
      paint(pen, theme);
      pen.restore();
    },
  };
}

export function histogramWords({ bars, codes, only }: Spread): string {
  if (!bars.length) return "histogram";
  if (only !== null) {
    const about = bars.every(({ least, most }) => least === most) ? "" : "about ";
    const top = largest(bars.map(({ likely }) => Math.round(likely)));
    return top ? `histogram: ${about}${counted(top, "value")} of ${screenText(only)}` : "histogram";
  }
  return `histogram: ${codes ? "one bar per value" : counted(bars.length, "bar")}`;
}

export function histogramLines({ bars, slots, dtype, whole }: Spread): string[] {
  const step = Math.max(1, Math.ceil(bars.length / LINES));
  let groups: [name: string, count: number][] = [];
  for (let at = 0; at < bars.length; at += step) {
    const { from } = bars[at]!;
    const count = bars.slice(at, at + step).reduce((sum, { likely }) => sum + likely, 0);
    groups.push([aboutText(whole ? Math.ceil(from) : from, dtype), count]);
  }
  const top = largest([1, ...groups.map(([, count]) => count)]);
  groups = groups.filter(([, count]) => groups.length > 1 || count);
  const all = [
    ...groups,
    ...slots.map(({ name, count }): [string, number] => [slotText(name, dtype), count]),
  ];
  const wide = largest([0, ...all.map(([name]) => name.length)]);
  return all.map(([name, count]) => {
    const share = Math.round(LENGTH * Math.min(1, count / top));
    const bar = "#".repeat(Math.max(count ? 1 : 0, share));
    const more = count > top ? ">" : "";
    return `  ${name.padStart(wide)} |${bar}${more} ${integer(Math.round(count))}`;
  });
}

export function spreadFacts(spread: Spread): Record<string, unknown> {
  const { axis, bars, slots, limits, codes, whole, apart, only } = spread;
  const most = largest([0, ...bars.map(({ likely }) => likely)]);
  return {
    kind: axis.kind,
    low: axis.low,
    high: axis.high,
    top: most > 0 ? most : largest([1, ...slots.map(({ count }) => count)]),
    bars: bars.map(({ from, to, least, most, likely }) => ({
      from,
      to,
      least,
      most: Number.isFinite(most) ? most : null,
      likely,
    })),
    slots,
    limits,
    codes,
    whole,
    apart,
    only,
  };
}

const NAMES = 76;

/** Name, exact text, and a note beside or below it. */
type StatisticRow = [name: string, text: string, place: string];

/** The statistics as a table with exact texts. */
export function statisticsPart(
  rows: readonly StatisticRow[],
  finiteOnly: boolean,
  room: number,
  text: TextWidths,
): FigurePart {
  const lines: ({ name: string; text: string; beside: string } | { below: string })[] = [];
  for (const [name, exact, place] of rows) {
    const end = room - NAMES;
    const isBeside = text.width(exact, SMALL) + 8 + text.width(place, SMALL) <= end;
    lines.push({ name, text: text.fit(exact, end, SMALL), beside: isBeside ? place : "" });
    if (isBeside) continue;
    for (const below of text.wrap(place, end, SMALL, 3)) lines.push({ below });
  }
  const last = finiteOnly ? 1 : 0;
  return {
    height: (lines.length + last) * LINE,
    paint(pen, theme, top) {
      const write = smallWriter(pen, theme);
      const put = (text: string, x: number, at: number, color: string) =>
        write(text, x, top + (at + 0.5) * LINE, color);
      lines.forEach((line, at) => {
        if ("below" in line) {
          put(line.below, NAMES, at, theme.muted);
          return;
        }
        put(line.name, 0, at, theme.muted);
        put(line.text, NAMES, at, theme.text);
        put(line.beside, NAMES + text.width(line.text, SMALL) + 8, at, theme.muted);
      });
      if (finiteOnly) put("finite values only", 0, lines.length, theme.muted);
    },
  };
}

export interface Verdict {
  text: string;
  bad: boolean;
  faults: string[];
  rest: string[];
}

export function verdictPart(verdict: Verdict, room: number, text: TextWidths): FigurePart {
  const { bad, faults, rest } = verdict;
  const loud = faults.join(" · ");
  const loudAt = text.width(verdict.text, SMALL, true) + 10;
  const first = loudAt + (loud ? text.width(loud, SMALL, true) + 10 : 0);
  const lines: string[] = rest.length ? [""] : [];
  for (const part of rest) {
    const last = lines.at(-1)!;
    const joined = last ? `${last} · ${part}` : part;
    const start = lines.length === 1 ? first : 0;
    if (start + text.width(joined, SMALL) <= room) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return {
    height: Math.max(1, lines.length) * LINE + 2,
    paint(pen, theme, top) {
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      const put = (text: string, x: number, at: number, color: string, weight = "") => {
        pen.font = `${weight}${SMALL}px ${theme.font}`;
        pen.fillStyle = color;
        pen.fillText(text, MARGIN + x, top + (at + 0.5) * LINE);
      };
      put(verdict.text, 0, 0, bad ? theme.error : theme.text, "600 ");
      put(loud, loudAt, 0, theme.error, "600 ");
      lines.forEach((line, at) => {
        put(line, at ? 0 : first, at, theme.muted);
      });
    },
  };
}

/** Parts side by side: those at the right begin at `x`. */
export function besideEachOther(
  left: readonly FigurePart[],
  right: readonly FigurePart[],
  x: number,
): FigurePart {
  const tall = (parts: readonly FigurePart[]) => parts.reduce((sum, { height }) => sum + height, 0);
  return {
    height: Math.max(tall(left), tall(right)),
    paint(pen, theme: Theme, top) {
      const paint = (parts: readonly FigurePart[]) => {
        parts.reduce((y, part) => {
          part.paint(pen, theme, y);
          return y + part.height;
        }, top);
      };
      paint(left);
      pen.save();
      pen.translate(x - MARGIN, 0);
      paint(right);
      pen.restore();
    },
  };
}

const RANGES = [
  [1, 99],
  [5, 95],
  [25, 75],
] as const;

/** Name, exact text and index of the statistics; empty if there are only counts. */
export function statisticRows(
  { statistics, percentiles }: StatisticsAnswer,
  isRedacted: boolean,
): StatisticRow[] {
  if (!statistics?.size) return [];
  const { size, minimum, maximum, mean, std, argmin, argmax } = statistics;
  const isNone = minimum.text === "none";
  if (isNone && isRedacted) return [];
  const { firstNan, firstPosInf, firstNegInf } = statistics;
  const firsts = (
    [
      ["nan", firstNan],
      ["posInf", firstPosInf],
      ["negInf", firstNegInf],
    ] as const
  ).flatMap(([special, index]): StatisticRow[] =>
    index ? [[`first ${SPECIAL_TEXT[special]}`, placeText(index), ""]] : [],
  );
  if (!isNone && minimum.text === maximum.text) {
    return [[size === 1 ? "value" : "all", screenText(minimum.text), ""], ...firsts];
  }
  const rows: StatisticRow[] = [
    ["min", screenText(minimum.text), placeText(argmin)],
    ["max", screenText(maximum.text), placeText(argmax)],
    ["mean", screenText(mean.text), ""],
    ["std", screenText(std.text), ""],
  ];
  const texts = new Map(
    percentiles.map((percentile) => [percentile.percent, intervalText(percentile)]),
  );
  if (texts.size) {
    rows.push(["median", texts.get(50)!, ""]);
    for (const [low, high] of RANGES) {
      rows.push([`p${low} to p${high}`, `${texts.get(low)} to ${texts.get(high)}`, ""]);
    }
  }
  return [...rows, ...firsts];
}

function placeText(index: readonly number[] | null): string {
  return index?.length ? `at [${index.join(", ")}]` : "";
}

function intervalText(percentile: Percentile): string {
  if (isExact(percentile)) return screenText(percentile.low.text);
  const bound = ({ text, value }: ExactNumber, side: 1 | -1) =>
    screenText(value === null ? text : numberText(Number(outward(value, side))));
  return `(${bound(percentile.low, -1)} … ${bound(percentile.high, 1)})`;
}
