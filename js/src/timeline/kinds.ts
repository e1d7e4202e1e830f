import { element, KEEP_KEYS } from "../shared/dom.ts";
import { counted, duration, percent } from "../shared/format.ts";
import { kindFill, type Theme } from "../shared/theme.ts";
import type { Names } from "./names.ts";
import type { Ranking } from "./ranking.ts";

/** Time by op kind; a click on one selects all its nodes. */
export class KindSummary {
  readonly node: HTMLElement;
  readonly #chips: { kind: string; chip: HTMLElement }[] = [];

  constructor(names: Names, ranking: Ranking, theme: Theme, pick: (nodes: number[]) => void) {
    const most = ranking.kinds(names);
    const rows = most.map(({ kind, ns, nodes }) => {
      const share = percent(ns / ranking.total);
      const bar = element("i", { class: "tvmdbg-timeline-share" });
      bar.style.width = `${100 * (ns / (most[0]!.ns || 1))}%`;
      const chip = element("i", { class: "tvmdbg-timeline-chip" });
      const button = element(
        "button",
        {
          type: "button",
          title: `select the ${counted(nodes.length, "node")} of kind ${kind}: ${duration(ns)}, ${share}`,
          ...KEEP_KEYS,
        },
        chip,
        element("span", { class: "kind" }, kind),
        element("span", { class: "tvmdbg-muted" }, `${nodes.length}×`),
        element("span", { class: "share" }, bar, share),
      );
      button.dataset.kind = kind;
      button.addEventListener("click", () => pick(nodes));
      this.#chips.push({ kind, chip });
      return button;
    });
    this.node = element(
      "section",
      { class: "tvmdbg-timeline-kinds", "aria-label": "time by op kind" },
      ...rows,
    );
    this.node.hidden = !names.known || names.change !== null;
    this.retheme(theme);
  }

  retheme(theme: Theme): void {
    for (const { kind, chip } of this.#chips) chip.style.backgroundColor = kindFill(theme, kind);
  }
}
