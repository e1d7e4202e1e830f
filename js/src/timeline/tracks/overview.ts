import { clear, layer } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { RowKind } from "../data/slices.ts";
import { OVERVIEW, type Scene } from "./scene.ts";
import type { Strips } from "./strips.ts";

/** All of the time, the lowest rows of every track: the same picture for every part in view. */
export class Overview {
  readonly #scene: Scene;
  readonly #strips: Strips;
  readonly #kept = layer("");
  #keptFor = "";

  constructor(scene: Scene, strips: Strips) {
    this.#scene = scene;
    this.#strips = strips;
  }

  /** Other slices are here than before, or other colors. */
  forget(): void {
    this.#keptFor = "";
  }

  picture({ surface }: Theme): HTMLCanvasElement {
    const { slices, width, viewport, bins } = this.#scene;
    const ratio = devicePixelRatio || 1;
    const shown = [width, ratio, surface].join();
    if (shown === this.#keptFor) return this.#kept.canvas;
    this.#keptFor = shown;
    clear(this.#kept, width, OVERVIEW);
    const { context } = this.#kept;
    context.fillStyle = surface;
    context.fillRect(0, 0, width, OVERVIEW);
    const lowest = slices.rows.filter(
      ({ kind, depth }) => kind === RowKind.OVERLAP || (kind === RowKind.NESTED && depth === 0),
    );
    const columns = Math.round(width * ratio);
    const view = {
      start: viewport.first,
      step: viewport.whole / columns,
      width: columns,
      rows: lowest.length,
      ratio,
    };
    this.#strips.forget();
    this.#strips.begin(view, 0, Infinity, bins.coarsest.length > 0);
    const strips = lowest.map((row) => this.#strips.tell(row));
    this.#strips.flush();
    const room = ((OVERVIEW - 6) / slices.tracks.length) * ratio;
    lowest.forEach((row, i) => {
      const y = Math.round(3 * ratio + row.track * room);
      const height = Math.max(1, Math.round(room - ratio));
      this.#strips.drawPixels(context, strips[i]!, y, height);
    });
    return this.#kept.canvas;
  }
}
