import { heatStops, kindFill, ramp, type Theme } from "../../shared/drawing/theme.ts";
import { counted, duration, integer, percent } from "../../shared/format.ts";
import { element, KEEP_KEYS } from "../../shared/ui/dom.ts";
import type { Names } from "../data/names.ts";
import type { KindSum, Ranking } from "../data/ranking.ts";

const STOPS = 12;

/** What the colors of slices mean: op kinds or blocks with their time, or how much of the time; a click selects. */
export class ColorKey {
  readonly node = element("section", { class: "tvmdbg-timeline-kinds" });
  readonly #names: Names;
  readonly #ranking: Ranking;
  readonly #pick: (nodes: number[]) => void;

  constructor(names: Names, ranking: Ranking, theme: Theme, pick: (nodes: number[]) => void) {
    this.#names = names;
    this.#ranking = ranking;
    this.#pick = pick;
    this.node.hidden = names.change !== null;
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
    const bar = element("i", { class: "tvmdbg-timeline-share" });
    bar.style.width = `${100 * (ns / (most || 1))}%`;
    const chip = element("i", { class: "tvmdbg-timeline-chip" });
    chip.style.backgroundColor =
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
      chip,
      element("span", { class: "kind" }, kind),
      element("span", { class: "tvmdbg-muted" }, nodes.length ? `${integer(nodes.length)}×` : ""),
      element("span", { class: "share" }, bar, share),
    );
    button.dataset.kind = kind;
    button.addEventListener("click", () => this.#pick(nodes));
    return button;
  }

  #scale(theme: Theme): HTMLElement {
    const stops = heatStops(theme);
    const colors = Array.from({ length: STOPS + 1 }, (_, i) => ramp(stops, i / STOPS));
    const bar = element("i", { class: "tvmdbg-timeline-ramp" });
    bar.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
    const most = this.#ranking.length ? percent(this.#ranking.share(0)) : "";
    const { kind } = this.#names.colors;
    const said = kind ? `${kind} by share of the time: 0 %` : "share of the time: 0 %";
    return element("p", { class: "tvmdbg-timeline-scale" }, said, bar, most);
  }
}
