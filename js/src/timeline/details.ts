import { kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted, duration, nodeTitle, percent } from "../shared/format.ts";
import { largest, smallest } from "../shared/many.ts";
import { button, div, element, KEEP_KEYS, span } from "../shell/dom.ts";
import { factList } from "../shell/tooltip.ts";
import { type Change, changeText, ratioText, verdictSign } from "./data/change.ts";
import { timeText } from "./data/names.ts";
import { type Gap, lengthOf } from "./data/neighbors.ts";
import { largeStrip, type Repeats, repeatsOf, spreadStrip } from "./data/repeats.ts";
import { NOISY_RULE, type SliceFact, type TimelineData } from "./descriptions.ts";
import { chip, noisyBadge } from "./row_table.ts";

const WIDTH = 300;
const HEIGHT = 26;
const MOST_DOTS = 200;

/** Details of a row of the comparison: both times, repeats on one axis, and the reasons for the verdict. */
function changeDetails(change: Change, row: number): HTMLElement {
  const rows = change.byNode;
  const verdict = rows.verdict[row]!;
  const interval =
    Number.isFinite(rows.low[row]!) && Number.isFinite(rows.high[row]!)
      ? `, 95 % CI ${changeText(rows.low[row]!)} … ${changeText(rows.high[row]!)}`
      : "";
  const match = change.matchLabel(row);
  const facts: [string, string][] = [
    ["A", `${change.timeText(rows.nsA[row]!, 0)} (${sideText(change, row, 0)})`],
    ["B", `${change.timeText(rows.nsB[row]!, 1)} (${sideText(change, row, 1)})`],
    ["B − A", `${changeText(change.of(row))} (${ratioText(row, rows)})`],
  ];
  if (Number.isFinite(rows.shift[row]!)) {
    facts.push(["per repeat", `${changeText(rows.shift[row]!)}${interval}`]);
  }
  facts.push(["verdict", `${change.verdictLabel(verdict)}: ${rows.why.at(row)}`]);
  if (match) facts.push(["match", `${match}: ${change.columns.reason.at(row)}`]);
  return element(
    "div",
    { class: "tvmdbg-change-details tvmdbg-wrap", "data-verdict": change.verdictLabel(verdict) },
    element(
      "h5",
      {},
      `${verdictSign(verdict)} ${changeText(change.of(row))}`,
      span("tvmdbg-muted", "B minus A"),
    ),
    distributions(change, row),
    factList(facts),
  );
}

function sideText(change: Change, row: number, side: 0 | 1): string {
  const nodes = side === 0 ? change.nodesA(row) : change.nodesB(row);
  if (!nodes.length) return "no node";
  if (side === 0) return Array.from(nodes, (node) => `#${node}`).join(", ");
  const { bNames, bStart } = change.columns;
  return Array.from(nodes, (node, at) => nodeTitle(bNames.at(bStart[row]! + at), node)).join(", ");
}

/** Repeats of both runs in two strips on one axis. */
function distributions(change: Change, row: number): HTMLElement | string {
  const [a, b] = change.repeats(row).map((repeat) => Float64Array.from(repeat));
  if (!a!.length && !b!.length) return "";
  const all = [...a!, ...b!];
  const [low, high] = [smallest(all), largest(all)];
  const figure = element("figure");
  for (const [name, values] of [
    ["A", a!],
    ["B", b!],
  ] as const) {
    figure.append(
      div("tvmdbg-change-strip tvmdbg-row", element("b", {}, name), strip(name, values, low, high)),
    );
  }
  figure.append(
    element(
      "figcaption",
      {},
      element("span", {}, duration(low)),
      span("tvmdbg-muted", `${a!.length} and ${counted(b!.length, "repeat")}`),
      element("span", {}, duration(high)),
    ),
  );
  return figure;
}

function strip(name: string, values: Float64Array, low: number, high: number): Element {
  const sorted = Float64Array.from(values).sort();
  const x = (value: number) =>
    high > low ? 6 + ((value - low) / (high - low)) * (WIDTH - 12) : WIDTH / 2;
  const middle = sorted.length / 2;
  const median = sorted.length
    ? (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
    : Number.NaN;
  const title = sorted.length
    ? `${name}: ${counted(sorted.length, "repeat")}, median ${duration(median)}`
    : `${name}: no repeats`;
  const every = Math.ceil(values.length / MOST_DOTS);
  const ns = values.filter((_, at) => at % every === 0);
  const band = { p10: sorted[0]!, p50: median, p90: sorted.at(-1)!, warm: 0 };
  return spreadStrip({ ns, ...band }, x, { width: WIDTH, height: HEIGHT, radius: 2 }, title);
}

interface DetailsHost {
  readonly data: TimelineData;
  readonly ranges: { pickGap(gap: Gap): void };
  act(act: () => void): void;
}

/** Details of the selection: facts, repeats, or the sum over a range. */
export class SliceDetails {
  readonly node = element("section", { class: "tvmdbg-timeline-details", "aria-label": "details" });
  readonly #data: TimelineData;
  readonly #host: DetailsHost;

  constructor(host: DetailsHost) {
    this.#data = host.data;
    this.#host = host;
  }

  showSlice(slice: number, theme: Theme): void {
    const node = this.#data.slices.nodeOf(slice);
    const other = this.#data.names.isOther(slice);
    const kind = this.#data.names.kindOf(slice);
    const row =
      node < 0 && other
        ? this.#data.names.change!.rowOfSlice(this.#data.slices.sourceOf(slice))
        : -1;
    this.#show(
      this.#data.words.title(slice),
      other ? -1 : node,
      this.#data.words.ofSlice(slice),
      theme,
      kind,
      node < 0 ? row : (this.#data.names.change?.rowOf(node) ?? -1),
    );
  }

  showNode(node: number, theme: Theme): void {
    const facts: SliceFact[] = [["slice", "none"], ...this.#data.words.ofNode(node)];
    this.#show(this.#data.names.title(node), node, facts, theme);
  }

  showMany(nodes: readonly number[]): void {
    const inside = new Set(nodes);
    let sum = 0;
    for (const [row, call] of this.#data.ranking.call.entries()) {
      const own = call < 0 ? [this.#data.ranking.node[row]!] : this.#data.slices.nodesOfCall(call);
      if (own.length && own.every((node) => inside.has(node)))
        sum += this.#data.ranking.ns[row] || 0;
    }
    const text = this.#data.slices.isShort(sum)
      ? this.#data.slices.timeText(sum)
      : `${duration(sum)} (${percent(sum / this.#data.ranking.total)})`;
    const { item } = this.#data.slices.columns.info.words;
    this.#tell(`${counted(nodes.length, item)} selected`, factList([["total", text]]));
  }

  showArea(panel: HTMLElement): void {
    if (panel.parentElement !== this.node) this.#tell("Marked range", panel);
  }

  showMeasure(facts: SliceFact[]): void {
    this.#tell("Measure", factList(facts), "Enter makes it the range, Esc clears it.");
  }

  showGap(facts: SliceFact[], longest: readonly Gap[], shown: Gap): void {
    const list = longest.map((gap) => {
      const { name } = this.#data.slices.tracks[gap.track]!;
      const at = `${name}, from ${timeText(gap.from, lengthOf(gap))}`;
      const text = `${duration(lengthOf(gap))} on ${at}`;
      const node = button(text, `go to the gap of ${text}`, () =>
        this.#host.act(() => this.#host.ranges.pickGap(gap)),
      );
      const isShown = gap.track === shown.track && gap.from === shown.from;
      node.setAttribute("aria-pressed", String(isShown));
      return element("li", {}, node);
    });
    const about = element("p", { class: "tvmdbg-muted" }, "The longest gaps:");
    const content = element("div", {}, factList(facts), about, element("ol", {}, ...list));
    this.#tell("Gap", content, "[ and ] go through the gaps of the track, { and } by length.");
  }

  showSummary(): void {
    const [title = "", ...facts] = this.#data.words.summary();
    this.node.classList.toggle("tvmdbg-timeline-two", this.#data.names.change !== null);
    const isCompared = this.#data.names.change !== null;
    const said = facts.map((fact) => element("p", {}, fact));
    const notes = isCompared ? said.splice(1) : [];
    const folded =
      notes.length > 0 &&
      element("details", {}, element("summary", KEEP_KEYS, "how to read this"), ...notes);
    this.#tell(
      title,
      div("tvmdbg-timeline-summary", ...said, folded),
      "Click a slice or a row for its times; ? lists the keys.",
    );
  }

  #tell(title: string, content: Node, hint = ""): void {
    const muted = hint ? element("p", { class: "tvmdbg-muted" }, hint) : "";
    this.node.replaceChildren(element("h4", { class: "tvmdbg-wrap" }, title), content, muted);
  }

  #show(
    title: string,
    node: number,
    facts: SliceFact[],
    theme: Theme,
    kind = this.#data.names.opKind(node),
    row = this.#data.names.change?.rowOf(node) ?? -1,
  ): void {
    const color = node < 0 ? kindFill(theme, kind) : this.#data.names.fill(theme, node, -1);
    const repeats = repeatsOf(this.#data.slices.columns, node);
    const notes = facts.filter(([name]) => name === "note");
    this.node.replaceChildren(
      element(
        "h4",
        { class: "tvmdbg-wrap" },
        chip(color),
        title,
        this.#data.names.known && span("tvmdbg-muted", kind),
        repeats?.noisy && noisyBadge(),
      ),
      ...(notes.length ? [factList(notes)] : []),
      ...(row >= 0
        ? [changeDetails(this.#data.names.change!, row)]
        : repeats
          ? [spread(repeats, (ns) => this.#data.slices.timeText(ns))]
          : []),
      factList(facts.filter((fact) => !notes.includes(fact))),
      repeats || node < 0 || this.#data.names.idle(node)
        ? ""
        : element("p", { class: "tvmdbg-muted" }, this.#data.slices.columns.info.words.noRepeats),
    );
  }
}

function spread(repeats: Repeats, timeOf: (ns: number) => string): HTMLElement {
  const { ns, count, p10, p90, sd, noisy, warm } = repeats;
  const finite = ns.filter(Number.isFinite).sort();
  const text = counted(count, "repeat");
  const title = `${text} in file order, top to bottom; band p10 … p90, line median; below: the mean with its 95 % CI`;
  const caption = element(
    "figcaption",
    {},
    element("span", {}, timeOf(finite[0]!)),
    span("tvmdbg-muted", Number.isNaN(sd) ? text : `${text}, sd ${duration(sd)}`),
    element("span", {}, timeOf(finite.at(-1)!)),
  );
  const figure = element("figure", {}, largeStrip(repeats, finite, title), caption);
  const lines = [figure];
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
  return div("tvmdbg-timeline-spread", ...lines);
}
