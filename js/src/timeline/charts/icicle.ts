import type { ChartBrush } from "../../shared/drawing/brush.ts";
import type { Rectangle } from "../../shared/drawing/canvas.ts";
import { inkOn, type Theme } from "../../shared/drawing/theme.ts";
import { counted, duration, percent } from "../../shared/format.ts";
import { lowerBound } from "../../shared/many.ts";
import { div, element } from "../../shell/dom.ts";
import type { PointerSpot } from "../../shell/pointer.ts";
import type { KeyNames } from "../data/key_names.ts";
import {
  callees,
  callers,
  MergedTree,
  outermost,
  placesOf,
  type TreePlaces,
} from "../data/merged_tree.ts";
import { type Title, writeTitle } from "../data/names.ts";
import { type ChartHost, ChartStage, type StageChart } from "./stage.ts";

const [LEAST_LEVEL, MOST_LEVEL, TWO_LINES] = [20, 36, 32];
/** Width from which a box has a gap to its neighbors, and width from which it may have a text. */
const APART = 3;
const LABELLED = 24;
const FAINT = 0.3;

export interface PlaceNames {
  node(key: number): number;
  /** True for a group of the graph. */
  isGroup?(key: number): boolean;
  title(key: number): string;
  titleOf(key: number): Title;
  fill(theme: Theme, key: number): string;
}

/** Draws a merged tree as boxes: children below (or above) their parent, as wide as their total. */
export class Icicle<T extends TreePlaces = MergedTree> {
  /** The place with the full width, -1 for all. */
  zoomed = -1;
  /** Boxes grow upwards: callers of the lowest. */
  readonly upwards: boolean;
  level = LEAST_LEVEL;
  #hits: Int32Array | null = null;

  constructor(
    public tree: T,
    readonly called: PlaceNames,
    upwards = false,
  ) {
    this.upwards = upwards;
  }

  /** Marks places as hits; null ends the search. */
  light(hit: ((key: number) => boolean) | null): void {
    if (!hit) {
      this.#hits = null;
      return;
    }
    const known = new Map<number, boolean>();
    this.#hits = new Int32Array(this.tree.size + 1);
    this.tree.key.forEach((key, place) => {
      const lit = known.get(key) ?? hit(key);
      known.set(key, lit);
      this.#hits![place + 1] = this.#hits![place]! + (lit ? 1 : 0);
    });
  }

  /** Range of the tree with the full width. */
  get shown(): [from: number, to: number] {
    const { start, total, whole } = this.tree;
    if (this.zoomed < 0) return [0, whole];
    return [start[this.zoomed]!, start[this.zoomed]! + total[this.zoomed]!];
  }

  /** Takes as much height as makes its boxes legible; returns it. */
  fit(room: number): number {
    const height = Math.floor(room / Math.max(1, this.tree.depths));
    this.level = Math.min(Math.max(LEAST_LEVEL, height), MOST_LEVEL);
    return this.tree.depths * this.level;
  }

  /** Box of a place in a stage of this size; null if it is not visible. */
  box(place: number, width: number, height: number, scroll = 0): Rectangle | null {
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

  paint(brush: ChartBrush, width: number, height: number, scroll = 0): void {
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
        // Tiny neighbors are merged into one column of this many pixels; only the last to begin there can be wide.
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
    return !this.#hits || this.#hits[to]! > this.#hits[from]!;
  }

  #place(brush: ChartBrush, place: number, x: number, y: number, right: number): void {
    const key = this.tree.key[place]!;
    const isGroup = this.called.isGroup?.(key) ?? false;
    const { theme } = brush;
    const lit = this.#lit(place, place + 1);
    const color = isGroup ? theme.surface : this.called.fill(theme, key);
    const width = right - x - 1;
    brush.fill(color, x, y, width, this.level - 1, lit ? 1 : FAINT);
    if (isGroup) brush.fill(theme.line, x, y + this.level - 2, width, 1);
    if (this.#hits && lit) brush.fill(theme.warning, x, y, width, 3);
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
    const size = `${duration(total[place]!)}${share > 1 ? "" : ` · ${percent(share)}`}`;
    const room = width - 8;
    const weight = isGroup ? "600" : "normal";
    const two = this.level >= TWO_LINES;
    const middle = y + this.level / (two ? 3 : 2) - 0.5;
    const title = this.called.titleOf(key);
    const used = writeTitle(brush, title, x + 4, middle, ink, room, weight);
    if (!used && title.id) brush.number(title.id, x + 2, middle, ink, width - 3);
    if (two) brush.number(size, x + 4, y + (this.level * 2) / 3 + 1, ink, room);
    else if (used) brush.number(size, right - 5, middle, ink, room - used - 12, true);
  }

  #many(
    brush: ChartBrush,
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
    if (this.#hits && lit) brush.fill(brush.theme.warning, x, y, width, 3);
  }
}

const LINE = 16;

/** One name in the middle, its callers above, its callees below, as wide as its part of their time. */
export class Sandwich implements StageChart {
  readonly node: HTMLElement;
  readonly #host: ChartHost;
  readonly #called: KeyNames;
  readonly stage: ChartStage;
  readonly #title = element("p", { class: "tvmdbg-muted" });
  #above: Icicle | null = null;
  #below: Icicle | null = null;
  #whole = 0;
  #hovered: [icicle: Icicle, place: number] | null = null;

  constructor(host: ChartHost, called: KeyNames) {
    this.#host = host;
    this.#called = called;
    this.stage = new ChartStage("tvmdbg-timeline-icicle", this, host);
    this.node = div("tvmdbg-timeline-sandwich", this.#title, this.stage.node);
  }

  show(tree: MergedTree, key: number): void {
    const places = outermost(tree, placesOf(tree, key));
    const above = new MergedTree(callers(tree, places, tree.total));
    this.#above = new Icicle(above, this.#called, true);
    this.#below = new Icicle(new MergedTree(callees(tree, places)), this.#called);
    this.#whole = this.#below.tree.whole;
    this.#hovered = null;
    const self = this.#below.tree.self[0] ?? 0;
    this.#title.textContent =
      `${this.#called.title(key)}: ${duration(this.#whole)} with callees, ` +
      `${this.#called.slices.timeText(self)} self time; callers above, callees below`;
    this.stage.changed();
  }

  paint(brush: ChartBrush, width: number, height: number): void {
    const half = height / 2;
    const { context, theme } = brush;
    for (const [icicle, top] of [
      [this.#above, 0],
      [this.#below, half],
    ] as const) {
      if (!icicle) continue;
      icicle.fit(half - LINE);
      const before = brush.drawn;
      brush.drawn = { labels: [], marks: [] };
      brush.clip(0, top, width, half);
      context.translate(0, top);
      icicle.paint(brush, width, half);
      context.restore();
      const side = icicle === this.#above ? "callers" : "callees";
      for (const label of brush.drawn.labels) before.labels.push({ ...label, y: label.y + top });
      for (const mark of brush.drawn.marks) before.marks.push({ ...mark, y: mark.y + top, side });
      brush.drawn = before;
    }
    brush.fill(theme.text, 0, half - 1, width, 2);
  }

  over(brush: ChartBrush, width: number, height: number): void {
    if (!this.#hovered) return;
    const [icicle, place] = this.#hovered;
    const top = icicle === this.#below ? height / 2 : 0;
    const box = icicle.box(place, width, height / 2);
    if (!box) return;
    brush.frame({ ...box, y: box.y + top, width: box.width - 1, height: box.height - 1 }, 1);
  }

  click({ x, y }: PointerSpot, event: MouseEvent): void {
    const hit = event.button === 0 ? this.#at(x, y) : null;
    if (!hit) return;
    const key = hit[0].tree.key[hit[1]]!;
    const nodes = this.#called.nodes(key);
    const { slices } = this.#host.data;
    const { operators } = this.#called;
    let slice = 0;
    while (!nodes.length && slice < slices.count && operators.of(slice) !== key) slice++;
    this.#host.choose("table", nodes, nodes.length ? undefined : slice);
  }

  #at(x: number, y: number): [Icicle, number] | null {
    const { width, height } = this.stage;
    const half = height / 2;
    const icicle = y < half ? this.#above : this.#below;
    const place = icicle
      ? icicle.tree.at(...icicle.at(x, y < half ? y : y - half, width, half))
      : -1;
    return icicle && place >= 0 ? [icicle, place] : null;
  }

  leave(): void {
    this.#hovered = null;
    this.stage.touched();
    this.node.title = "";
  }

  hover({ x, y }: PointerSpot): void {
    this.#hovered = this.#at(x, y);
    if (!this.#hovered) {
      this.leave();
      return;
    }
    this.stage.touched();
    const [icicle, place] = this.#hovered;
    const { key, total, count } = icicle.tree;
    const share = percent(total[place]! / this.#whole);
    this.node.title = `${this.#called.title(key[place]!)}: ${duration(total[place]!)}, ${share}, ${counted(count[place]!, "slice")}`;
  }
}
