import { compactWords } from "../placed/compact_words.ts";
import type { BoxTexts } from "../placed/scene.ts";
import type { GraphSheet } from "./sheet.ts";

/** The words of boxes, those that tell most first. */
export function wordings({ words, model, request }: GraphSheet): BoxTexts[] {
  if (request.options.label.includes("\n")) return [words];
  const compact = [true, false].map((tells) => compactWords(numbered(words), model.labels, tells));
  return [words, ...compact];
}

/** The same with the id of a node before its title: nobody can ask a figure for it. */
function numbered(words: BoxTexts): BoxTexts {
  return {
    compact: words.compact,
    valued: words.valued,
    heightOfGroup: words.heightOfGroup,
    title: (node) => `#${node} ${words.title(node)}`,
    box: (node, folded) => words.box(node, folded),
    boxOfGroup: (...group) => words.boxOfGroup(...group),
    height: (node) => words.height(node),
    width: (node, folded) => words.width(node, folded),
    widthOfGroup: (...group) => words.widthOfGroup(...group),
  };
}
