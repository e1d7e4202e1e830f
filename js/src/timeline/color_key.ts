import { blockFill, heatStops, kindFill, ramp, type Theme } from "../shared/drawing/theme.ts";
import { counted, duration, integer, percent } from "../shared/format.ts";
import { element, KEEP_KEYS, span } from "../shell/dom.ts";
import { changeFills, changeText } from "./data/change.ts";
import type { KindSum } from "./data/ranking.ts";
import type { TimelineData } from "./descriptions.ts";
import { chip, shareBar } from "./row_table.ts";

const STOPS = 12;

interface KeyHost {
  readonly data: TimelineData;
  readonly selection: { nodes(nodes: readonly number[]): void };
  act(act: () => void): void;
}

/** Key of the slices' colors: the rule, then op kinds or blocks with their times, or a scale; a click selects. */
export class ColorKey {
  readonly node = element("section", { class: "tvmdbg-timeline-kinds tvmdbg-shaded" });
  readonly #host: KeyHost;

  constructor(host: KeyHost, theme: Theme) {
    this.#host = host;
    this.show(theme);
  }

  show(theme: Theme): void {
    const { names, ranking, change } = this.#host.data;
    const { by } = names.colors;
    this.node.setAttribute("aria-label", `colors: ${by === "kind" ? "op kind" : by}`);
    if (change) {
      const row = by === "change" ? this.#differences(theme) : legend(names.colors.rule);
      this.node.replaceChildren(row);
      return;
    }
    const sums = ranking.kinds(names, by === "block");
    const known = names.known || by === "share" ? sums : [];
    const rows = known
      .filter(({ kind }) => !names.colors.byShare(kind))
      .map((sum) => this.#row(sum, sums[0]!.ns, theme));
    const rule = by === "share" ? this.#scale(theme) : rows.length > 0 && this.#rule(by);
    this.node.replaceChildren(...(rule ? [rule] : []), ...rows);
  }

  /** What is colored, and why if the view has chosen it. */
  #rule(by: "block" | "kind" | "change"): HTMLElement {
    const { colors } = this.#host.data.names;
    if (by !== "block") return legend(colors.rule);
    const why =
      colors.chosen === "auto" && colors.kind ? `, as nearly all time is ${colors.kind}` : "";
    return legend(colors.rule + why);
  }

  #row(
    { kind, ns, share: part, count, nodes, block }: KindSum,
    most: number,
    theme: Theme,
  ): HTMLElement {
    const share = percent(part);
    const color = block < 0 ? kindFill(theme, kind) : blockFill(theme, block);
    const button = element(
      "button",
      {
        type: "button",
        title: `select ${counted(nodes.length, this.#host.data.names.item)}, ${kind}: ${duration(ns)}, ${share}`,
        ...KEEP_KEYS,
      },
      chip(color),
      span("kind", kind),
      span("tvmdbg-muted", count ? `${integer(count)}×` : ""),
      span("share", shareBar(ns / (most || 1)), share),
    );
    button.dataset.kind = kind;
    button.addEventListener("click", () => this.#host.act(() => this.#host.selection.nodes(nodes)));
    return button;
  }

  #scale(theme: Theme): HTMLElement {
    const { names, ranking } = this.#host.data;
    const stops = heatStops(theme);
    const colors = Array.from({ length: STOPS + 1 }, (_, i) => ramp(stops, i / STOPS));
    const most = ranking.length ? percent(ranking.shares[0]!) : "";
    const { kind } = names.colors;
    return legend(`${kind ? `${kind} by ` : ""}share of the time: 0 %`, gradient(colors), most);
  }

  /** The scale of differences, and the color of those that may be noise. */
  #differences(theme: Theme): HTMLElement {
    const { most } = this.#host.data.change!;
    const fills = changeFills(theme);
    const noise = span("tvmdbg-nowrap", chip(fills.pop()), " noise or unknown");
    const [saved, lost] = [changeText(-most), changeText(most)];
    return legend(`B − A: ${saved}`, gradient(fills), lost, noise);
  }
}

function legend(text: string, ...more: (Node | string)[]): HTMLElement {
  const nodes = more.map((each) => (typeof each === "string" ? span("", each) : each));
  return element("p", { class: "tvmdbg-timeline-scale" }, span("", `color: ${text}`), ...nodes);
}

function gradient(colors: readonly string[]): HTMLElement {
  const bar = element("i", { class: "tvmdbg-timeline-ramp" });
  bar.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
  return bar;
}
