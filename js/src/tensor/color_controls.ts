import { element, select } from "../shared/dom.ts";
import type { ColorChoice, MapChoice, RangeChoice, ScaleKind } from "./color_scale.ts";

const SCALES = [
  ["linear", "linear"],
  ["symlog", "symlog"],
] as const;
const MAPS = [
  ["auto", "auto"],
  ["sequential", "sequential"],
  ["diverging", "diverging"],
] as const;
const RANGES = [
  ["tensor", "whole tensor"],
  ["plane", "this picture"],
  ["robust", "1st to 99th percentile"],
] as const;
type NamedRange = Exclude<RangeChoice, readonly [number, number]>;

/** Scale, table and range of the colours. */
export class ColorControls {
  readonly node: HTMLElement;
  readonly #scale: HTMLSelectElement;
  readonly #map: HTMLSelectElement;
  readonly #range: HTMLSelectElement;

  constructor(start: ColorChoice, change: (choice: Partial<ColorChoice>) => void) {
    this.#scale = select("Scale of the colours (l)", SCALES, start.scale, (scale) =>
      change({ scale: scale as ScaleKind }),
    );
    this.#map = select("Colours (c)", MAPS, start.map, (map) => change({ map: map as MapChoice }));
    this.#range = select("Range of the colours (r)", RANGES, named(start.range), (range) =>
      change({ range: range as NamedRange }),
    );
    this.node = element(
      "div",
      { class: "tvmdbg-tensor-controls", role: "group", "aria-label": "Colours" },
      element("label", {}, element("span", {}, "scale"), this.#scale),
      element("label", {}, element("span", {}, "colours"), this.#map),
      element("label", {}, element("span", {}, "range"), this.#range),
    );
  }

  show(choice: ColorChoice): void {
    this.#scale.value = choice.scale;
    this.#map.value = choice.map;
    this.#range.value = named(choice.range);
  }
}

function named(range: RangeChoice): NamedRange {
  return typeof range === "string" ? range : "tensor";
}

/** The choice after this one, round and round. */
export function nextScale(scale: ScaleKind): ScaleKind {
  return following(SCALES, scale);
}

export function nextMap(map: MapChoice): MapChoice {
  return following(MAPS, map);
}

export function nextRange(range: RangeChoice): RangeChoice {
  return following(RANGES, named(range));
}

function following<T extends string>(choices: readonly (readonly [T, string])[], value: T): T {
  const at = choices.findIndex(([each]) => each === value);
  return choices[(at + 1) % choices.length]![0];
}
