import { element, select } from "../shared/dom.ts";
import { AXIS_KINDS } from "../shared/value_axis.ts";
import type { CellChoice, ColorChoice, MapChoice, RangeChoice, ScaleKind } from "./color_scale.ts";
import { field, piece } from "./parts.ts";
import type { Shown } from "./state.ts";

export const MAPS = ["auto", "sequential", "diverging"] as const;
const RANGES = [
  ["auto", "auto"],
  ["tensor", "whole tensor"],
  ["plane", "this picture"],
  ["robust", "1st to 99th percentile"],
] as const;
const TYPED = ["typed", "from … to"] as const;
export const RANGE_NAMES = RANGES.map(([name]) => name);
const CELL_NAMES = [
  ["mean", "mean"],
  ["least", "min"],
  ["largest", "max"],
  ["extreme", "largest magnitude"],
] as const;
export const CELLS = ["mean", "least", "largest", "extreme"] as const;

interface Events {
  recolor(change: Partial<ColorChoice>): void;
  cells(cells: CellChoice): void;
  leave(): void;
}

/** Scale, table and range of the colours, and which number of a cell they show. */
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
    const ends = ["Least", "Largest"].map((end) => {
      const look = { inputmode: "decimal", size: 8 };
      return field(`${end} value of the colours`, look, () => this.#type(), events.leave);
    });
    [this.#low, this.#high] = ends as [HTMLInputElement, HTMLInputElement];
    this.#typed = piece("typed", this.#low, "to", this.#high);
    this.#scale = select("Scale of the colours (l)", named(AXIS_KINDS), "linear", (scale) =>
      recolor({ scale: scale as ScaleKind }),
    );
    this.#map = select("Colours (c)", named(MAPS), "auto", (map) =>
      recolor({ map: map as MapChoice }),
    );
    this.#range = select("Range of the colours (r)", [...RANGES, TYPED], "auto", (range) =>
      recolor({ range: range === "typed" ? this.#now : (range as RangeChoice) }),
    );
    this.#cells = select(
      "What colours show of a cell of several values (e)",
      CELL_NAMES,
      "mean",
      (cells) => events.cells(cells as CellChoice),
    );
    this.#cellsLabel = element("label", {}, element("span", {}, "downsample by"), this.#cells);
    this.node = element(
      "div",
      { class: "tvmdbg-tensor-controls", role: "group", "aria-label": "Colours" },
      element("label", {}, element("span", {}, "colour scale"), this.#scale),
      element("label", {}, element("span", {}, "colours"), this.#map),
      element("label", {}, element("span", {}, "range"), this.#range),
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
