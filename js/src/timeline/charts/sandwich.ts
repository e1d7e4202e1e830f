import { counted, duration, percent } from "../../shared/format.ts";
import { element } from "../../shared/ui/dom.ts";
import { type ByRow, type ByRows, callees, callers, outermost, placesOf } from "../sums/by_rows.ts";
import type { Called } from "../sums/called.ts";
import { MergedTree } from "../sums/merged_tree.ts";
import type { Brush } from "./brush.ts";
import type { ChartHost } from "./chart.ts";
import { Icicle } from "./icicle.ts";
import { Stage, shifted } from "./stage.ts";

const LINE = 16;

/** One name in the middle: above who calls it, below what it calls, as wide as the time that is theirs. */
export class Sandwich {
  readonly node: HTMLElement;
  readonly #called: Called;
  readonly #stage: Stage;
  readonly #title = element("p", { class: "tvmdbg-muted" });
  #above: Icicle | null = null;
  #below: Icicle | null = null;
  #whole = 0;
  #hovered: [icicle: Icicle, place: number] | null = null;

  constructor(host: ChartHost, called: Called) {
    this.#called = called;
    this.#stage = new Stage(
      "tvmdbg-timeline-icicle",
      {
        paint: (brush, width, height) => this.#paint(brush, width, height),
        over: (brush, width, height) => {
          if (!this.#hovered) return;
          const [icicle, place] = this.#hovered;
          const top = icicle === this.#below ? height / 2 : 0;
          const box = icicle.box(place, width, height / 2);
          if (box)
            brush.frame(
              { ...box, y: box.y + top, width: box.width - 1, height: box.height - 1 },
              1,
            );
        },
        move: (at) => this.#hover(at),
        click: (x, y) => {
          const found = this.#at(x, y);
          if (!found) return;
          const [icicle, place] = found;
          const key = icicle.tree.key[place]!;
          const nodes = called.nodes(key);
          const { slices } = host.data;
          let slice = 0;
          while (!nodes.length && slice < slices.count && called.operators.of(slice) !== key)
            slice++;
          if (nodes.length) host.pick(nodes);
          else host.pick([], slice);
        },
      },
      host.signal,
    );
    this.node = element(
      "div",
      { class: "tvmdbg-timeline-sandwich" },
      this.#title,
      this.#stage.node,
    );
  }

  show(rows: ByRows, row: ByRow | null): void {
    const key = row?.operators[0];
    if (key === undefined) return;
    const places = outermost(rows.tree, placesOf(rows.tree, key));
    this.#above = new Icicle(
      new MergedTree(callers(rows.tree, places, rows.tree.total)),
      this.#called,
      true,
    );
    this.#below = new Icicle(new MergedTree(callees(rows.tree, places)), this.#called);
    this.#whole = this.#below.tree.whole;
    this.#hovered = null;
    const self = this.#below.tree.self[0] ?? 0;
    this.#title.textContent =
      `${this.#called.title(key)}: ${duration(this.#whole)} with callees, ` +
      `${this.#called.told(self)} self time; callers above, callees below`;
    this.#stage.changed();
  }

  retheme(): void {
    this.#stage.changed();
  }

  inspect(out: Record<string, unknown>): void {
    out.sandwich = shifted(this.#stage, this.node);
  }

  #paint(brush: Brush, width: number, height: number): void {
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
      context.save();
      context.beginPath();
      context.rect(0, top, width, half);
      context.clip();
      context.translate(0, top);
      icicle.paint(brush, width, half);
      context.restore();
      const side = icicle === this.#above ? "callers" : "callees";
      for (const each of brush.drawn.labels) before.labels.push({ ...each, y: each.y + top });
      for (const each of brush.drawn.marks) before.marks.push({ ...each, y: each.y + top, side });
      brush.drawn = before;
    }
    brush.fill(theme.text, 0, half - 1, width, 2);
  }

  #at(x: number, y: number): [Icicle, number] | null {
    const { width, height } = this.#stage;
    const half = height / 2;
    const icicle = y < half ? this.#above : this.#below;
    const place = icicle
      ? icicle.tree.at(...icicle.at(x, y < half ? y : y - half, width, half))
      : -1;
    return icicle && place >= 0 ? [icicle, place] : null;
  }

  #hover(at: { x: number; y: number } | null): void {
    this.#hovered = at && this.#at(at.x, at.y);
    this.#stage.touched();
    if (!this.#hovered) {
      this.node.title = "";
      return;
    }
    const [icicle, place] = this.#hovered;
    const { key, total, count } = icicle.tree;
    const share = percent(total[place]! / this.#whole);
    this.node.title = `${this.#called.title(key[place]!)}: ${duration(total[place]!)}, ${share}, ${counted(count[place]!, "slice")}`;
  }
}
