import type { SpreadAnswer } from "../../shared/client/tensor_questions.ts";
import type { Layer, Pen } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import type { Tick } from "../../shared/drawing/value_axis.ts";
import { integer } from "../../shared/format.ts";
import { aboutText, screenText } from "../../shared/number_text.ts";
import { element, listening } from "../../shell/dom.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import { type ColorScale, cssColor, nearRange, scaleKind } from "../picture/color_scale.ts";
import { type PlacedLabel, PlotLabels } from "../picture/plane_layout.ts";
import { paintSpecial } from "../picture/plane_painter.ts";
import type { TensorHost } from "../state.ts";
import { type Spread, spreadOf } from "./spread.ts";
import {
  barAt,
  type HistogramBar,
  isSpecial,
  type SpreadScene,
  slotText,
  spreadScene,
} from "./spread_scene.ts";

const STRIP = 5;
const STRIP_STEP = 3;
const ABOUT = 3;
const TICK_ROOM = 48;

interface HistogramState {
  spread: Spread | null;
  scene: SpreadScene | null;
  colors: ColorScale | null;
  theme: Theme;
}

/** Bars, slots, the dtype's limits and the colors below; returns the labels that had room. */
export function paintHistogram(
  context: Pen,
  width: number,
  height: number,
  { spread, scene, colors, theme }: HistogramState,
  log: boolean,
): PlacedLabel[] {
  if (!scene || !spread) return [];
  const { plot } = scene;
  const bottom = plot.y + plot.height;
  const labels = new PlotLabels(context, theme, width, height);
  for (const bar of scene.bars) paintBar(context, bar, scene, theme);
  if (spread.bars.length) {
    context.fillStyle = theme.muted;
    context.fillRect(plot.x, bottom, plot.width, 1);
    if (colors) paintColors(context, spread, scene, colors, theme);
  }
  for (const bar of scene.bars) {
    if (!bar.slot) continue;
    const middle = bar.x + bar.width / 2;
    const place = { align: "center", color: theme.text } as const;
    labels.write(slotText(bar.slot, spread.dtype), middle, bottom + 14, place);
    labels.write(integer(bar.likely), middle, bar.y - 8, place);
  }
  paintLimits(context, labels, scene, theme);
  const most = `max count: ${integer(Math.round(scene.top))}${log ? " (log)" : ""}`;
  if (spread.bars.length) {
    const limited = scene.limits.length > 0;
    const x = limited ? plot.x + plot.width / 2 : plot.x;
    labels.write(most, x, 7, { align: limited ? "center" : "left" });
  } else if (spread.slots.every(({ name }) => isSpecial(name))) {
    const place = { align: "center" } as const;
    labels.write("no finite value", plot.x + plot.width / 2, plot.y + plot.height / 2, place);
  }
  const { axis, only } = spread;
  if (only !== null && spread.bars.length) {
    const middle = plot.x + plot.width / 2;
    labels.write(screenText(only), middle, bottom + 15, { align: "center" });
  }
  const ticks = only === null ? ticksOf(spread, plot.width / TICK_ROOM) : [];
  const first = ticks.findIndex(({ value }) => value === 0);
  const ordered = first < 0 ? ticks : [ticks[first]!, ...ticks.filter((_, k) => k !== first)];
  for (const { value, text } of ordered) {
    const x = plot.x + axis.share(value) * plot.width;
    context.fillStyle = theme.muted;
    if (labels.write(text, x, bottom + 15, { align: "center" })) {
      context.fillStyle = value === 0 ? theme.text : theme.muted;
      context.fillRect(Math.round(x), bottom, 1, STRIP + 4);
    }
  }
  return labels.written;
}

/** Round numbers along the axis, written as values of the dtype; integers for integers. */
function ticksOf({ axis, whole, dtype }: Spread, count: number): Tick[] {
  const ticks = axis.ticks(count);
  if (!whole) return ticks;
  return ticks
    .filter(({ value }) => Number.isInteger(value))
    .map(({ value }) => ({ value, text: aboutText(value, dtype) }));
}

function paintBar(
  context: Pen,
  bar: HistogramBar,
  { plot, tall }: SpreadScene,
  theme: Theme,
): void {
  if (bar.slot && isSpecial(bar.slot)) paintSpecial(context, bar, bar.slot);
  else {
    context.fillStyle = bar.slot ? theme.muted : theme.accent;
    const gap = bar.width > 3 ? 1 : 0;
    context.fillRect(bar.x, bar.y, Math.max(1, bar.width - gap), bar.height);
  }
  if (bar.over) {
    context.fillStyle = theme.background;
    for (const up of [8, 12]) context.fillRect(bar.x - 1, bar.y + up, bar.width + 2, 1.5);
  }
  if (bar.slot || bar.least === bar.most || !Number.isFinite(bar.most)) return;
  const [low, high] = [tall(bar.least), Math.min(plot.height, tall(bar.most))];
  if (high - low < ABOUT) return;
  const middle = Math.round(bar.x + (bar.width - 1) / 2);
  context.fillStyle = theme.text;
  context.globalAlpha = 0.55;
  context.fillRect(middle, plot.y + plot.height - high, 1, high - low);
  context.globalAlpha = 1;
}

/** A strip in the colors of the picture, with shade outside of their range. */
function paintColors(
  context: Pen,
  { axis, whole }: Spread,
  { plot }: SpreadScene,
  colors: ColorScale,
  theme: Theme,
): void {
  const bottom = plot.y + plot.height + 1;
  for (let x = 0; x < plot.width; x += STRIP_STEP) {
    const wide = Math.min(STRIP_STEP, plot.width - x);
    const value = axis.value((x + wide / 2) / plot.width);
    if (colors.side(value) !== "on") continue;
    context.fillStyle = cssColor(colors.map, colors.share(value));
    context.fillRect(plot.x + x, bottom, wide, STRIP);
  }
  if (axis.single) return;
  const at = (value: number) => plot.x + Math.min(1, Math.max(0, axis.share(value))) * plot.width;
  context.fillStyle = theme.background;
  context.globalAlpha = 0.6;
  const { least, most } = colors;
  // The bar of an integer extends half a step to either side.
  const [low, high] =
    whole && axis.kind !== "log"
      ? [at(Math.ceil(least) - 0.5), at(Math.floor(most) + 0.5)]
      : [at(least), at(most)];
  context.fillRect(plot.x, plot.y, low - plot.x, plot.height);
  context.fillRect(high, plot.y, plot.x + plot.width - high, plot.height);
  context.globalAlpha = 1;
}

function paintLimits(
  context: Pen,
  labels: PlotLabels,
  { limits, plot }: SpreadScene,
  theme: Theme,
): void {
  context.save();
  context.setLineDash([3, 3]);
  for (const { x, text, loud } of limits) {
    const color = loud ? theme.warning : theme.muted;
    context.strokeStyle = color;
    const at = Math.min(plot.x + plot.width - 0.5, Math.round(x) + 0.5);
    context.beginPath();
    context.moveTo(at, plot.y - 4);
    context.lineTo(at, plot.y + plot.height);
    context.stroke();
    const left = x < plot.x + plot.width / 2;
    const place = { align: left ? "left" : "right", color } as const;
    context.save();
    context.setLineDash([]);
    labels.write(text, left ? plot.x : plot.x + plot.width, 7, place);
    context.restore();
  }
  context.restore();
}

export function paintChosen(
  context: Pen,
  scene: SpreadScene | null,
  chosen: readonly [number, number] | null,
  theme: Theme,
): void {
  const [one, other] = [chosen && scene?.bars[chosen[0]], chosen && scene?.bars[chosen[1]]];
  if (!one || !other || !scene) return;
  const { plot } = scene;
  const left = Math.min(one.x, other.x);
  const right = Math.max(one.x + one.width, other.x + other.width);
  context.strokeStyle = theme.text;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, plot.y, Math.max(right - left, 2) + 1, plot.height);
}

const AUTO = { scale: "auto", range: "auto" } as const;

export class SmallHistogram implements StagePainters {
  readonly node = element("div", { class: "tvmdbg-stage tvmdbg-tensor-small-bars", role: "img" });
  readonly #stage: Stage;
  #counts: SpreadAnswer | null = null;
  #dtype = "";
  #scene: SpreadScene | null = null;

  constructor({ root, signal }: Pick<TensorHost, "root" | "signal">) {
    this.#stage = new Stage(root, "tvmdbg-base", () => this, signal, this.node);
    const listen = listening(this.node, signal);
    listen("pointermove", (event) => {
      const x = event.clientX - this.node.getBoundingClientRect().x;
      const bar = this.#scene && barAt(this.#scene, x);
      this.node.title = bar === null ? "" : (this.#scene?.bars[bar]?.text ?? "");
    });
  }

  show(spread: SpreadAnswer, dtype: string): void {
    this.#counts = spread;
    this.#dtype = dtype;
    this.node.hidden = !spread.statistics;
    this.#stage.changed();
  }

  inspected() {
    return this.#scene?.bars ?? [];
  }

  base(theme: Theme, width: number, height: number, { context }: Layer): void {
    const counts = this.#counts;
    if (!counts?.statistics) return;
    const near = nearRange(counts, AUTO);
    const zoom = near && ([near.low, near.high] as const);
    const spread = spreadOf(counts, this.#dtype, { kind: scaleKind(counts, "auto"), zoom });
    this.#scene = spread && spreadScene(spread, counts.statistics.size, width, height, false);
    const view = { spread, scene: this.#scene, colors: null, theme };
    paintHistogram(context, width, height, view, false);
    const most = integer(Math.round(this.#scene?.top ?? 0));
    this.node.setAttribute("aria-label", `Histogram of the region, max count ${most}`);
  }
}
