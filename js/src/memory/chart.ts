import { clear, layer, Repaint } from "../shared/drawing/canvas.ts";
import { onThemeChange, readTheme, type Theme } from "../shared/drawing/theme.ts";
import { element } from "../shared/ui/dom.ts";
import type { PlanDescriptions } from "./descriptions.ts";
import { Overlay } from "./overlay.ts";
import { Painter } from "./painter.ts";
import type { Scene } from "./scene.ts";

/** The stage: two canvases over each other, painted when something on them has changed. */
export class Chart {
  readonly stage: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly #repaint: Repaint;
  #changed = true;

  constructor(
    root: HTMLElement,
    scene: Scene,
    words: PlanDescriptions,
    onPaint: () => void,
    signal: AbortSignal,
  ) {
    const [base, over] = [layer("tvmdbg-memory-base"), layer("tvmdbg-overlay")];
    this.canvas = base.canvas;
    this.stage = element("div", { class: "tvmdbg-stage" }, base.canvas, over.canvas);
    const painter = new Painter(scene, words, base.context);
    const overlay = new Overlay(scene, over.context);
    let theme: Theme | null = null;
    let drawn = {};
    const draw = () => {
      const { clientWidth: width, clientHeight: height } = this.stage;
      if (!width || !height) return;
      if (width !== scene.width || height !== scene.height) this.#changed = true;
      scene.resize(width, height);
      if (this.#changed || !theme) {
        theme = readTheme(root);
        clear(base, width, height);
        drawn = painter.paint(theme);
      }
      this.#changed = false;
      clear(over, width, height);
      overlay.paint(theme);
      onPaint();
    };
    this.#repaint = new Repaint(this.stage, draw, signal);
    onThemeChange(() => this.changed(), signal);
    root.addEventListener(
      "tvmdbg:inspect",
      (event) => {
        const out = (event as CustomEvent<Record<string, unknown> | null>).detail;
        if (!out) return;
        const { viewport, current, hovered } = scene;
        Object.assign(out, drawn, { view: [viewport.start, viewport.end], current, hovered });
      },
      { signal },
    );
  }

  /** The part in view has changed. */
  changed(): void {
    this.#changed = true;
    this.#repaint.request();
  }

  /** Only what lies over it has. */
  touched(): void {
    this.#repaint.request();
  }
}
