import { counted, integer } from "../shared/format.ts";
import type { RegionAnswer, TensorAnswer } from "../shared/tensor_questions.ts";
import { placeText } from "./code_text.ts";
import { SPECIAL_TEXT, SPECIALS } from "./colors.ts";
import type { Region } from "./state.ts";

/** `7 × 8 = 56 values`. */
export function sizeWords([, , rows, cols]: Region): string {
  const values = counted(rows * cols, "value");
  return rows > 1 && cols > 1 ? `${integer(rows)} × ${integer(cols)} = ${values}` : values;
}

/** NaN and infinities, those that are there; else that there are none. */
export function specialWords(found: RegionAnswer): string {
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
    ? "from the stored picture"
    : `from the stored picture, ${down}×${across} values per cell: bounds are of all cells touched`;
}

/** What a screen reader says of a region. */
export function regionWords(answer: TensorAnswer, region: Region, found: RegionAnswer): string {
  const { minimum, maximum, mean } = found;
  return [
    `region ${placeText(answer, region)}, ${sizeWords(region)}`,
    `min ${minimum.text}, max ${maximum.text}, mean ${mean.text}`,
    specialWords(found),
    sourceWords(found),
  ]
    .filter(Boolean)
    .join("; ");
}
