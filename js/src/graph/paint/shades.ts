import { channels } from "../../shared/drawing/theme.ts";
import type { Colors } from "../color/colors.ts";
import { flatFill, type Picture, prominence } from "./picture.ts";

/** Ranks and fills of boxes without text as numbers, each made once: what thousands of boxes in a frame are drawn from. */
export class Shades {
  readonly highlight: string | null;
  readonly hits: Picture["hits"];
  /** Which of several boxes is seen; of a box whose color is 0, not known yet. */
  readonly rank: Float64Array;
  /** As the pixels of a picture have it. */
  readonly color: Uint32Array;
  readonly #picture: Pick<Picture, "colors" | "palette" | "highlight" | "hits">;
  readonly #pixels = new Map<string, number>();

  constructor({ colors, palette, highlight, hits, placed }: Picture) {
    this.highlight = highlight;
    this.hits = hits ?? null;
    this.#picture = { colors, palette, highlight, hits: this.hits };
    this.rank = new Float64Array(placed.scene.count);
    this.color = new Uint32Array(placed.scene.count);
  }

  make(box: number): void {
    const fill = this.fill(box);
    let pixel = this.#pixels.get(fill);
    if (pixel === undefined) {
      const [red, green, blue] = channels(fill);
      [pixel] = new Uint32Array(Uint8Array.of(red, green, blue, 255).buffer);
      this.#pixels.set(fill, pixel!);
    }
    this.rank[box] = prominence(this.#picture, box);
    this.color[box] = pixel!;
  }

  fill(box: number): string {
    return flatFill(this.#picture, box);
  }
}

const kept = new WeakMap<Colors, Shades>();

/** The shades of a picture: the same as long as its colors and what the legend sets off are the same. */
export function shadesOf(picture: Picture): Shades {
  let shades = kept.get(picture.colors);
  if (!shades || shades.highlight !== picture.highlight || shades.hits !== (picture.hits ?? null)) {
    shades = new Shades(picture);
    kept.set(picture.colors, shades);
  }
  return shades;
}
