import { element } from "../shared/dom.ts";
import { integer } from "../shared/format.ts";
import type { ColorScale } from "./color_scale.ts";
import { cssColor, SPECIAL, SPECIAL_TEXT } from "./colors.ts";
import { muted, part, piece } from "./parts.ts";
import type { Shown } from "./state.ts";
import { aboutText } from "./ticks.ts";

const WIDTH = 200;
const LETTER = 6.5;
const SIGNS = { nan: "hatch", posInf: "▲", negInf: "▼" } as const;

/** What the colours mean: a bar with numbers, and one swatch for each kind of value that has no place on it. */
export function legend({ statistics, scale }: Shown): HTMLElement {
  const node = element("div", { class: "tvmdbg-tensor-legend", role: "img" });
  const said: string[] = [];
  if (scale) {
    node.append(colorBar(scale));
    said.push(`colours from ${aboutText(scale.low)} to ${aboutText(scale.high)}, ${scale.kind}`);
  }
  for (const each of ["nan", "posInf", "negInf"] as const) {
    const count = statistics?.statistics?.[each] ?? 0;
    if (count === 0) continue;
    const swatch = element("span", { class: `tvmdbg-tensor-swatch tvmdbg-tensor-${each}` });
    swatch.style.backgroundColor = SPECIAL[each];
    if (each !== "nan") swatch.textContent = SIGNS[each];
    const text = `${SPECIAL_TEXT[each]} (${integer(count)})`;
    node.append(piece("special", swatch, text));
    said.push(text);
  }
  node.setAttribute("aria-label", `Legend: ${said.join("; ") || "no colours"}`);
  return node;
}

function colorBar(scale: ColorScale): HTMLElement {
  if (scale.single) {
    const swatch = piece("swatch");
    swatch.style.backgroundColor = cssColor(scale.map, 0.5);
    return piece("special", swatch, `all ${aboutText(scale.low)}`);
  }
  const steps = Array.from({ length: 17 }, (_, k) => cssColor(scale.map, k / 16));
  const bar = part("colors");
  bar.style.background = `linear-gradient(to right, ${steps.join(", ")})`;
  const ticks = part("ticks");
  for (const { text, at, align } of legendTicks(scale, WIDTH)) {
    const tick = element("span", { class: `tvmdbg-tensor-tick-${align}` }, text);
    tick.style.left = `${at}px`;
    ticks.append(tick);
  }
  const linear = `linear within ±${aboutText(scale.threshold)}`;
  return part("colorbar", bar, ticks, scale.kind === "symlog" && muted(linear));
}

interface LegendTick {
  text: string;
  at: number;
  align: "start" | "middle" | "end";
}

/** Both ends, then zero, then round values: each only where it leaves the ones before it readable. */
export function legendTicks(scale: ColorScale, width: number): LegendTick[] {
  const taken: { from: number; to: number }[] = [];
  const kept: LegendTick[] = [];
  const offer = (text: string, share: number, align: LegendTick["align"]) => {
    const [at, long] = [share * width, text.length * LETTER];
    const from = align === "start" ? at : align === "end" ? at - long : at - long / 2;
    const to = from + long;
    const outside = align === "middle" && (from < 0 || to > width);
    if (outside || taken.some((each) => from < each.to + 8 && each.from - 8 < to)) return;
    taken.push({ from, to });
    kept.push({ text, at, align });
  };
  offer(aboutText(scale.low), 0, "start");
  offer(aboutText(scale.high), 1, "end");
  const ticks = scale.ticks(4).sort((a, b) => Number(b.value === 0) - Number(a.value === 0));
  for (const { value, text } of ticks) offer(text, scale.share(value), "middle");
  return kept.sort((a, b) => a.at - b.at);
}
