import { kindFill, type Theme } from "../../shared/drawing/theme.ts";
import { counted, duration, percent } from "../../shared/format.ts";
import { button, element } from "../../shared/ui/dom.ts";
import { changeDetails } from "../change/change_details.ts";
import { type Gap, lengthOf } from "../data/gaps.ts";
import type { Names } from "../data/names.ts";
import type { Ranking } from "../data/ranking.ts";
import { type Repeats, repeatsOf } from "../data/repeats.ts";
import type { Slices } from "../data/slices.ts";
import { timeText } from "../data/ticks.ts";
import { type Fact, factList, NOISY_RULE, type SliceDescriptions } from "../descriptions.ts";
import { largeStrip } from "./distribution.ts";

/** What is selected, in full: facts, repeats, or the sum over a range. */
export class Details {
  readonly node = element("section", { class: "tvmdbg-timeline-details", "aria-label": "details" });
  readonly #slices: Slices;
  readonly #names: Names;
  readonly #ranking: Ranking;
  readonly #words: SliceDescriptions;

  readonly #pickGap: (gap: Gap) => void;

  constructor(
    parts: { slices: Slices; names: Names; ranking: Ranking; words: SliceDescriptions },
    pickGap: (gap: Gap) => void,
  ) {
    this.#pickGap = pickGap;
    this.#slices = parts.slices;
    this.#names = parts.names;
    this.#ranking = parts.ranking;
    this.#words = parts.words;
  }

  showSlice(slice: number, theme: Theme): void {
    const node = this.#slices.nodeOf(slice);
    const other = this.#names.isOther(slice);
    const kind = this.#names.kindOf(slice);
    const row =
      node < 0 && other ? this.#names.change!.rowOfSlice(this.#slices.sourceOf(slice)) : -1;
    this.#show(
      this.#words.title(slice),
      other ? -1 : node,
      this.#words.ofSlice(slice),
      theme,
      kind,
      node < 0 ? row : (this.#names.change?.rowOf(node) ?? -1),
    );
  }

  showNode(node: number, theme: Theme): void {
    const facts: Fact[] = [["slice", "none"], ...this.#words.ofNode(node)];
    this.#show(this.#words.nodeTitle(node), node, facts, theme);
  }

  showMany(nodes: readonly number[]): void {
    const inside = new Set(nodes);
    let sum = 0;
    for (const [row, call] of this.#ranking.call.entries()) {
      const own = call < 0 ? [this.#ranking.node[row]!] : this.#slices.nodesOfCall(call);
      if (own.length && own.every((node) => inside.has(node))) sum += this.#ranking.ns[row] || 0;
    }
    const text = this.#slices.isShort(sum)
      ? this.#slices.told(sum)
      : `${duration(sum)} (${percent(sum / this.#ranking.total)})`;
    const { item } = this.#slices.columns.info.words;
    this.#tell(`${counted(nodes.length, item)} selected`, factList([["total", text]]));
  }

  /** The panel of the marked range. */
  showArea(panel: HTMLElement): void {
    if (panel.parentElement !== this.node) this.#tell("Marked range", panel);
  }

  showMeasure(facts: Fact[]): void {
    this.#tell("Measure", factList(facts), "Enter makes it the range, Esc clears it.");
  }

  /** The idle stretch that is looked at, and the longest ones. */
  showGap(facts: Fact[], longest: readonly Gap[], shown: Gap): void {
    const list = longest.map((gap) => {
      const { name } = this.#slices.tracks[gap.track]!;
      const at = `${name}, from ${timeText(gap.from, lengthOf(gap))}`;
      const text = `${duration(lengthOf(gap))} on ${at}`;
      const node = button(text, `go to the gap of ${text}`, () => this.#pickGap(gap));
      const isShown = gap.track === shown.track && gap.from === shown.from;
      node.setAttribute("aria-pressed", String(isShown));
      return element("li", {}, node);
    });
    const about = element("p", { class: "tvmdbg-muted" }, "The longest gaps:");
    const content = element("div", {}, factList(facts), about, element("ol", {}, ...list));
    this.#tell("Gap", content, "[ and ] go through the gaps of the track, { and } by length.");
  }

  showSummary(): void {
    const [title = "", ...facts] = this.#words.summary();
    this.node.classList.toggle("tvmdbg-timeline-two", this.#names.change !== null);
    this.#tell(
      title,
      element(
        "div",
        { class: "tvmdbg-timeline-summary" },
        ...facts.map((fact) => element("p", {}, fact)),
      ),
      "Click a slice or a row for its times; ? lists the keys.",
    );
  }

  #tell(title: string, content: Node, hint = ""): void {
    const muted = hint ? element("p", { class: "tvmdbg-muted" }, hint) : "";
    this.node.replaceChildren(element("h4", {}, title), content, muted);
  }

  /** @param row  of the comparison of two runs, -1 for none. */
  #show(
    title: string,
    node: number,
    facts: Fact[],
    theme: Theme,
    kind = this.#names.opKind(node),
    row = this.#names.change?.rowOf(node) ?? -1,
  ): void {
    const chip = element("i", { class: "tvmdbg-timeline-chip" });
    chip.style.backgroundColor =
      node < 0 ? kindFill(theme, kind) : this.#names.fill(theme, node, -1);
    const repeats = repeatsOf(this.#slices.columns, node);
    const notes = facts.filter(([name]) => name === "note");
    const badge = element("b", { class: "tvmdbg-timeline-noisy", title: NOISY_RULE }, "noisy");
    this.node.replaceChildren(
      element(
        "h4",
        {},
        chip,
        title,
        this.#names.known && element("span", { class: "tvmdbg-muted" }, kind),
        repeats?.noisy && badge,
      ),
      ...(notes.length ? [factList(notes)] : []),
      ...(row >= 0
        ? [changeDetails(this.#names.change!, row)]
        : repeats
          ? [spread(repeats, (ns) => this.#slices.told(ns))]
          : []),
      factList(facts.filter((fact) => !notes.includes(fact))),
      repeats || node < 0 || this.#names.idle(node)
        ? ""
        : element("p", { class: "tvmdbg-muted" }, this.#slices.columns.info.words.noRepeats),
    );
  }
}

function spread(repeats: Repeats, told: (ns: number) => string): HTMLElement {
  const { ns, count, p10, p90, sd, noisy, mean, low, high, warm } = repeats;
  const finite = ns.filter(Number.isFinite).sort();
  const said = counted(count, "repeat");
  const title = `${said} in file order, top to bottom; band p10 … p90, line median; below: the mean with its 95 % CI`;
  const caption = element(
    "figcaption",
    {},
    element("span", {}, told(finite[0]!)),
    element(
      "span",
      { class: "tvmdbg-muted" },
      Number.isNaN(sd) ? said : `${said}, sd ${duration(sd)}`,
    ),
    element("span", {}, told(finite.at(-1)!)),
  );
  const figure = element("figure", {}, largeStrip(repeats, finite, title), caption);
  const lines = [figure];
  if (low <= high) {
    const text = `mean ${told(mean)}, 95 % CI ${told(low)} … ${told(high)}`;
    lines.push(element("p", { class: "tvmdbg-muted" }, text));
  }
  if (warm > 0) {
    lines.push(
      element(
        "p",
        { class: "tvmdbg-muted" },
        `hollow: the first ${counted(warm, "repeat")}, warm-up`,
      ),
    );
  }
  if (noisy) {
    const rule = `p90 / p10 = ${(p90 / p10).toFixed(2)}; ${NOISY_RULE}. The mean is unreliable.`;
    lines.push(element("p", { class: "tvmdbg-warning" }, rule));
  }
  return element("div", { class: "tvmdbg-timeline-spread" }, ...lines);
}
