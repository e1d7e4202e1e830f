import { LINE, MARGIN, type Part, SMALL } from "../../shared/drawing/figure_parts.ts";
import type { SvgContext } from "../../shared/drawing/svg_context.ts";
import type { TextWidths } from "../../shared/drawing/text_widths.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { aboutText } from "../../shared/number_text.ts";
import type { ColorScale } from "../colors/color_scale.ts";
import { cssColor, OUTSIDE, specialKey } from "../colors/colors.ts";
import { outsideOf } from "../colors/legend.ts";
import { paintSign, paintSpecial } from "../picture/plane_painter.ts";
import type { TensorColors } from "./picture_part.ts";

const [BAR, STEPS] = [108, 27];
const SIGN = 14;

interface Item {
  text: string;
  /** What stands before the text, px. */
  before: number;
  paint?: (pen: SvgContext, theme: Theme, x: number, middle: number) => void;
}

/** What the colors mean: a bar between its ends, and a swatch for each kind of value that has no place on it. */
export function legendPart(colors: TensorColors, room: number, text: TextWidths): Part {
  const items = [...scaleItems(colors, text), ...swatches(colors)];
  const places: [x: number, row: number][] = [];
  let [x, row] = [0, 0];
  const fitted = items.map((item) => {
    const text_ = text.fit(item.text, room - item.before, SMALL);
    const wide = item.before + text.width(text_, SMALL) + 14;
    if (x > 0 && x + wide - 14 > room) [x, row] = [0, row + 1];
    places.push([x, row]);
    x += wide;
    return text_;
  });
  return {
    height: items.length ? (row + 1) * (LINE + 1) + 4 : 0,
    paint(pen, theme, top) {
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      items.forEach((item, at) => {
        const [left, line] = places[at]!;
        const middle = top + (line + 0.5) * (LINE + 1);
        item.paint?.(pen, theme, MARGIN + left, middle);
        pen.font = `${SMALL}px ${theme.font}`;
        pen.fillStyle = item.paint ? theme.text : theme.muted;
        pen.fillText(fitted[at]!, MARGIN + left + item.before, middle);
      });
    },
  };
}

function scaleItems({ scale, dtype, asked }: TensorColors, text: TextWidths): Item[] {
  if (!scale) return [];
  const found: Item[] = [];
  if (scale.single) {
    found.push({
      text: `all ${aboutText(scale.low, dtype)}`,
      before: 14,
      paint(pen, _, x, middle) {
        pen.fillStyle = cssColor(scale.map, 0.5);
        pen.fillRect(x, middle - 5, 10, 10);
      },
    });
    return found;
  }
  const low = aboutText(scale.least, dtype);
  const start = text.width(low, SMALL) + 5;
  found.push({
    text: aboutText(scale.most, dtype),
    before: start + BAR + 5,
    paint(pen, theme, x, middle) {
      pen.font = `${SMALL}px ${theme.font}`;
      pen.fillStyle = theme.text;
      pen.fillText(low, x, middle);
      const [first, last] = [scale.share(scale.least), scale.share(scale.most)];
      const step = BAR / STEPS;
      for (let at = 0; at < STEPS; at += 1) {
        pen.fillStyle = cssColor(scale.map, first + ((last - first) * (at + 0.5)) / STEPS);
        pen.fillRect(x + start + step * at, middle - 5, step + (at < STEPS - 1 ? 0.3 : 0), 10);
      }
    },
  });
  const words = kindWords(scale, asked);
  if (words) found.push({ text: words, before: 0 });
  return found;
}

/** What is to be said of a scale that is not linear. */
function kindWords(scale: ColorScale, asked: string): string {
  if (scale.kind === "log") return "logarithmic";
  if (scale.kind !== "symlog") return "";
  const said = `symlog: linear within ±${aboutText(scale.threshold)}, logarithmic beyond`;
  return asked === "log" ? `${said}; no positive values, so not log` : said;
}

function swatches({ scale, known, dtype }: TensorColors): Item[] {
  const found: Item[] = [];
  for (const side of scale ? (["under", "over"] as const) : []) {
    const said = outsideOf(scale!, known, side, dtype);
    if (!said) continue;
    found.push({
      text: said,
      before: SIGN + 4,
      paint(pen, _, x, middle) {
        const box = { x, y: middle - SIGN / 2, width: SIGN, height: SIGN };
        pen.fillStyle = OUTSIDE[side];
        pen.fillRect(box.x, box.y, box.width, box.height);
        paintSign(pen, { x: x - 3, y: middle - 10, width: 20, height: 20 }, side);
      },
    });
  }
  for (const { special, text } of specialKey(known?.statistics)) {
    found.push({
      text,
      before: SIGN + 4,
      paint(pen, _, x, middle) {
        paintSpecial(pen, { x, y: middle - SIGN / 2, width: SIGN, height: SIGN }, special);
      },
    });
  }
  return found;
}
