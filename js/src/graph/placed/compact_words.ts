import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { largest } from "../../shared/many.ts";
import { BUTTON, type Labels, TAG, TEXT_START } from "./labels.ts";
import { LEGIBLE_SCALE } from "./scales.ts";
import type { BoxTexts } from "./scene.ts";

const { padding, maxWidth } = tokens.node;
const { height, minWidth, stack } = tokens.compact;
/** Fonts of a size between two whole pixels are wider than in proportion. */
const SPARE = 4;
/** What a title of 11 px takes of its width at full size, where its box is drawn at the least scale. */
const AT_LEAST = tokens.font.small / tokens.font.size / LEGIBLE_SCALE;
/** Titles of more than that stand in two lines, px at full size. */
const ONE_LINE = 190;
/** Height of a second line. */
const LINE = 15;
/** Room for what the colors say, or the id, beside a title. */
export const VALUE = 84;

/** The words of boxes that bear their title, a long one in two lines; `valued`: with one fact beside it. */
export function compactWords(words: BoxTexts, labels: Labels, valued: boolean): BoxTexts {
  const value = valued ? VALUE : 0;
  const known = new Map<string, readonly string[]>();
  const linesOf = (title: string) => {
    const lines = known.get(title) ?? linesIn(title, (text) => labels.titleWidth(text));
    known.set(title, lines);
    return lines;
  };
  const room = (lines: readonly string[], beside: number) => {
    const wide = largest(lines.map((line) => labels.titleWidth(line)));
    return Math.ceil(Math.min(maxWidth, wide * AT_LEAST + SPARE + beside + value));
  };
  return {
    compact: true,
    valued,
    heightOfGroup: height + 2 * stack,
    title: (node) => words.title(node),
    box: (node, folded) => ({ ...words.box(node, folded), lines: linesOf(words.title(node)) }),
    boxOfGroup: (...group) => words.boxOfGroup(...group),
    height: (node) => height + LINE * (linesOf(words.title(node)).length - 1),
    width: (node) => Math.max(minWidth, room(linesOf(words.title(node)), TEXT_START + padding)),
    widthOfGroup: (...group) =>
      room([words.boxOfGroup(...group).title], TAG + 2 * padding + BUTTON + 2 * stack),
  };
}

/** A title in one line or, where it is long and has a blank to be broken at, in two that are about as long. */
function linesIn(title: string, measure: (text: string) => number): readonly string[] {
  if (measure(title) <= ONE_LINE) return [title];
  let best: readonly string[] = [title];
  let width = measure(title);
  for (let at = title.indexOf(" "); at >= 0; at = title.indexOf(" ", at + 1)) {
    // "a + b" is broken behind the sign.
    if (title[at + 1] === "+") continue;
    const lines = [title.slice(0, at), title.slice(at + 1)];
    const longer = largest(lines.map(measure));
    if (longer < width) [best, width] = [lines, longer];
  }
  return best;
}
