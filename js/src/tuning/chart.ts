import { clear, layer, type Pen, Repaint } from "../shared/drawing/canvas.ts";
import { onThemeChange, readTheme, type Theme } from "../shared/drawing/theme.ts";
import { largest, smallest } from "../shared/many.ts";
import { div, element } from "../shared/ui/dom.ts";
import { ChartPainter } from "./chart_painter.ts";
import { binLines, trialLines } from "./descriptions.ts";
import { LANE, type TrialScene } from "./scene.ts";

const DIM = 0.55;

/** Overlay of the chart: the counted range, the current trial, the hovered trial. */
export function paintOverlay(scene: TrialScene, pen: Pen, theme: Theme): void {
  range(scene, pen, theme);
  if (scene.trial >= 0) ring(scene, pen, scene.trial, theme.text, theme.background, 5);
  if (scene.hovered >= 0 && scene.hovered !== scene.trial) {
    ring(scene, pen, scene.hovered, theme.accent, theme.background, 4);
  }
}

/** Dims everything outside the range. */
function range(scene: TrialScene, pen: Pen, theme: Theme): void {
  const span = scene.dragged ?? scene.rangeValues;
  if (!span) return;
  const { plot, strip } = scene;
  const [low, high] = [smallest(span), largest(span)];
  const from = Math.max(plot.left, Math.min(plot.right, scene.x(low)));
  const to = Math.max(plot.left, Math.min(plot.right, scene.x(high)));
  pen.fillStyle = theme.background;
  pen.globalAlpha = DIM;
  pen.fillRect(plot.left, 0, from - plot.left, strip.bottom);
  pen.fillRect(to, 0, plot.right - to, strip.bottom);
  pen.globalAlpha = 1;
  pen.strokeStyle = theme.accent;
  pen.lineWidth = 1;
  pen.strokeRect(from + 0.5, 0.5, Math.max(1, to - from - 1), strip.bottom - 1);
}

function ring(
  scene: TrialScene,
  pen: Pen,
  trial: number,
  color: string,
  ground: string,
  size: number,
): void {
  const { data, plot } = scene;
  const [x, y] = scene.place(trial);
  if (!(x >= plot.left && x <= plot.right)) return;
  const [across, down] = data.error[trial] ? [4, LANE / 2] : [size, size];
  pen.lineWidth = 4;
  pen.strokeStyle = ground;
  pen.strokeRect(x - across, y - down, 2 * across, 2 * down);
  pen.lineWidth = 2;
  pen.strokeStyle = color;
  pen.strokeRect(x - across, y - down, 2 * across, 2 * down);
}

const APART = 14;

/** Tooltip beside the pointer, inside the view's box. */
export class TrialTooltip {
  readonly node = element("div", { class: "tvmdbg-tooltip", hidden: true });

  hide(): void {
    this.node.hidden = true;
  }

  show([title, ...rest]: readonly string[], x: number, y: number, root: HTMLElement): void {
    this.node.replaceChildren(
      element("strong", {}, title ?? ""),
      ...rest.map((line) => element("div", {}, line)),
    );
    this.node.hidden = false;
    const { offsetWidth, offsetHeight, style } = this.node;
    const left = x + APART + offsetWidth < root.clientWidth ? x + APART : x - APART - offsetWidth;
    const top = y + APART + offsetHeight < root.clientHeight ? y + APART : y - APART - offsetHeight;
    style.left = `${Math.max(2, left)}px`;
    style.top = `${Math.max(2, top)}px`;
  }
}

/** Two stacked canvases of the chart, painted after changes. */
export class TuningChart {
  readonly stage: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly #repaint: Repaint;
  #scene: TrialScene | null = null;
  #changed = true;

  constructor(root: HTMLElement, signal: AbortSignal) {
    const [base, over] = [layer("tvmdbg-tuning-base"), layer("tvmdbg-overlay")];
    this.canvas = base.canvas;
    this.stage = div("tvmdbg-stage", base.canvas, over.canvas);
    let theme: Theme | null = null;
    let drawn = {};
    const draw = () => {
      const { clientWidth: width, clientHeight: height } = this.stage;
      const scene = this.#scene;
      if (!width || !height || !scene) return;
      if (width !== scene.width || height !== scene.height) this.#changed = true;
      [scene.width, scene.height] = [width, height];
      if (this.#changed || !theme) {
        theme = readTheme(root);
        clear(base, width, height);
        drawn = new ChartPainter(scene, base.context).paint(theme);
      }
      this.#changed = false;
      clear(over, width, height);
      paintOverlay(scene, over.context, theme);
    };
    this.#repaint = new Repaint(this.stage, draw, signal);
    onThemeChange(() => this.changed(), signal);
    const inspect = (event: Event) => {
      const out = (event as CustomEvent<Record<string, unknown> | null>).detail;
      const scene = this.#scene;
      if (!out || !scene) return;
      const { task, trial, hovered, range, along, viewport, costs, plot, strip, laneY } = scene;
      const view = [viewport.start, viewport.end];
      const { chosen } = scene;
      const count = chosen ? chosen.reduce((sum, flag) => sum + flag, 0) : null;
      Object.assign(out, drawn, { task, trial, hovered, range, along, view, costs, found: count });
      Object.assign(out, { plot, strip, laneY, place: (row: number) => scene.place(row) });
    };
    root.addEventListener("tvmdbg:inspect", inspect, { signal });
  }

  show(scene: TrialScene): void {
    this.#scene = scene;
    this.changed();
  }

  changed(): void {
    this.#changed = true;
    this.#repaint.request();
  }

  /** Repaints the overlay only. */
  touched(): void {
    this.#repaint.request();
  }
}

/** Reports the trial, or the bar of the error strip, under the pointer. */
export class TrialHover {
  readonly #root: HTMLElement;
  readonly #chart: TuningChart;
  readonly #tooltip: TrialTooltip;

  constructor(root: HTMLElement, chart: TuningChart, tooltip: TrialTooltip) {
    this.#root = root;
    this.#chart = chart;
    this.#tooltip = tooltip;
  }

  at(scene: TrialScene, x: number, y: number): void {
    const trial = scene.hit(x, y);
    this.#mark(scene, trial);
    const lines = trial < 0 ? stripLines(scene, x, y) : trialLines(scene.data, trial);
    if (!lines) {
      this.#tooltip.hide();
      return;
    }
    const { offsetLeft, offsetTop } = this.#chart.stage;
    this.#tooltip.show(lines, x + offsetLeft, y + offsetTop, this.#root);
  }

  leave(scene: TrialScene): void {
    this.#tooltip.hide();
    this.#mark(scene, -1);
  }

  #mark(scene: TrialScene, trial: number): void {
    if (trial === scene.hovered) return;
    scene.hovered = trial;
    this.#chart.touched();
  }
}

function stripLines(scene: TrialScene, x: number, y: number): string[] | null {
  const bin = scene.binAt(x, y);
  return bin?.trials ? binLines(scene.data, scene.along, bin) : null;
}
