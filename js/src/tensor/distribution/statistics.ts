import { errorText, isAbort } from "../../shared/client/request.ts";
import type {
  Entry,
  ExactNumber,
  Percentile,
  StatisticsAnswer,
  TensorStatistics,
} from "../../shared/client/tensor_questions.ts";
import * as icons from "../../shared/drawing/icons.ts";
import { counted, integer } from "../../shared/format.ts";
import { shortText, valueText } from "../../shared/number_text.ts";
import { button, element, iconButton } from "../../shell/dom.ts";
import { muted, number, piece, placeButton, TensorPart } from "../parts.ts";
import type { ShownTensor, TensorHost } from "../state.ts";

const DIGITS = 5;
const PERCENTS = [1, 5, 25, 50, 75, 95, 99];

export function isExact({ low, high }: Percentile): boolean {
  return low.value === high.value;
}

export function percentName(percent: number): string {
  return percent === 50 ? "median" : `p${percent}`;
}

/** A percentile: exact, or between two numbers; `≈` for a sample. */
export function percentText(percentile: Percentile, sampled = false): string {
  const { low, high } = percentile;
  if (isExact(percentile)) return sampled ? about(low.value) : low.text;
  if (sampled && low.value !== null && high.value !== null) {
    return about(low.value / 2 + high.value / 2);
  }
  if (low.value === null || high.value === null) return `${low.text} … ${high.text}`;
  return `${outward(low.value, -1)} … ${outward(high.value, 1)}`;
}

function about(value: number | null): string {
  return value === null ? "none" : `≈ ${shortText(value)}`;
}

/** Five digits of a bound, rounded outwards, so that it still holds. */
export function outward(value: number, side: 1 | -1): string {
  if (Number(value.toPrecision(DIGITS)) === value) return String(value);
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - DIGITS + 1);
  const away = side > 0 ? Math.ceil(value / step) : Math.floor(value / step);
  let text = (away * step).toPrecision(DIGITS);
  const inside = () => (side > 0 ? Number(text) < value : Number(text) > value);
  for (let more = 1; inside() && more < 3; more += 1) {
    text = ((away + side * more) * step).toPrecision(DIGITS);
  }
  // The extreme float64 values have no neighbor of five digits.
  return String(inside() || !Number.isFinite(Number(text)) ? value : Number(text));
}

class Percentiles extends TensorPart<{ draw(): void }> {
  #of = "";
  #exact: Percentile[] | null = null;
  #question: { entry: Entry; reading: string | null } | null = null;
  #asking: AbortController | null = null;
  failure: unknown = null;

  get busy(): boolean {
    return this.#asking !== null;
  }

  /** Switches to a tensor under a reading and drops pending questions. */
  over(entry: Entry, reading: string | null): void {
    const of = `${entry.join()} ${reading}`;
    if (of === this.#of) return;
    this.#of = of;
    this.#question = { entry, reading };
    this.#exact = null;
    this.failure = null;
    this.#asking?.abort();
    this.#asking = null;
  }

  best(known: StatisticsAnswer): Percentile[] {
    return this.#exact ?? known.percentiles;
  }

  stop(): void {
    this.#asking?.abort();
  }

  async refine(percents: readonly number[]): Promise<void> {
    if (!this.#question || this.#asking) return;
    const asking = new AbortController();
    this.#asking = asking;
    this.failure = null;
    this.beside.draw();
    const signal = AbortSignal.any([asking.signal, this.host.signal]);
    try {
      const answer = await this.host.run.ask(
        "percentiles",
        { ...this.#question, percents },
        signal,
      );
      if (this.#asking === asking) this.#exact = answer;
    } catch (error) {
      if (this.#asking === asking && !isAbort(error)) this.failure = error;
    } finally {
      if (this.#asking === asking) {
        this.#asking = null;
        this.beside.draw();
      }
    }
  }
}

/** Replaces the children of a box; the focus stays on the one with the same `data-key`. */
export function refill(box: HTMLElement, ...children: Node[]): void {
  const held = box.contains(document.activeElement)
    ? (document.activeElement as HTMLElement).dataset.key
    : undefined;
  box.replaceChildren(...children);
  if (held === undefined) return;
  for (const node of box.querySelectorAll<HTMLElement>("[data-key]")) {
    if (node.dataset.key === held) node.focus({ preventScroll: true });
  }
}

export class StatisticsLine extends TensorPart {
  readonly node = element("section", {
    class: "tvmdbg-tensor-statistics tvmdbg-row tvmdbg-wrap",
    "aria-label": "Statistics of the whole tensor",
  });
  readonly #percentiles = new Percentiles(this.host, this);
  readonly #more = iconButton(icons.MORE, "more", "Show or hide more numbers (q)", () =>
    this.toggle(),
  );
  #shown: ShownTensor | null = null;

  constructor(host: TensorHost) {
    super(host);
    this.#more.classList.add("tvmdbg-tensor-more-numbers");
    this.#more.setAttribute("aria-expanded", "false");
    this.#more.dataset.key = "more";
  }

  show(shown: ShownTensor): void {
    const before = this.#shown;
    this.#shown = shown;
    this.#percentiles.over(shown.entry, shown.answer?.reading ?? null);
    const same = before?.statistics === shown.statistics && before.entry === shown.entry;
    if (!same || before.answer?.layout !== shown.answer?.layout) this.draw();
  }

  toggle(): void {
    const open = this.node.toggleAttribute("data-more");
    this.#more.setAttribute("aria-expanded", String(open));
  }

  draw(): void {
    const known = this.#shown?.statistics ?? null;
    const statistics = known?.statistics;
    if (!known || !statistics) {
      // The reason is shown above.
      const why = known?.reason
        ? ""
        : known?.state === "scanning"
          ? "counting…"
          : "no statistics yet";
      refill(this.node, muted(why), ...(known ? this.#progress(known) : []));
      return;
    }
    const partly = statistics.finite < statistics.size;
    refill(
      this.node,
      element(
        "table",
        {},
        ...this.#rows(statistics),
        ...this.#quantiles(known),
        ...(partly ? [row("", muted("finite values only"))] : []),
      ),
      this.#more,
      ...this.#progress(known),
    );
  }

  #rows({ size, minimum, maximum, mean, std, argmin, argmax }: TensorStatistics): HTMLElement[] {
    const answer = this.#shown?.answer ?? null;
    const place = (index: number[] | null, title: string) =>
      placeButton(answer, index, title, this.host);
    if (isConstant(minimum, maximum)) {
      return [row(size === 1 ? "value" : "all", number(minimum.text))];
    }
    return [
      row("min", number(minimum.text), place(argmin, "Go to the minimum (m)")),
      row("max", number(maximum.text), place(argmax, "Go to the maximum (x)")),
      row("mean", number(mean.text, this.#full(mean))),
      row("std", number(std.text, this.#full(std))),
    ];
  }

  #quantiles(known: StatisticsAnswer): HTMLElement[] {
    const { minimum, maximum } = known.statistics ?? {};
    if (minimum && maximum && isConstant(minimum, maximum)) return [];
    const sampled = known.state !== "exact";
    const best = this.#percentiles.best(known);
    const rows = best.map((percentile) => {
      const [low, high] = [this.#full(percentile.low), this.#full(percentile.high)];
      const full = isExact(percentile) ? low : `${low} … ${high}`;
      return row(percentName(percentile.percent), number(percentText(percentile, sampled), full));
    });
    const { failure, busy } = this.#percentiles;
    const loose = best.length === 0 || best.some((percentile) => !isExact(percentile));
    if (sampled || !loose || !known.statistics?.finite) return rows;
    const percents = best.length ? best.map(({ percent }) => percent) : PERCENTS;
    const refine = busy
      ? button("stop", "Stop reading values", () => this.#percentiles.stop())
      : button(
          best.length ? "compute exactly" : "percentiles",
          "Read all values again for exact percentiles",
          () => this.#percentiles.refine(percents),
        );
    refine.dataset.key = "percentiles";
    const words = failure ? `The percentiles could not be read: ${errorText(failure)}` : null;
    const reading = busy ? muted("reading… ") : null;
    return [...rows, row("", reading, refine, words && piece("loud", words))];
  }

  #full({ text, value }: ExactNumber): string {
    return value === null ? text : valueText(value, this.#shown?.answer?.valueDtype ?? "");
  }

  #progress({ state, done, total, statistics }: StatisticsAnswer): HTMLElement[] {
    if (state === "exact") return [];
    const act = (label: string, title: string, go: boolean) => {
      const node = button(label, title, () => this.host.viewing.count(go));
      node.dataset.key = "count";
      return node;
    };
    if (state === "scanning") {
      const share = total > 0 ? done / total : 0;
      const bar = element("progress", { max: 1, value: share, "aria-label": "Values counted" });
      return [
        piece(
          "progress tvmdbg-inline tvmdbg-wrap",
          "≈ from a sample; counting all ",
          bar,
          ` ${Math.floor(100 * share)} % of ${integer(total)}`,
          act("stop", "Stop counting and keep the sample", false),
        ),
      ];
    }
    const words = state === "cancelled" ? "≈ stopped; from a sample of " : "≈ from a sample of ";
    return [
      piece(
        "progress tvmdbg-inline tvmdbg-wrap",
        `${words}${integer(statistics?.size ?? 0)} of ${counted(total, "value")} `,
        act("count all", "Count all values", true),
      ),
    ];
  }
}

/** True if all finite values are the same; long integers may differ though their floats do not. */
function isConstant(minimum: ExactNumber, maximum: ExactNumber): boolean {
  return minimum.value !== null && minimum.text === maximum.text;
}

function row(name: string, ...cells: (Node | string | null)[]): HTMLElement {
  return element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, ...cells));
}
