import { TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { cssColor, specialKey } from "../colors/colors.ts";
import { legendTicks } from "../colors/legend.ts";
import type { Shown } from "../state.ts";

const PAD = 12;
const LINE = 17;
const BAR = 260;
const FONT = 12;

/** The picture as it is on screen, with what it is of above and what its colors mean below. */
export function snapshot(
  picture: HTMLCanvasElement,
  shown: Shown,
  words: readonly string[],
  theme: Theme,
): HTMLCanvasElement {
  const ratio = picture.width / (picture.clientWidth || picture.width) || 1;
  const [width, height] = [picture.width / ratio, picture.height / ratio];
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2-D canvas");
  const font = `${FONT}px ${theme.font}`;
  context.font = font;
  const measure = new TextMeasure(context);
  const total = Math.max(width, BAR + 60, 320) + 2 * PAD;
  const swatches = specialKey(shown.statistics?.statistics);
  const below = (shown.scale ? 40 : 0) + (swatches.length ? LINE + 4 : 0);
  const top = PAD + words.length * LINE + 6;
  canvas.width = Math.round(total * ratio);
  canvas.height = Math.round((top + height + below + PAD) * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, total, top + height + below + PAD);
  context.textBaseline = "middle";
  context.fillStyle = theme.text;
  words.forEach((line, k) => {
    context.font = k === 0 ? `600 ${font}` : font;
    context.fillText(measure.fit(line, total - 2 * PAD), PAD, PAD + (k + 0.5) * LINE);
  });
  for (const layer of picture.parentElement?.querySelectorAll(":scope > canvas") ?? []) {
    context.drawImage(layer as HTMLCanvasElement, PAD, top, width, height);
  }
  context.font = font;
  let y = top + height + 8;
  if (shown.scale) {
    paintBar(context, shown, y, theme);
    y += 36;
  }
  let x = PAD;
  for (const { color, text } of swatches) {
    context.fillStyle = color;
    context.fillRect(x, y, 14, 14);
    context.fillStyle = theme.text;
    context.fillText(text, x + 19, y + 7.5);
    x += 19 + measure.width(text) + 16;
  }
  return canvas;
}

function paintBar(
  context: CanvasRenderingContext2D,
  { scale, answer }: Shown,
  y: number,
  theme: Theme,
): void {
  if (!scale) return;
  const dtype = answer?.valueDtype;
  for (let x = 0; x < BAR; x += 1) {
    context.fillStyle = cssColor(scale.map, scale.single ? 0.5 : x / (BAR - 1));
    context.fillRect(PAD + x, y, 1, 12);
  }
  context.fillStyle = theme.text;
  for (const { text, at, align } of legendTicks(scale, BAR, dtype)) {
    context.textAlign = align === "middle" ? "center" : align;
    context.fillText(text, PAD + at, y + 22);
  }
  context.textAlign = "start";
  context.fillText(scale.kind, PAD + BAR + 8, y + 6);
}
