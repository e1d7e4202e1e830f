import type { Layer, TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { Fills } from "./fills.ts";
import { Overview } from "./overview.ts";
import { OVERVIEW, type Scene, TOP } from "./scene.ts";
import { Strips } from "./strips.ts";
import { type Drawn, TracksPainter } from "./tracks_painter.ts";

/** Paints all that changes with the part in view: overview, axis, tracks, and what is below them. */
export class Painter {
  readonly #scene: Scene;
  readonly #context: CanvasRenderingContext2D;
  readonly #fills: Fills;
  readonly #strips: Strips;
  readonly #overview: Overview;
  readonly #tracks: TracksPainter;
  #theme!: Theme;
  #themed = "";

  constructor(scene: Scene, { context }: Layer, measure: TextMeasure) {
    this.#scene = scene;
    this.#context = context;
    this.#fills = new Fills(scene.slices, scene.names);
    const source = {
      slices: scene.slices,
      fills: this.#fills,
      bins: (from: number, to: number, step: number) => scene.bins.bins(from, to, step),
    };
    this.#strips = new Strips(source);
    this.#overview = new Overview(
      scene,
      new Strips({ ...source, bins: () => scene.bins.coarsest }),
    );
    this.#tracks = new TracksPainter(scene, context, measure, this.#fills, this.#strips);
  }

  /** Other slices are here than before, or other colors. */
  forget(): void {
    this.#fills.recolor();
    this.#overview.forget();
    this.#strips.forget();
  }

  /**
   * Paints; whether all of it is as fine as it can be. With `record` it is, and what was drawn is kept in full.
   */
  paint(theme: Theme, record = false): boolean {
    this.#theme = theme;
    this.#retheme();
    const { width, height } = this.#scene;
    const context = this.#context;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.drawImage(this.#overview.picture(theme), 0, 0, width, OVERVIEW);
    const isFine = this.#tracks.paint(theme, devicePixelRatio || 1, record);
    context.save();
    context.beginPath();
    context.rect(0, TOP, width, height - TOP);
    context.clip();
    this.#bands();
    context.restore();
    return isFine;
  }

  /** What the last paint with `record` put on the stage. */
  get drawn(): Drawn {
    return this.#tracks.drawn;
  }

  #retheme(): void {
    const { background, dark, muted } = this.#theme;
    const themed = `${background} ${dark} ${muted}`;
    if (themed === this.#themed) return;
    this.#themed = themed;
    this.#fills.retheme(this.#theme);
    this.forget();
  }

  #bands(): void {
    const { bands, layout, scroll, height } = this.#scene;
    let y = TOP - scroll + layout.height;
    for (const band of bands) {
      if (y < height && y + band.height > TOP) {
        this.#context.save();
        band.paint(this.#context, this.#scene, this.#theme, y);
        this.#context.restore();
      }
      y += band.height;
    }
  }
}
