import { fontFamily, letters } from "../../../../tvmdbg_widgets/figures/tokens.json";
import { largest } from "../many.ts";
import { clean } from "./svg_marks.ts";

/** Widths of letters in em: the wider of DejaVu Sans and Helvetica. */
interface WidthTables {
  /** Of U+0020 … U+007E. */
  ascii: readonly number[];
  narrow: Readonly<Record<string, number>>;
  /** First and last character of a range, and its largest width. */
  wide: readonly (readonly number[])[];
  other: number;
  /** Joiners, soft hyphen, variation selectors: without width. */
  joiners: string;
  /** Chinese and Japanese marks that are as wide as a letter. */
  wideMarks: string;
  /** Of bold text relative to regular. */
  bold: number;
  /** Of U+0020 … U+007E in monospaced fonts. */
  mono: number;
}

const ELLIPSIS = "…";
const MARK = /^[\p{Mn}\p{Me}]$/u;
const SPACING_MARK = /^\p{Mc}$/u;
const TRAILING_SPACE = /[^\S\ufeff]+$/u;

/** Upper bounds of text widths in any font of a figure. */
export class TextWidths {
  readonly font = fontFamily;
  readonly #tables: WidthTables;
  readonly #joiners: ReadonlySet<string>;
  readonly #wideMarks: ReadonlySet<string>;
  readonly #known = new Map<string, number>();

  constructor(tables: WidthTables = letters) {
    this.#tables = tables;
    this.#joiners = new Set(tables.joiners);
    this.#wideMarks = new Set(tables.wideMarks);
  }

  width(text: string, size: number, bold = false, mono = false): number {
    let ems = 0;
    for (const char of text) {
      ems += mono && char >= " " && char <= "~" ? this.#tables.mono : this.#em(char);
    }
    return ems * size * (bold ? this.#tables.bold : 1);
  }

  /** As much of the text as fits (px), cut with an ellipsis; may be "". */
  fit(text: string, room: number, size: number, bold = false, mono = false): string {
    const line = clean(text);
    if (this.width(line, size, bold, mono) <= room) return line;
    const left = room - this.width(ELLIPSIS, size, bold, mono);
    const kept = this.#head(line, left, size, bold, mono);
    return kept ? kept.replace(TRAILING_SPACE, "") + ELLIPSIS : "";
  }

  /** The longest beginning that ends at a good line break. */
  wrap(text: string, room: number, size: number, lines = 12, bold = false): string[] {
    let rest = clean(text).replace(/^ +| +$/g, "");
    const parts: string[] = [];
    while (rest) {
      if (parts.length + 1 === lines || this.width(rest, size, bold) <= room) {
        parts.push(this.fit(rest, room, size, bold));
        break;
      }
      let line = this.#head(rest, room, size, bold);
      if (!line) break;
      if (rest[line.length] !== " ") line = beforeBreak(line);
      parts.push(line.replace(TRAILING_SPACE, ""));
      rest = rest.slice(line.length).replace(/^ +/, "");
    }
    return parts.filter((line) => line);
  }

  #head(text: string, room: number, size: number, bold: boolean, mono = false): string {
    let [kept, left] = ["", room];
    for (const cluster of this.clusters(text)) {
      left -= this.width(cluster, size, bold, mono);
      if (left < 0) break;
      kept += cluster;
    }
    return kept;
  }

  /** Grapheme clusters of a text: a letter with its marks, an emoji with its parts. */
  *clusters(text: string): Generator<string> {
    let [cluster, last, flags] = ["", "", 0];
    for (const char of text) {
      flags = char >= "\u{1f1e6}" && char <= "\u{1f1ff}" ? flags + 1 : 0;
      const together =
        this.joins(char) ||
        SPACING_MARK.test(char) ||
        (char >= "\u{1f3fb}" && char <= "\u{1f3ff}") ||
        last === "\u200d" ||
        (flags > 0 && flags % 2 === 0);
      if (cluster && !together) {
        yield cluster;
        cluster = "";
      }
      cluster += char;
      last = char;
    }
    if (cluster) yield cluster;
  }

  /** True if a character is drawn onto the one before it and takes no room. */
  joins(char: string): boolean {
    return this.#joiners.has(char) || (MARK.test(char) && !this.#wideMarks.has(char));
  }

  #em(char: string): number {
    const known = this.#known.get(char);
    if (known !== undefined) return known;
    const em = this.#widthOf(char);
    if (this.#known.size > 4096) this.#known.clear();
    this.#known.set(char, em);
    return em;
  }

  #widthOf(char: string): number {
    const { ascii, narrow, wide, other } = this.#tables;
    const code = char.codePointAt(0)!;
    if (code >= 0x20 && code <= 0x7e) return ascii[code - 0x20]!;
    if (Object.hasOwn(narrow, char)) return narrow[char]!;
    if (this.joins(char)) return 0;
    return wide.find(([first, last]) => first! <= code && code <= last!)?.[2] ?? other;
  }
}

/** The part of a line before its best break, if the next word does not fit. */
function beforeBreak(line: string): string {
  const chars = Array.from(line);
  const half = chars.length / 2;
  const space = chars.lastIndexOf(" ");
  if (space > half) return chars.slice(0, space).join("");
  const mark = largest(Array.from("_/.:-", (sign) => chars.lastIndexOf(sign)));
  if (mark > half) return chars.slice(0, mark + 1).join("");
  return space > 0 ? chars.slice(0, space).join("") : line;
}
