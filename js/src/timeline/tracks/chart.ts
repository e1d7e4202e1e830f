import { clear, layer, Repaint, TextMeasure } from "../../shared/drawing/canvas.ts";
import { onThemeChange, readTheme, type Theme } from "../../shared/drawing/theme.ts";
import { element } from "../../shared/ui/dom.ts";
import { Overlay } from "./overlay.ts";
import { Painter } from "./painter.ts";
import type { Scene } from "./scene.ts";
import type { Drawn } from "./tracks_painter.ts";

/** The stage: two canvases over each other, painted when something on them has changed. */
export class Chart {
  readonly stage: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly #scene: Scene;
  readonly #repaint: Repaint;
  readonly #painter: Painter;
  #base = true;
  #record: () => Drawn = () => ({ labels: [], marks: [] });

  constructor(root: HTMLElement, scene: Scene, onPaint: () => void, signal: AbortSignal) {
    this.#scene = scene;
    const [base, over] = [layer("tvmdbg-timeline-base"), layer("tvmdbg-overlay")];
    this.canvas = base.canvas;
    this.stage = element("div", { class: "tvmdbg-stage" }, base.canvas, over.canvas);
    const measure = new TextMeasure(base.context);
    const painter = new Painter(scene, base, measure);
    this.#painter = painter;
    const overlay = new Overlay(scene, over, new TextMeasure(over.context));
    let theme: Theme | null = null;
    const draw = () => {
      const { clientWidth: width, clientHeight: height } = this.stage;
      if (!width || !height) return;
      if (width !== scene.width || height !== scene.height) this.#base = true;
      scene.resize(width, height);
      if (this.#base || !theme) {
        theme = readTheme(root);
        clear(base, width, height);
        this.#base = !painter.paint(theme);
        if (this.#base) this.#repaint.request();
      }
      clear(over, width, height);
      overlay.paint(theme);
      onPaint();
    };
    this.#record = () => {
      clear(base, scene.width, scene.height);
      painter.paint(readTheme(root), true);
      return painter.drawn;
    };
    this.#repaint = new Repaint(this.stage, draw, signal);
    onThemeChange(() => this.changed(), signal);
    root.addEventListener("tvmdbg:inspect", (event) => this.#inspect(event), { signal });
  }

  /** The part in view has changed. */
  changed(): void {
    this.#base = true;
    this.#repaint.request();
  }

  /** Other slices are here than before, or other colors. */
  arrived(): void {
    this.#painter.forget();
    this.changed();
  }

  /** Only what lies over it has: pointer, selection, found slices, range. */
  touched(): void {
    this.#repaint.request();
  }

  #inspect(event: Event): void {
    const out = (event as CustomEvent<Record<string, unknown> | null>).detail;
    if (!out) return;
    const { viewport, range, current, hovered } = this.#scene;
    if (this.stage.isConnected) Object.assign(out, this.#record());
    out.view = [viewport.start, viewport.end];
    out.range = range;
    out.current = current;
    out.critical = this.#scene.critical?.count ?? 0;
    out.hovered = hovered;
  }
}
