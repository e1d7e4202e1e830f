import { clear, type Layer, layer, Repaint } from "../shared/drawing/canvas.ts";
import { onThemeChange, readTheme, type Theme } from "../shared/drawing/theme.ts";
import { div } from "./dom.ts";

/** Painters of a stage's layers, whose size is in CSS px. */
export interface StagePainters {
  /** Called before each paint. */
  resize?(width: number, height: number): void;
  /** Paints all but what follows the pointer and the selection; returns false to be asked again, for finer detail. */
  base(theme: Theme, width: number, height: number, layer: Layer): unknown;
  /** Paints the rest; without it there is one layer. */
  over?(theme: Theme, width: number, height: number, layer: Layer): void;
  /** Called after each paint. */
  painted?(): void;
  /** Contents of the stage, for tests. */
  inspect?(): object;
}

/** Canvases on top of each other, painted after changes and while they are on the screen. */
export class Stage {
  readonly node: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  /** Paints at once what has changed. */
  readonly paint: () => void;
  readonly #repaint: Repaint;
  #changed = true;

  constructor(
    root: HTMLElement,
    baseClass: string,
    make: (base: Layer, over: Layer) => StagePainters,
    signal: AbortSignal,
    node: HTMLElement = div("tvmdbg-stage"),
  ) {
    const [base, over] = [layer(baseClass), layer("tvmdbg-overlay")];
    this.canvas = base.canvas;
    this.node = node;
    const painters = make(base, over);
    node.append(base.canvas, ...(painters.over ? [over.canvas] : []));
    let [theme, size]: [Theme | null, string] = [null, ""];
    this.paint = () => {
      const { clientWidth: width, clientHeight: height } = this.node;
      if (!width || !height) return;
      const now = `${width} ${height} ${devicePixelRatio}`;
      if (size !== now) this.#changed = true;
      size = now;
      painters.resize?.(width, height);
      if (this.#changed || !theme) {
        theme = readTheme(root);
        clear(base, width, height);
        this.#changed = painters.base(theme, width, height, base) === false;
        if (this.#changed) this.#repaint.request();
      }
      if (painters.over) {
        clear(over, width, height);
        painters.over(theme, width, height, over);
      }
      painters.painted?.();
    };
    this.#repaint = new Repaint(this.node, this.paint, signal);
    onThemeChange(() => this.changed(), signal);
    const inspect = (event: Event) => {
      const out = (event as CustomEvent<Record<string, unknown> | null>).detail;
      if (out) Object.assign(out, painters.inspect?.());
    };
    root.addEventListener("tvmdbg:inspect", inspect, { signal });
  }

  changed(): void {
    this.#changed = true;
    this.#repaint.request();
  }

  /** Repaints the overlay alone: pointer and selection. */
  touched(): void {
    this.#repaint.request();
  }
}
