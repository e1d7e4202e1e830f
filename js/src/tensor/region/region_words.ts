import type {
  RegionAnswer,
  RegionNumbers,
  TensorAnswer,
} from "../../shared/client/tensor_questions.ts";
import { counted, integer } from "../../shared/format.ts";
import { screenText } from "../../shared/number_text.ts";
import { SPECIAL_TEXT, SPECIALS } from "../colors/colors.ts";
import { placeText } from "../saving/code_text.ts";
import type { Region } from "../state.ts";

/** `7 × 8 = 56 values`. */
export function sizeWords([, , rows, cols]: Region): string {
  const values = counted(rows * cols, "value");
  return rows > 1 && cols > 1 ? `${integer(rows)} × ${integer(cols)} = ${values}` : values;
}

/** The counts and bounds, as far as they are known. */
export function numbersOf({ statistics, bounds }: RegionAnswer): RegionNumbers {
  return (statistics ?? bounds)!;
}

/** NaN and infinities, those that are there; else that there are none. */
export function specialWords(found: RegionNumbers): string {
  const there = SPECIALS.filter((each) => found[each] !== 0).map((each) => {
    const count = found[each];
    return `${count === null ? "some" : integer(count)} ${SPECIAL_TEXT[each]}`;
  });
  return there.join(", ") || "all finite";
}

/** Where a page knows less than the values. */
export function sourceWords({ cells }: RegionAnswer): string {
  if (!cells) return "";
  const [down, across] = cells;
  return down * across === 1
    ? "from the saved heatmap"
    : `from the saved heatmap, ${down}×${across} values per cell; min and max cover every cell that overlaps the region`;
}

/** What a screen reader says of a region. */
export function regionWords(answer: TensorAnswer, region: Region, found: RegionAnswer): string {
  const numbers = numbersOf(found);
  const [low, high, mean] = [numbers.minimum, numbers.maximum, numbers.mean].map(({ text }) =>
    screenText(text),
  );
  return [
    `region ${placeText(answer, region)}, ${sizeWords(region)}`,
    `min ${low}, max ${high}, mean ${mean}`,
    specialWords(numbers),
    sourceWords(found),
  ]
    .filter(Boolean)
    .join("; ");
}
