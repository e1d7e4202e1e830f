import type { Command, Commands } from "./commands.ts";

/** The first commands found, the best first, and how many there are. */
export interface Matches {
  commands: Command[];
  total: number;
}

/** How well a text matches: by all words as they follow each other, at its beginning, at beginnings of its words, anywhere. */
const RANKS = 4;

/** Finds the commands that hold every word of a query; those of the sources that come first go first among equals. */
export function matching(sources: readonly Commands[], query: string, most: number): Matches {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked: [source: Commands, index: number][][] = Array.from({ length: RANKS }, () => []);
  for (const source of sources) {
    for (const [index, text] of source.texts.entries()) {
      if (words.every((word) => text.includes(word))) {
        ranked[rank(text, words)]!.push([source, index]);
      }
    }
  }
  const found = ranked.flat();
  return {
    commands: found.slice(0, most).map(([source, index]) => source.at(index)),
    total: found.length,
  };
}

function rank(text: string, words: readonly string[]): number {
  if (words.length > 1 && holdsPhrase(text, words.join(" "))) return 0;
  if (!words.every((word) => beginsWord(text, word))) return 3;
  return text.startsWith(words[0] ?? "") ? 1 : 2;
}

/** Whether a text holds words one after the other, whole. */
function holdsPhrase(text: string, phrase: string): boolean {
  const at = ` ${text}`.indexOf(` ${phrase}`);
  return at >= 0 && !/\w/.test(text[at + phrase.length] ?? "");
}

function beginsWord(text: string, word: string): boolean {
  return text.startsWith(word) || text.includes(` ${word}`) || text.includes(`#${word}`);
}
