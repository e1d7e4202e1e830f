import type { Command, Commands } from "./commands.ts";

/** The first commands found, the best first, and how many there are. */
export interface Matches {
  commands: Command[];
  total: number;
}

/** How well a text matches: at its beginning, at beginnings of its words, anywhere. */
const RANKS = 3;

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
  if (!words.every((word) => beginsWord(text, word))) return 2;
  return text.startsWith(words[0] ?? "") ? 0 : 1;
}

function beginsWord(text: string, word: string): boolean {
  return text.startsWith(word) || text.includes(` ${word}`) || text.includes(`#${word}`);
}
