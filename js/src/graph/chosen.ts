import type { ViewOptions } from "../shared/view.ts";
import type { Direction } from "./layout/types.ts";
import type { GraphOptions } from "./options.ts";
import { COLOR_BY, type ColorBy } from "./picture.ts";

const HEIGHT = 420;

/** What the traits ask for, whatever stands in them. */
export class Chosen {
  readonly #options: ViewOptions<GraphOptions>;

  constructor(options: ViewOptions<GraphOptions>) {
    this.#options = options;
  }

  get colorBy(): ColorBy {
    const chosen = this.#options.get("color_by");
    return COLOR_BY.includes(chosen) ? chosen : "kind";
  }

  get direction(): Direction {
    return this.#options.get("direction") === "right" ? "right" : "down";
  }

  get fold(): boolean {
    return this.#options.get("fold_parameters") !== false;
  }

  get focus(): string | number | null {
    return this.#options.get("focus") ?? null;
  }

  get hops(): number | null {
    return this.#options.get("hops") ?? null;
  }

  get grouped(): boolean {
    return this.#options.get("grouped") !== false;
  }

  get openGroups(): readonly number[] | null {
    return this.#options.get("open_groups") ?? null;
  }

  get wrapped(): boolean | null {
    return this.#options.get("wrapped") ?? null;
  }

  get group(): number | null {
    return this.#options.get("group") ?? null;
  }

  get query(): string {
    return this.#options.get("search") ?? "";
  }

  /** CSS px. */
  get height(): number {
    const height = this.#options.get("height");
    return height > 0 ? height : HEIGHT;
  }

  cycleColors(): void {
    const next = (COLOR_BY.indexOf(this.colorBy) + 1) % COLOR_BY.length;
    this.#options.set("color_by", COLOR_BY[next]!);
  }

  toggleFold(): void {
    this.#options.set("fold_parameters", !this.fold);
  }
}
