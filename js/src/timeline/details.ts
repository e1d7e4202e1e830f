import { element } from "../shared/dom.ts";
import { duration } from "../shared/format.ts";
import type { Theme } from "../shared/theme.ts";
import type { Area } from "./area.ts";
import { largeStrip } from "./distribution.ts";
import type { Names } from "./names.ts";
import type { Ranking } from "./ranking.ts";
import type { Slices } from "./slices.ts";
import { counted, NO_REPEATS, NOISY_RULE, shareText, type Words } from "./words.ts";

/** What is selected, in full: facts, repeats, or the sum over a range. */
export class Details {
  readonly node = element("section", { class: "tvmdbg-timeline-details", "aria-label": "details" });
  readonly #slices: Slices;
  readonly #names: Names;
  readonly #ranking: Ranking;
  readonly #words: Words;

  constructor(parts: { slices: Slices; names: Names; ranking: Ranking; words: Words }) {
    this.#slices = parts.slices;
    this.#names = parts.names;
    this.#ranking = parts.ranking;
    this.#words = parts.words;
  }

  showSlice(slice: number, theme: Theme): void {
    const node = this.#slices.columns.sliceNode[slice]!;
    this.#show(
      this.#heading(this.#words.title(slice), node, theme),
      this.#words.ofSlice(slice),
      node,
    );
  }

  showNode(node: number, theme: Theme): void {
    const facts = this.#words.ofNode(node);
    if (!facts.length) facts.push(["time", "unknown: neither trace nor table speaks of this node"]);
    facts.unshift(["slice", "none"]);
    this.#show(this.#heading(this.#words.nodeTitle(node), node, theme), facts, node);
  }

  showMany(nodes: readonly number[]): void {
    const { nodeNs } = this.#slices.columns;
    const sum = nodes.reduce((total, node) => total + (nodeNs[node] || 0), 0);
    this.node.replaceChildren(
      element("h4", {}, `${counted(nodes.length, "node")} selected`),
      facts([["Σ mean times", `${duration(sum)}, ${shareText(sum / this.#ranking.total)} of all`]]),
    );
  }

  showArea(found: Area): void {
    const span = found.to - found.from;
    const rows: [string, string][] = [
      ["range", `${duration(found.from)} … ${duration(found.to)} (${duration(span)})`],
      ["slices", `${counted(found.slices, "slice")}, ${found.instants} of no duration`],
      ["Σ time inside", duration(found.sum)],
    ];
    for (const track of found.tracks) {
      const gap = track.gaps ? `, longest ${duration(track.longestGap)}` : "";
      rows.push([
        track.name,
        `busy ${shareText(track.busy / span)} (${duration(track.busy)}), ${counted(track.gaps, "gap")}${gap}`,
      ]);
    }
    if (found.top) {
      rows.push(["most time", `${this.#words.title(found.top.slice)}, ${duration(found.top.ns)}`]);
    }
    this.node.replaceChildren(
      element("h4", {}, "Marked range"),
      facts(rows),
      element("p", { class: "tvmdbg-muted" }, "Esc clears it, f zooms to it."),
    );
  }

  showSummary(): void {
    const ranking = this.#ranking;
    const rows = ranking.rows("time").subarray(0, 3);
    const top = Array.from(rows, (row): [string, string] => {
      const slice = ranking.slice[row]!;
      const node = ranking.node[row]!;
      const title = slice >= 0 ? this.#words.title(slice) : this.#words.nodeTitle(node);
      return [title, `${duration(ranking.ns[row]!)}, ${shareText(ranking.share(row))}`];
    });
    this.node.replaceChildren(
      element("h4", {}, `${counted(ranking.length, "operator")}, Σ ${duration(ranking.total)}`),
      facts(top),
      element(
        "p",
        { class: "tvmdbg-muted" },
        "Click a slice or a row for its times; ? lists the keys.",
      ),
    );
  }

  #heading(title: string, node: number, theme: Theme): HTMLElement {
    const kind = this.#names.opKind(node);
    const chip = element("i", { class: "tvmdbg-timeline-chip" });
    chip.style.backgroundColor = theme.kind(kind);
    const noisy = node >= 0 && this.#slices.columns.nodeNoisy[node] === 1;
    return element(
      "h4",
      {},
      chip,
      title,
      element("span", { class: "tvmdbg-muted" }, kind),
      noisy && element("b", { class: "tvmdbg-timeline-noisy", title: NOISY_RULE }, "noisy"),
    );
  }

  #show(heading: HTMLElement, rows: [string, string][], node: number): void {
    const funcName = this.#names.funcName(node);
    if (funcName) rows.push(["func_name", funcName]);
    this.node.replaceChildren(heading, facts(rows), ...this.#repeats(node));
  }

  #repeats(node: number): Node[] {
    const { columns } = this.#slices;
    const count = node < 0 ? 0 : (columns.nodeCount[node] ?? 0);
    if (!count) return [element("p", { class: "tvmdbg-muted" }, NO_REPEATS)];
    const ns = columns.repeats.subarray(
      columns.repeatsOffsets[node]!,
      columns.repeatsOffsets[node + 1]!,
    );
    const [p10, p50, p90] = [
      columns.nodeP10[node]!,
      columns.nodeP50[node]!,
      columns.nodeP90[node]!,
    ];
    const [low, high] = [
      duration(columns.nodeMinimum[node]!),
      duration(columns.nodeMaximum[node]!),
    ];
    const title = `${counted(count, "repeat")} in the order of the file, top to bottom; band p10 … p90, line median`;
    const sd = columns.nodeSd[node]!;
    const noisy = columns.nodeNoisy[node] === 1;
    const rule = `p90 / p10 = ${(p90 / p10).toFixed(2)}; ${NOISY_RULE}. The mean says little.`;
    return [
      element(
        "figure",
        { class: "tvmdbg-timeline-repeats" },
        largeStrip({ ns, p10, p50, p90 }, title),
        element(
          "figcaption",
          {},
          element("span", {}, low),
          element(
            "span",
            { class: "tvmdbg-muted", title },
            `${counted(count, "repeat")}${Number.isNaN(sd) ? "" : `, sd ${duration(sd)}`}`,
          ),
          element("span", {}, high),
        ),
      ),
      ...(noisy ? [element("p", { class: "tvmdbg-warning" }, rule)] : []),
    ];
  }
}

function facts(rows: [string, string][]): HTMLElement {
  return element(
    "dl",
    {},
    ...rows.map(([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, value)),
    ),
  );
}
