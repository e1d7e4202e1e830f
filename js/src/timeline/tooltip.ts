import { heatStops, kindFill, ramp, type Theme } from "../shared/drawing/theme.ts";
import { counted, duration, integer, percent } from "../shared/format.ts";
import { div, element, KEEP_KEYS, span } from "../shell/dom.ts";
import { factList, Tooltip } from "../shell/tooltip.ts";
import type { Names } from "./data/names.ts";
import type { KindSum, Ranking } from "./data/ranking.ts";
import type { SliceDescriptions, TimelineData } from "./descriptions.ts";
import { chip, shareBar } from "./row_table.ts";
import type { TimelineHit, TimelineScene } from "./tracks/scene.ts";

const STOPS = 12;

interface KeyHost {
  readonly data: TimelineData;
  readonly selection: { nodes(nodes: readonly number[]): void };
  act(act: () => void): void;
}

/** Key of the slices' colors: op kinds or blocks with their times, or shares of the time; a click selects. */
export class ColorKey {
  readonly node = element("section", { class: "tvmdbg-timeline-kinds" });
  readonly #names: Names;
  readonly #ranking: Ranking;
  readonly #host: KeyHost;

  constructor(host: KeyHost, theme: Theme) {
    this.#names = host.data.names;
    this.#ranking = host.data.ranking;
    this.#host = host;
    this.node.hidden = host.data.change !== null;
    this.show(theme);
  }

  show(theme: Theme): void {
    const { by } = this.#names.colors;
    this.node.setAttribute("aria-label", `colors: ${by === "kind" ? "op kind" : by}`);
    const sums = this.#ranking.kinds(this.#names, by === "block");
    const known = this.#names.known || by === "share" ? sums : [];
    this.node.replaceChildren(
      ...(by === "share" ? [this.#scale(theme)] : []),
      ...known
        .filter(({ kind }) => !this.#names.colors.byShare(kind))
        .map((sum) => this.#row(sum, sums[0]!.ns, theme)),
    );
  }

  #row({ kind, ns, share: part, nodes }: KindSum, most: number, theme: Theme): HTMLElement {
    const share = percent(part);
    const color =
      nodes.length && kind === this.#names.opKind(nodes[0]!)
        ? this.#names.fill(theme, nodes[0]!, -1)
        : kindFill(theme, kind);
    const button = element(
      "button",
      {
        type: "button",
        title: `select ${counted(nodes.length, this.#names.item)}, ${kind}: ${duration(ns)}, ${share}`,
        ...KEEP_KEYS,
      },
      chip(color),
      span("kind", kind),
      span("tvmdbg-muted", nodes.length ? `${integer(nodes.length)}×` : ""),
      span("share", shareBar(ns / (most || 1)), share),
    );
    button.dataset.kind = kind;
    button.addEventListener("click", () => this.#host.act(() => this.#host.selection.nodes(nodes)));
    return button;
  }

  #scale(theme: Theme): HTMLElement {
    const stops = heatStops(theme);
    const colors = Array.from({ length: STOPS + 1 }, (_, i) => ramp(stops, i / STOPS));
    const bar = element("i", { class: "tvmdbg-timeline-ramp" });
    bar.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
    const most = this.#ranking.length ? percent(this.#ranking.shares[0]!) : "";
    const { kind } = this.#names.colors;
    const label = kind ? `${kind} by share of the time: 0 %` : "share of the time: 0 %";
    return element("p", { class: "tvmdbg-timeline-scale" }, label, bar, most);
  }
}

export class SliceTooltip extends Tooltip {
  readonly #scene: TimelineScene;
  readonly #words: SliceDescriptions;

  constructor(scene: TimelineScene, words: SliceDescriptions, signal: AbortSignal) {
    super(signal, "tvmdbg-timeline-tooltip");
    this.#scene = scene;
    this.#words = words;
  }

  /** Shows a hit beside a point of a part of the view. */
  showHit(hit: TimelineHit, part: HTMLElement, x: number, y: number): void {
    const key = "slice" in hit ? `${hit.slice} ${hit.instants}` : `gap ${hit.gap.from}`;
    this.show(key, () => this.#content(hit), part, x, y);
  }

  #content(hit: TimelineHit): Node[] {
    if (!("slice" in hit)) {
      const { track, from, to } = hit.gap;
      const { name } = this.#scene.slices.tracks[track]!;
      return [
        element("strong", {}, `idle for ${duration(to - from)}`),
        element("div", {}, `${name}, from ${duration(from)} to ${duration(to)}`),
      ];
    }
    const { names, slices } = this.#scene;
    const node = slices.nodeOf(hit.slice);
    const recorded = slices.nameOf(hit.slice);
    const title = this.#words.title(hit.slice);
    const full = names.fullName(node) || recorded;
    const name = title === full ? "" : full;
    const others = hit.instants - 1;
    return [
      element("strong", {}, title),
      ...(name ? [div("tvmdbg-muted", name)] : []),
      factList(this.#words.ofSlice(hit.slice, true)),
      ...(others > 0
        ? [div("tvmdbg-muted", `and ${counted(others, "more slice")}, ${slices.noTime}, here`)]
        : []),
    ];
  }
}
