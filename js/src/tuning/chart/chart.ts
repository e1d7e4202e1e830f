import { clear, layer, Repaint } from "../../shared/drawing/canvas.ts";
import { onThemeChange, readTheme, type Theme } from "../../shared/drawing/theme.ts";
import { element } from "../../shared/ui/dom.ts";
import { ChartPainter } from "./chart_painter.ts";
import { paintOverlay } from "./overlay.ts";
import type { Scene } from "./scene.ts";

/** The stage of the chart: two canvases over each other, painted when something on them has changed. */
export class Chart {
  readonly stage: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly #repaint: Repaint;
  #scene: Scene | null = null;
  #changed = true;

  constructor(root: HTMLElement, signal: AbortSignal) {
    const [base, over] = [layer("tvmdbg-tuning-base"), layer("tvmdbg-overlay")];
    this.canvas = base.canvas;
    this.stage = element("div", { class: "tvmdbg-stage" }, base.canvas, over.canvas);
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
    root.addEventListener(
      "tvmdbg:inspect",
      (event) => {
        const out = (event as CustomEvent<Record<string, unknown> | null>).detail;
        const scene = this.#scene;
        if (!out || !scene) return;
        const { task, trial, hovered, range, along, viewport, costs, plot, strip, laneY } = scene;
        const view = [viewport.start, viewport.end];
        const { chosen } = scene;
        const found = chosen ? chosen.reduce((sum, each) => sum + each, 0) : null;
        Object.assign(out, drawn, { task, trial, hovered, range, along, view, costs, found });
        Object.assign(out, { plot, strip, laneY, place: this.#placeOf(scene) });
      },
      { signal },
    );
  }

  /** Where a trial lies, for tests. */
  #placeOf(scene: Scene) {
    return (row: number) => {
      const { data } = scene;
      const y = data.error[row] ? scene.laneY : scene.y(data.cost[row]!);
      return [scene.x(scene.value(row)), y];
    };
  }

  show(scene: Scene): void {
    this.#scene = scene;
    this.changed();
  }

  changed(): void {
    this.#changed = true;
    this.#repaint.request();
  }

  /** Only what lies over it has changed. */
  touched(): void {
    this.#repaint.request();
  }
}
