import { binLines, trialLines } from "../data/descriptions.ts";
import type { Tooltip } from "../tooltip.ts";
import type { Chart } from "./chart.ts";
import type { Scene } from "./scene.ts";

/** Tells of the trial, or the bar of the error strip, that the pointer is on. */
export class Hover {
  readonly #root: HTMLElement;
  readonly #chart: Chart;
  readonly #tooltip: Tooltip;

  constructor(root: HTMLElement, chart: Chart, tooltip: Tooltip) {
    this.#root = root;
    this.#chart = chart;
    this.#tooltip = tooltip;
  }

  at(scene: Scene, x: number, y: number): void {
    const found = scene.hit(x, y);
    this.#mark(scene, found);
    const lines = found < 0 ? binTold(scene, x, y) : trialLines(scene.data, found);
    if (!lines) {
      this.#tooltip.hide();
      return;
    }
    const { offsetLeft, offsetTop } = this.#chart.stage;
    this.#tooltip.show(lines, x + offsetLeft, y + offsetTop, this.#root);
  }

  leave(scene: Scene): void {
    this.#tooltip.hide();
    this.#mark(scene, -1);
  }

  #mark(scene: Scene, trial: number): void {
    if (trial === scene.hovered) return;
    scene.hovered = trial;
    this.#chart.touched();
  }
}

function binTold(scene: Scene, x: number, y: number): string[] | null {
  const bin = scene.binAt(x, y);
  return bin?.trials ? binLines(scene.data, scene.along, bin) : null;
}
