import { MARGIN, type Part } from "../../shared/drawing/figure_parts.ts";
import { counted, integer } from "../../shared/format.ts";
import { largest } from "../../shared/many.ts";
import { aboutText, screenText } from "../../shared/number_text.ts";
import type { ColorScale } from "../colors/color_scale.ts";
import { paintHistogram } from "../distribution/histogram_painter.ts";
import type { Spread } from "../distribution/spread.ts";
import { slotText, spreadScene } from "../distribution/spread_scene.ts";

const TALL = 128;
const [LINES, LENGTH] = [12, 40];

/** The histogram of all values, with the colors below. */
export function histogramPart(
  spread: Spread,
  size: number,
  colors: ColorScale | null,
  room: number,
): Part {
  const scene = spreadScene(spread, size, room, TALL, false);
  return {
    height: TALL,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(MARGIN, top);
      paintHistogram(pen, room, TALL, { spread, scene, colors, theme }, false);
      pen.restore();
    },
  };
}

/** What the bars are. */
export function histogramWords({ bars, codes, only }: Spread): string {
  if (!bars.length) return "histogram";
  if (only !== null) {
    const about = bars.every(({ least, most }) => least === most) ? "" : "about ";
    const top = largest(bars.map(({ likely }) => Math.round(likely)));
    return top ? `histogram: ${about}${counted(top, "value")} of ${screenText(only)}` : "histogram";
  }
  return `histogram: ${codes ? "one bar per value" : counted(bars.length, "bar")}`;
}

/** The histogram in letters, a line for some bars each. */
export function histogramLines({ bars, slots, dtype, whole }: Spread): string[] {
  const step = Math.max(1, Math.ceil(bars.length / LINES));
  let groups: [name: string, count: number][] = [];
  for (let at = 0; at < bars.length; at += step) {
    const { from } = bars[at]!;
    const count = bars.slice(at, at + step).reduce((sum, { likely }) => sum + likely, 0);
    groups.push([aboutText(whole ? Math.ceil(from) : from, dtype), count]);
  }
  const top = largest(
    groups.map(([, count]) => count),
    1,
  );
  groups = groups.filter(([, count]) => groups.length > 1 || count);
  const all = [
    ...groups,
    ...slots.map(({ name, count }): [string, number] => [slotText(name, dtype), count]),
  ];
  const wide = largest(
    all.map(([name]) => name.length),
    0,
  );
  return all.map(([name, count]) => {
    const share = Math.round(LENGTH * Math.min(1, count / top));
    const bar = "#".repeat(Math.max(count ? 1 : 0, share));
    const more = count > top ? ">" : "";
    return `  ${name.padStart(wide)} |${bar}${more} ${integer(Math.round(count))}`;
  });
}

/** The bars and what has no place among them, as JSON. */
export function spreadFacts(spread: Spread): Record<string, unknown> {
  const { axis, bars, slots, limits, codes, whole, apart, only } = spread;
  const most = largest(
    bars.map(({ likely }) => likely),
    0,
  );
  return {
    kind: axis.kind,
    low: axis.low,
    high: axis.high,
    top:
      most > 0
        ? most
        : largest(
            slots.map(({ count }) => count),
            1,
          ),
    bars: bars.map(({ from, to, least, most, likely }) => ({
      from,
      to,
      least,
      most: Number.isFinite(most) ? most : null,
      likely,
    })),
    slots,
    limits,
    codes,
    whole,
    apart,
    only,
  };
}
