import { integer } from "../../shared/format.ts";
import { element } from "../../shared/ui/dom.ts";
import { RangeHandles } from "../../shared/ui/range_handles.ts";
import type { NumberColors } from "./numbers.ts";

const WIDTH = 204;
const BAR = 9;
/** Beside the bar, so that texts at its ends have room, CSS px. */
const SIDE = 26;
const DIGIT = 6.3;
const STOPS = 24;
const TICKS = 3;

/** The bar of a scale of numbers with its ticks, and two handles for between which values the colors lie. */
export class NumberKey {
  readonly node = element("span", { class: "tvmdbg-graph-scale" });
  readonly #name = element("span");
  readonly #bar = element("span", { class: "tvmdbg-graph-bar-key" });
  readonly #ramp = element("span", { class: "tvmdbg-graph-ramp" });
  readonly #ticks = element("span");
  readonly #counts = element("span");
  readonly #handles: RangeHandles;
  #colors: NumberColors | null = null;

  constructor(limit: (range: readonly [number, number] | null) => void) {
    this.#handles = new RangeHandles(
      (range) => limit(range),
      () => limit(null),
      (value) => this.#colors?.text(value) ?? "",
    );
    this.#bar.style.width = `${WIDTH + 2 * SIDE}px`;
    Object.assign(this.#ramp.style, { left: `${SIDE}px`, width: `${WIDTH}px`, height: `${BAR}px` });
    this.#ramp.addEventListener("dblclick", () => limit(null));
    this.#bar.append(this.#ramp, this.#ticks, ...this.#handles.nodes);
    this.node.append(this.#name, this.#bar, this.#counts);
  }

  show(colors: NumberColors): void {
    this.#colors = colors;
    const { axis, scale, column, counts, together } = colors;
    this.#name.textContent = column.name;
    this.node.title = `fill: ${column.name}, ${column.scale}; for several nodes the ${together}`;
    this.#bar.hidden = counts.known === 0;
    const stops = Array.from({ length: STOPS + 1 }, (_, i) => colors.color(axis.value(i / STOPS)));
    this.#ramp.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    this.#ticks.replaceChildren(...this.#texts(colors));
    this.#handles.place({ x: SIDE, y: 7, width: WIDTH, height: 0 }, axis, [scale.low, scale.high]);
    const said = [
      counts.under && `${integer(counts.under)} below`,
      counts.over && `${integer(counts.over)} above`,
    ].filter(Boolean);
    const unknown = counts.unknown ? `${integer(counts.unknown)} unknown` : "";
    this.#counts.replaceChildren(
      counts.known === 0 ? "no known value " : "",
      said.join(", "),
      ...(unknown
        ? [element("span", { class: "tvmdbg-graph-swatch tvmdbg-graph-hatched" }), unknown]
        : []),
      column.note ? ` (${column.note})` : "",
    );
  }

  /** The ends, and between them as many ticks as have room. */
  #texts(colors: NumberColors): HTMLElement[] {
    const { axis } = colors;
    if (axis.single) return [this.#text(brief(colors.text(axis.low)), WIDTH / 2)];
    const taken: [number, number][] = [];
    const found: HTMLElement[] = [];
    const values = [axis.low, axis.high, ...axis.ticks(TICKS).map(({ value }) => value)];
    for (const value of values) {
      const text = brief(colors.text(value));
      const half = (text.length * DIGIT) / 2 + 3;
      const at = Math.max(half - SIDE, Math.min(WIDTH + SIDE - half, axis.share(value) * WIDTH));
      if (taken.some(([from, to]) => at - half < to && at + half > from)) continue;
      taken.push([at - half, at + half]);
      found.push(this.#text(text, at));
    }
    return found;
  }

  #text(text: string, at: number): HTMLElement {
    const node = element("span", { class: "tvmdbg-graph-tick" }, text);
    node.style.left = `${SIDE + at}px`;
    return node;
  }
}

/** Without zeros that say nothing: `2 ms` for `2.000 ms`. */
function brief(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}
