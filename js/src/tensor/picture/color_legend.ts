import type { StatisticsAnswer } from "../../shared/client/tensor_questions.ts";
import { integer } from "../../shared/format.ts";
import { aboutText } from "../../shared/number_text.ts";
import { element, span } from "../../shell/dom.ts";
import { muted, part, piece } from "../parts.ts";
import type { ShownTensor } from "../state.ts";
import { type ColorScale, cssColor, OUTSIDE, specialKey } from "./color_scale.ts";

const WIDTH = 140;
const LETTER = 6.5;
const SIGNS = { nan: "", posInf: "▲", negInf: "▼" } as const;
const CHEVRONS = { under: "‹", over: "›" } as const;

export class ColorLegend {
  readonly node = element("div", {
    class: "tvmdbg-tensor-legend tvmdbg-row tvmdbg-wrap tvmdbg-gap-10",
    role: "img",
  });
  #scale: ColorScale | null | undefined;
  #statistics: StatisticsAnswer | null = null;
  #request = "";

  show({ scale, statistics, colors, answer }: ShownTensor): void {
    const dtype = answer?.valueDtype;
    const choice = colors.scale;
    const same =
      scale === this.#scale && statistics === this.#statistics && choice === this.#request;
    if (same) return;
    [this.#scale, this.#statistics, this.#request] = [scale, statistics, choice];
    this.node.replaceChildren();
    const texts: string[] = [];
    if (scale) {
      this.node.append(colorBar(scale, dtype));
      const [low, high] = [aboutText(scale.least, dtype), aboutText(scale.most, dtype)];
      texts.push(`colors from ${low} to ${high}, ${scale.kind}`);
      for (const side of ["under", "over"] as const) {
        const outside = outsideOf(scale, statistics, side, dtype);
        if (!outside) continue;
        this.#swatch(OUTSIDE[side], CHEVRONS[side], outside, side);
        texts.push(outside);
      }
    }
    for (const { special, color, text } of specialKey(statistics?.statistics)) {
      this.#swatch(color, SIGNS[special], text, special);
      texts.push(text);
    }
    const logless =
      choice === "log" && scale?.kind !== "log" ? "no positive values: symlog instead of log" : "";
    if (logless) this.node.append(muted(logless));
    if (logless) texts.push(logless);
    this.node.setAttribute("aria-label", `Legend: ${texts.join("; ") || "no colors"}`);
  }

  #swatch(color: string, sign: string, text: string, name: string): void {
    const swatch = span(`tvmdbg-tensor-swatch tvmdbg-tensor-${name}`, sign);
    swatch.style.backgroundColor = color;
    this.node.append(piece("special tvmdbg-inline tvmdbg-gap-4", swatch, text));
  }
}

/** Number of finite values of the tensor outside of the scale; empty if there can be none. */
export function outsideOf(
  scale: ColorScale,
  known: StatisticsAnswer | null,
  side: "under" | "over",
  dtype?: string,
): string {
  const numbers = known?.statistics;
  const under = side === "under";
  const end = under ? scale.least : scale.most;
  const extreme = under ? numbers?.minimum.value : numbers?.maximum.value;
  if (extreme === null || extreme === undefined) return "";
  if (under ? extreme >= end : extreme <= end) return "";
  const text = `${under ? "below" : "above"} ${aboutText(end, dtype)}`;
  const none = under && scale.kind === "log" && extreme <= 0 ? ", including zero and negative" : "";
  const count = countOutside(known!, end, under);
  return `${text}${none}${count ? ` (${count})` : ""}`;
}

/** The count in words from the distribution, else bounds of it. */
function countOutside({ distribution, state }: StatisticsAnswer, end: number, under: boolean) {
  if (!distribution) return "";
  let [least, most] = [0, 0];
  const { low, high, count } = distribution;
  for (let bin = 0; bin < count.length; bin += 1) {
    if (under ? high[bin]! < end : low[bin]! > end) least += count[bin]!;
    else if (under ? low[bin]! < end : high[bin]! > end) most += count[bin]!;
  }
  most += least;
  const about = state === "exact" ? "" : "≥ ";
  return least === most ? `${about}${integer(least)}` : `${integer(least)} to ${integer(most)}`;
}

function colorBar(scale: ColorScale, dtype?: string): HTMLElement {
  if (scale.single) {
    const swatch = piece("swatch");
    swatch.style.backgroundColor = cssColor(scale.map, 0.5);
    return piece(
      "special tvmdbg-inline tvmdbg-gap-4",
      swatch,
      `all ${aboutText(scale.low, dtype)}`,
    );
  }
  const [first, last] = [scale.share(scale.least), scale.share(scale.most)];
  const steps = Array.from({ length: 17 }, (_, k) => {
    return cssColor(scale.map, first + ((last - first) * k) / 16);
  });
  const bar = part("colors");
  bar.style.background = `linear-gradient(to right, ${steps.join(", ")})`;
  const ticks = part("ticks");
  for (const { text, at, align } of legendTicks(scale, WIDTH, dtype)) {
    const tick = span(`tvmdbg-tensor-tick-${align}`, text);
    tick.style.left = `${at}px`;
    ticks.append(tick);
  }
  const linear = `linear within ±${aboutText(scale.threshold)}`;
  return part(
    "colorbar",
    part("colors-row", arrow("under"), bar, arrow("over")),
    ticks,
    scale.kind === "symlog" && muted(linear),
    scale.kind === "log" && muted("logarithmic"),
  );
}

/** The end of the bar, in the color of values beyond it. */
function arrow(side: "under" | "over"): HTMLElement {
  const node = element("span", {
    class: `tvmdbg-tensor-arrow tvmdbg-tensor-arrow-${side}`,
    title: side === "under" ? "below the color range" : "above the color range",
  });
  node.style.backgroundColor = OUTSIDE[side];
  return node;
}

interface LegendTick {
  text: string;
  at: number;
  align: "start" | "middle" | "end";
}

/** Both ends, then zero, then round values, unless they overlap earlier ones. */
export function legendTicks(scale: ColorScale, width: number, dtype?: string): LegendTick[] {
  const taken: { from: number; to: number }[] = [];
  const kept: LegendTick[] = [];
  const [first, last] = [scale.share(scale.least), scale.share(scale.most)];
  const offer = (text: string, share: number, align: LegendTick["align"]) => {
    const [at, long] = [((share - first) / (last - first || 1)) * width, text.length * LETTER];
    const from = align === "start" ? at : align === "end" ? at - long : at - long / 2;
    const to = from + long;
    const outside = align === "middle" && (from < 0 || to > width);
    if (outside || taken.some((label) => from < label.to + 8 && label.from - 8 < to)) return;
    taken.push({ from, to });
    kept.push({ text, at, align });
  };
  offer(aboutText(scale.least, dtype), first, "start");
  offer(aboutText(scale.most, dtype), last, "end");
  const ticks = scale.ticks(4).filter(({ value }) => value > scale.least && value < scale.most);
  ticks.sort((a, b) => Number(b.value === 0) - Number(a.value === 0));
  for (const { value, text } of ticks) offer(text, scale.share(value), "middle");
  return kept.sort((a, b) => a.at - b.at);
}
