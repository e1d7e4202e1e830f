import { element, KEEP_KEYS } from "../shared/dom.ts";
import { duration } from "../shared/format.ts";
import type { Theme } from "../shared/theme.ts";
import type { Names } from "./names.ts";
import type { Ranking } from "./ranking.ts";
import { counted, shareText } from "./words.ts";

/** Time by op kind: one bar, and a button a kind that selects all its nodes. */
export class KindSummary {
  readonly node: HTMLElement;
  readonly #painted: { kind: string; node: HTMLElement }[] = [];

  constructor(names: Names, ranking: Ranking, theme: Theme, pick: (nodes: number[]) => void) {
    const bar = element("div", { class: "tvmdbg-timeline-kindbar", "aria-hidden": "true" });
    const legend = element("div", { class: "tvmdbg-timeline-legend" });
    for (const { kind, ns, nodes } of ranking.kinds(names)) {
      const title = `select the ${counted(nodes.length, "node")} of kind ${kind}: ${duration(ns)}, ${shareText(ns / ranking.total)}`;
      const part = element("span", { title });
      part.style.flexGrow = String(ns / (ranking.total || 1));
      const chip = element("i", { class: "tvmdbg-timeline-chip" });
      const button = element(
        "button",
        { type: "button", title, ...KEEP_KEYS },
        chip,
        `${kind} `,
        element("b", {}, shareText(ns / ranking.total)),
        element("small", {}, ` ${nodes.length}×`),
      );
      button.dataset.kind = kind;
      for (const each of [part, button]) each.addEventListener("click", () => pick(nodes));
      this.#painted.push({ kind, node: part }, { kind, node: chip });
      bar.append(part);
      legend.append(button);
    }
    this.node = element(
      "section",
      { class: "tvmdbg-timeline-kinds", "aria-label": "time by op kind" },
      bar,
      legend,
    );
    this.retheme(theme);
  }

  retheme(theme: Theme): void {
    for (const { kind, node } of this.#painted) node.style.backgroundColor = theme.kind(kind);
  }
}
