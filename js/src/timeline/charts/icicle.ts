import { inkOn, type Theme } from "../../shared/drawing/theme.ts";
import { duration, percent } from "../../shared/format.ts";
import { lowerBound } from "../../shared/sorted.ts";
import type { Title } from "../data/titles.ts";
import type { MergedTree, Places } from "../sums/merged_tree.ts";
import type { Box, Brush } from "./brush.ts";

const [LEAST_LEVEL, MOST_LEVEL, TWO_LINES] = [20, 36, 32];
/** From this width on a box is told apart from its neighbors, and from the next it may bear a text. */
const APART = 3;
const LABELLED = 24;
const FAINT = 0.3;

/** What the keys of places are called and filled with. */
export interface PlaceNames {
  node(key: number): number;
  /** Number of a group, -1 of an operator. */
  group(key: number): number;
  title(key: number): string;
  titleOf(key: number): Title;
  fill(theme: Theme, key: number): string;
}

/** Draws a merged tree as boxes: what lies inside stands below (or above), as wide as its total. */
export class Icicle<T extends Places = MergedTree> {
  readonly called: PlaceNames;
  tree: T;
  /** The place that has the whole width, -1 for all. */
  zoomed = -1;
  /** Boxes grow upwards: callers of what is at the bottom. */
  readonly upwards: boolean;
  /** Height of a box. */
  level = LEAST_LEVEL;
  /** By place how many before it were found; null: nothing is sought. */
  #found: Int32Array | null = null;

  constructor(tree: T, called: PlaceNames, upwards = false) {
    this.tree = tree;
    this.called = called;
    this.upwards = upwards;
  }

  /** Marks places as found; null: nothing is sought. */
  light(hit: ((key: number) => boolean) | null): void {
    if (!hit) {
      this.#found = null;
      return;
    }
    const known = new Map<number, boolean>();
    this.#found = new Int32Array(this.tree.size + 1);
    this.tree.key.forEach((key, place) => {
      const lit = known.get(key) ?? hit(key);
      known.set(key, lit);
      this.#found![place + 1] = this.#found![place]! + (lit ? 1 : 0);
    });
  }

  /** What part of the tree has the whole width. */
  get shown(): [from: number, to: number] {
    const { start, total, whole } = this.tree;
    if (this.zoomed < 0) return [0, whole];
    return [start[this.zoomed]!, start[this.zoomed]! + total[this.zoomed]!];
  }

  /** Takes as much of the room as makes its boxes legible; tells how high it is. */
  fit(room: number): number {
    const each = Math.floor(room / Math.max(1, this.tree.depths));
    this.level = Math.min(Math.max(LEAST_LEVEL, each), MOST_LEVEL);
    return this.tree.depths * this.level;
  }

  /** The box of a place in a stage of that size; null where it is out of view. */
  box(place: number, width: number, height: number, scroll = 0): Box | null {
    if (place < 0 || place >= this.tree.size) return null;
    const [from, to] = this.shown;
    const scale = width / (to - from || 1);
    const { start, total, depth } = this.tree;
    const left = Math.max(0, (start[place]! - from) * scale);
    const right = Math.min(width, (start[place]! + total[place]! - from) * scale);
    if (right <= 0 || left >= width) return null;
    const x = Math.min(left, width - 2);
    return {
      x,
      y: this.#top(depth[place]!, height) - scroll,
      width: Math.max(2, right - x),
      height: this.level,
    };
  }

  /** Level and time under a point. */
  at(x: number, y: number, width: number, height: number, scroll = 0): [level: number, ns: number] {
    const level = Math.floor((this.upwards ? height - y : y + scroll) / this.level);
    const [from, to] = this.shown;
    return [level, from + (x / width) * (to - from)];
  }

  paint(brush: Brush, width: number, height: number, scroll = 0): void {
    const { levels, start } = this.tree;
    const [from, to] = this.shown;
    if (to <= from) return;
    const scale = width / (to - from);
    for (let level = 0; level < this.tree.depths; level++) {
      const [first, last] = [levels[level]!, levels[level + 1]!];
      const y = this.#top(level, height) - scroll;
      if (y > height || y + this.level < 0) continue;
      let at = Math.max(first, lowerBound(start, from, first, last) - 1);
      while (at < last && start[at]! < to) {
        const x = (start[at]! - from) * scale;
        const wide = this.tree.total[at]! * scale;
        if (x + wide <= 0 || wide === 0) {
          at++;
          continue;
        }
        if (wide >= APART) {
          this.#place(brush, at++, Math.max(0, x), y, Math.min(width, x + wide));
          continue;
        }
        // What is too narrow to be told apart is one column of so many pixels; only the last to begin there can be wide.
        const column = from + (Math.floor(x) + APART) / scale;
        let next = Math.max(at + 1, lowerBound(start, column, at, last));
        if (this.tree.total[next - 1]! * scale >= APART) next--;
        this.#many(brush, at, next, Math.floor(x), y, scale, from);
        at = next;
      }
    }
  }

  #top(level: number, height: number): number {
    return this.upwards ? height - (level + 1) * this.level : level * this.level;
  }

  #lit(from: number, to: number): boolean {
    return !this.#found || this.#found[to]! > this.#found[from]!;
  }

  #place(brush: Brush, place: number, x: number, y: number, right: number): void {
    const key = this.tree.key[place]!;
    const isGroup = this.called.group(key) >= 0;
    const { theme } = brush;
    const lit = this.#lit(place, place + 1);
    const color = isGroup ? theme.surface : this.called.fill(theme, key);
    const width = right - x - 1;
    brush.fill(color, x, y, width, this.level - 1, lit ? 1 : FAINT);
    if (isGroup) brush.fill(theme.line, x, y + this.level - 2, width, 1);
    if (this.#found && lit) brush.fill(theme.warning, x, y, width, 3);
    const { total, self, count } = this.tree;
    brush.drawn.marks.push({
      ...{ x, y, width, height: this.level - 1, place, key, node: this.called.node(key) },
      ...{ label: this.called.title(key), total: total[place], self: self[place] },
      ...{ count: count[place], lit },
    });
    if (width < LABELLED) return;
    const ink = !lit || isGroup ? theme.text : inkOn(color);
    const [from, to] = this.shown;
    const share = total[place]! / (to - from);
    const told = `${duration(total[place]!)}${share > 1 ? "" : ` · ${percent(share)}`}`;
    const room = width - 8;
    const weight = isGroup ? "600" : "normal";
    const two = this.level >= TWO_LINES;
    const middle = y + this.level / (two ? 3 : 2) - 0.5;
    const title = this.called.titleOf(key);
    const used = brush.title(title, x + 4, middle, ink, room, weight);
    if (!used && title.id) brush.number(title.id, x + 2, middle, ink, width - 3);
    if (two) brush.number(told, x + 4, y + (this.level * 2) / 3 + 1, ink, room);
    else if (used) brush.number(told, right - 5, middle, ink, room - used - 12, true);
  }

  #many(
    brush: Brush,
    first: number,
    last: number,
    x: number,
    y: number,
    scale: number,
    from: number,
  ): void {
    const { start, total } = this.tree;
    const right = (start[last - 1]! + total[last - 1]! - from) * scale;
    const lit = this.#lit(first, last);
    const width = Math.max(1, Math.min(APART, right - x));
    brush.fill(brush.theme.muted, x, y, width, this.level - 1, lit ? 0.7 : FAINT);
    if (this.#found && lit) brush.fill(brush.theme.warning, x, y, width, 3);
  }
}
