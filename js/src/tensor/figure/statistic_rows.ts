import type {
  ExactNumber,
  Percentile,
  StatisticsAnswer,
} from "../../shared/client/tensor_questions.ts";
import { numberText, screenText } from "../../shared/number_text.ts";
import { SPECIAL_TEXT } from "../colors/colors.ts";
import { isExact, outward } from "../distribution/percentiles.ts";
import type { StatisticRow } from "./statistics_part.ts";

const RANGES = [
  [1, 99],
  [5, 95],
  [25, 75],
] as const;

/** Name, exact text and place of each statistic; none of values that are told by counts alone. */
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
  const texts = new Map(percentiles.map((each) => [each.percent, intervalText(each)]));
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

/** A percentile, or bounds of it, rounded outwards. */
function intervalText(percentile: Percentile): string {
  if (isExact(percentile)) return screenText(percentile.low.text);
  const bound = ({ text, value }: ExactNumber, side: 1 | -1) =>
    screenText(value === null ? text : numberText(Number(outward(value, side))));
  return `(${bound(percentile.low, -1)} … ${bound(percentile.high, 1)})`;
}
