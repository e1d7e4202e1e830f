import { clear, type Layer } from "../../shared/drawing/canvas.ts";
import type { Pen } from "../../shared/drawing/pen.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { niceTicks } from "../../shared/drawing/ticks.ts";
import { SPECIAL } from "../colors/colors.ts";
import { cellText } from "../picture/digit_text.ts";
import { type Label, Labels } from "../picture/labels.ts";
import { SpecialBoxes } from "../picture/plane_painter.ts";
import type { ProfileBar, ProfileScene, Stretch } from "./profile_scene.ts";

const FLAG = 9;
const APART = 36;
const LABEL = 60;
const PAD = 4;

/** The band from least to largest with the means inside; NaN and infinities stand above it. */
export function paintAlong(
  context: Pen,
  width: number,
  height: number,
  scene: ProfileScene | null,
  stretch: Stretch,
  name: string,
  dtype: string,
  theme: Theme,
): Label[] {
  if (!scene) return [];
  const { plot, axis, bars } = scene;
  const bottom = plot.y + plot.height;
  const y = (value: number) => bottom - PAD - (axis?.share(value) ?? 0.5) * (plot.height - 2 * PAD);
  const labels = new Labels(context, theme, width, height);
  for (const { value, text } of axis?.ticks(plot.height / APART) ?? []) {
    const at = Math.round(y(value)) + 0.5;
    context.fillStyle = value === 0 ? theme.muted : theme.line;
    context.globalAlpha = value === 0 ? 1 : 0.6;
    context.fillRect(plot.x, at - 0.5, plot.width, 1);
    context.globalAlpha = 1;
    labels.write(text, plot.x - 6, at, { align: "right" });
  }
  if (axis?.single) {
    labels.write(cellText(axis.low, dtype), plot.x - 6, y(axis.low), { align: "right" });
  }
  const gap = (bars[0]?.width ?? 0) >= 5 ? 1 : 0;
  const wide = (bar: ProfileBar) => Math.max(1, bar.width - gap);
  const signs = new SpecialBoxes();
  for (const bar of bars) {
    const [special] = bar.specials;
    if (!special) continue;
    context.globalAlpha = 0.3;
    context.fillStyle = SPECIAL[special];
    context.fillRect(bar.x, plot.y, wide(bar), plot.height);
    context.globalAlpha = 1;
    const width = Math.max(3, wide(bar));
    signs.add(special, { x: bar.x, y: plot.y - FLAG - 2, width, height: FLAG });
  }
  signs.paint(context);
  const known = axis ? bars.filter(({ least }) => !Number.isNaN(least)) : [];
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.35;
  for (const bar of known) {
    const [top, low] = [y(bar.largest), y(bar.least)];
    context.fillRect(bar.x, top, wide(bar), Math.max(1, low - top));
  }
  context.globalAlpha = 1;
  for (const bar of known) {
    for (const edge of [bar.largest, bar.least]) {
      context.fillRect(bar.x, y(edge) - 0.5, wide(bar), 1);
    }
  }
  context.fillStyle = theme.text;
  for (const bar of known) {
    const [mean, other] = [y(bar.means[1]), y(bar.means[0])];
    context.fillRect(bar.x, mean - 1, wide(bar), Math.max(2, other - mean));
  }
  context.strokeStyle = theme.line;
  context.strokeRect(plot.x - 0.5, plot.y - 0.5, plot.width + 1, plot.height + 1);
  const each = plot.width / stretch.length;
  const ticks = niceTicks(stretch.first, stretch.first + stretch.length - 1, plot.width / LABEL);
  const places =
    stretch.length > 1 ? ticks : [{ value: stretch.first, text: String(stretch.first) }];
  for (const { value } of places) {
    if (!Number.isInteger(value)) continue;
    const x = plot.x + (value - stretch.first + 0.5) * each;
    labels.write(String(value), x, bottom + 10, { align: "center" });
  }
  labels.write(`${name} →`, plot.x, bottom + 25);
  labels.write("band: min … max, line: mean", plot.x + plot.width, bottom + 25, {
    align: "right",
  });
  return labels.written;
}

/** The index that all parts are at, and the one below the pointer. */
export function paintPlace(
  overlay: Layer,
  stage: HTMLElement,
  scene: ProfileScene | null,
  { first, length }: Stretch,
  index: number | null,
  hover: number | null,
  theme: Theme,
): void {
  const { clientWidth: width, clientHeight: height } = stage;
  if (width === 0 || height === 0) return;
  clear(overlay, width, height);
  if (!scene) return;
  const { plot } = scene;
  const each = plot.width / length;
  const { context } = overlay;
  const line = (at: number, alpha: number) => {
    if (at < first || at >= first + length) return;
    context.globalAlpha = alpha;
    context.strokeStyle = theme.text;
    const x = plot.x + (at - first) * each;
    context.strokeRect(Math.round(x) - 0.5, plot.y - 3.5, Math.max(2, each) + 1, plot.height + 7);
    context.globalAlpha = 1;
  };
  if (hover !== null && hover !== index) line(hover, 0.45);
  if (index !== null) line(index, 1);
}
