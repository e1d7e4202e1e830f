import type { ViewOptions } from "../shared/ui/view_options.ts";
import type { Wires } from "./color/coloring.ts";
import type { Isolation } from "./data/isolate.ts";
import type { Direction } from "./layout/types.ts";
import type { GraphOptions } from "./options.ts";

const HEIGHT = 420;

/** What the traits ask for, whatever stands in them. */
export class Chosen {
  readonly #options: ViewOptions<GraphOptions>;

  constructor(options: ViewOptions<GraphOptions>) {
    this.#options = options;
  }

  get colorBy(): string {
    return this.#options.get("color_by") || "kind";
  }

  /** Template of the labels; empty for the usual ones. */
  get label(): string {
    return this.#options.get("label") ?? "";
  }

  get colorWires(): Wires {
    return this.#options.get("_color_columns") ?? {};
  }

  /** Between which values the colors lie; null for all. */
  get colorLimits(): readonly [low: number, high: number] | null {
    const limits = this.#options.get("color_limits");
    return limits && limits[0] < limits[1] ? limits : null;
  }

  /** Shows something else as color; limits belong to what was shown before. */
  colorWith(name: string): void {
    if (name !== this.colorBy) this.#options.set("color_limits", null);
    this.#options.set("color_by", name);
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

  get isolation(): Isolation | null {
    return this.#options.get("isolate") ?? null;
  }

  get hidden(): readonly string[] {
    return this.#options.get("hidden") ?? [];
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

  cycleColors(names: readonly string[]): void {
    this.colorWith(names[(names.indexOf(this.colorBy) + 1) % names.length]!);
  }

  toggleFold(): void {
    this.#options.set("fold_parameters", !this.fold);
  }
}
