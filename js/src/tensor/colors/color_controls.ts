import { element, select } from "../../shared/ui/dom.ts";
import { field, piece } from "../parts.ts";
import type { Shown } from "../state.ts";
import {
  type CellChoice,
  type ColorChoice,
  type MapChoice,
  type RangeChoice,
  SCALE_CHOICES,
  type ScaleChoice,
} from "./color_scale.ts";

export const MAPS = ["auto", "sequential", "diverging"] as const;
const RANGES = [
  ["auto", "auto"],
  ["tensor", "whole tensor"],
  ["plane", "this heatmap"],
  ["robust", "p1 to p99"],
] as const;
const TYPED = ["typed", "custom"] as const;
export const RANGE_NAMES = RANGES.map(([name]) => name);
const CELL_NAMES = [
  ["mean", "mean"],
  ["least", "min"],
  ["largest", "max"],
  ["extreme", "max abs"],
] as const;
export const CELLS = ["mean", "least", "largest", "extreme"] as const;

interface Events {
  recolor(change: Partial<ColorChoice>): void;
  cells(cells: CellChoice): void;
  leave(): void;
}

/** Scale, table and range of the colors, and which number of a cell they show. */
export class ColorControls {
  readonly node: HTMLElement;
  readonly #events: Events;
  readonly #scale: HTMLSelectElement;
  readonly #map: HTMLSelectElement;
  readonly #range: HTMLSelectElement;
  readonly #cells: HTMLSelectElement;
  readonly #cellsLabel: HTMLElement;
  readonly #low: HTMLInputElement;
  readonly #high: HTMLInputElement;
  readonly #typed: HTMLElement;
  #now: readonly [number, number] = [0, 1];

  constructor(events: Events) {
    this.#events = events;
    const { recolor } = events;
    const ends = ["from", "to"].map((end) => {
      const look = { inputmode: "decimal", size: 8 };
      return field(`Color range ${end}`, look, () => this.#type(), events.leave);
    });
    [this.#low, this.#high] = ends as [HTMLInputElement, HTMLInputElement];
    this.#typed = piece("typed", this.#low, "to", this.#high);
    this.#scale = select("Color scale (l)", named(SCALE_CHOICES), "auto", (scale) =>
      recolor({ scale: scale as ScaleChoice }),
    );
    this.#map = select("Color map (c)", named(MAPS), "auto", (map) =>
      recolor({ map: map as MapChoice }),
    );
    this.#range = select("Color range (r)", [...RANGES, TYPED], "auto", (range) =>
      recolor({ range: range === "typed" ? this.#now : (range as RangeChoice) }),
    );
    this.#cells = select("Downsample cells of several values by (e)", CELL_NAMES, "mean", (cells) =>
      events.cells(cells as CellChoice),
    );
    this.#cellsLabel = element("label", {}, element("span", {}, "downsample by"), this.#cells);
    this.node = element(
      "div",
      { class: "tvmdbg-tensor-controls", role: "group", "aria-label": "Colors" },
      element("label", {}, element("span", {}, "color scale"), this.#scale),
      element("label", {}, element("span", {}, "color map"), this.#map),
      element("label", {}, element("span", {}, "color range"), this.#range),
      this.#typed,
      this.#cellsLabel,
    );
  }

  show({ colors, cells, scale, answer, show }: Shown): void {
    this.#scale.value = colors.scale;
    this.#map.value = colors.map;
    const typed = typeof colors.range !== "string";
    this.#range.value = typed ? "typed" : (colors.range as string);
    if (scale) this.#now = [scale.least, scale.most];
    this.#typed.hidden = !typed;
    if (typed) {
      const ends = [this.#low, this.#high];
      for (const [end, field] of ends.entries()) {
        const text = String(Number((colors.range as readonly number[])[end]!.toPrecision(7)));
        if (document.activeElement !== field) field.value = text;
      }
    }
    this.#cells.value = cells;
    const tile = answer?.tile;
    const single = !tile || tile.rowStep * tile.colStep === 1;
    this.#cellsLabel.hidden = show === "profile" || (show === "picture" && single);
  }

  #type(): undefined {
    const [low, high] = [this.#low, this.#high].map((field) =>
      field.value.trim() === "" ? Number.NaN : Number(field.value.replace("−", "-")),
    ) as [number, number];
    const sound = Number.isFinite(low) && Number.isFinite(high) && low < high;
    for (const field of [this.#low, this.#high]) field.setAttribute("aria-invalid", String(!sound));
    if (sound) this.#events.recolor({ range: [low, high] });
  }
}

/** Choices that are called what they are. */
export function named<T extends string>(names: readonly T[]) {
  return names.map((each) => [each, each] as const);
}
