import type { SpreadAnswer } from "../../shared/client/tensor_questions.ts";
import { integer, percent } from "../../shared/format.ts";
import { button, element, relabel, select } from "../../shell/dom.ts";
import { field, muted, part, piece, TensorPart } from "../parts.ts";
import type { ShownTensor, TensorHost } from "../state.ts";
import {
  type CellChoice,
  type ColorChoice,
  type MapChoice,
  nearRange,
  type RangeChoice,
  SCALE_CHOICES,
  type ScaleChoice,
  scaleKind,
} from "./color_scale.ts";

/** `1 of 51,200,000 values beyond`; empty if colors and histogram leave none out. */
export function beyondText(
  known: SpreadAnswer | null,
  colors: Pick<ColorChoice, "scale" | "range">,
): string {
  const near = nearRange(known, colors);
  if (!near || !known?.statistics) return "";
  return `${integer(near.beyond)} of ${integer(known.statistics.finite)} ${valuesOf(known)} beyond`;
}

/** `log scale: 95.1 % of values would share one bar`, or that they do on a linear scale. Empty if no bar is crowded. */
export function crowdText(known: SpreadAnswer | null, { scale }: ColorChoice): string {
  if (!known?.statistics || known.scale === "linear") return "";
  const kind = scaleKind(known, scale);
  const values = `${known.statistics.zero ? "nonzero " : ""}${valuesOf(known)}`;
  const crowd = `${percent(known.crowd)} of ${values}`;
  if (kind === "linear") return `${crowd} share one bar`;
  return scale === "auto" ? `${kind} scale: ${crowd} would share one bar` : "";
}

function valuesOf({ state }: SpreadAnswer): string {
  return state === "exact" ? "values" : "sampled values";
}

/** The range after the next press: all values, or all but the outliers. */
export function switched(range: RangeChoice): RangeChoice {
  return range === "auto" ? "tensor" : "auto";
}

/** Notes on how colors and histogram adapt to the values and why, with buttons to undo it. */
export class RangeNote extends TensorPart {
  readonly node = part("beyond tvmdbg-wrap tvmdbg-gap-12");
  readonly #crowd = muted();
  readonly #crowded = piece("adapted");
  readonly #scale = button("linear", "", () => {
    this.host.recolor({ scale: this.host.wish.colors.scale === "auto" ? "linear" : "auto" });
  });
  readonly #far = muted();
  readonly #beyond = piece("adapted");
  readonly #range = button("show all", "", () =>
    this.host.recolor({ range: switched(this.host.wish.colors.range) }),
  );

  constructor(host: TensorHost) {
    super(host);
    this.#crowded.append(this.#crowd, " ", this.#scale);
    this.#beyond.append(this.#far, " ", this.#range);
    this.node.append(this.#crowded, this.#beyond);
    this.node.hidden = true;
  }

  show({ statistics, colors }: ShownTensor): void {
    const crowd = crowdText(statistics, colors);
    this.#crowded.hidden = !crowd;
    this.#crowd.textContent = `${crowd} → `;
    if (colors.scale === "auto") relabel(this.#scale, "linear", "Use a linear scale (l)");
    else relabel(this.#scale, `${statistics?.scale} scale`, `Use a ${statistics?.scale} scale (l)`);
    const beyond = beyondText(statistics, colors);
    const all = colors.range === "tensor" && beyondText(statistics, { ...colors, range: "auto" });
    this.#beyond.hidden = !beyond && !all;
    this.#far.textContent = beyond ? `${beyond} → ` : "A few outliers set the range → ";
    if (beyond) relabel(this.#range, "show all", "Show all values in colors and histogram (o)");
    else relabel(this.#range, "leave them out", "Leave outliers out of the range (o)");
    this.node.hidden = this.#crowded.hidden && this.#beyond.hidden;
  }
}

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

export class ColorControls extends TensorPart {
  readonly #scale = select("Color scale (l)", named(SCALE_CHOICES), "auto", (scale) =>
    this.host.recolor({ scale: scale as ScaleChoice }),
  );
  readonly #map = select("Color map (c)", named(MAPS), "auto", (map) =>
    this.host.recolor({ map: map as MapChoice }),
  );
  readonly #range = select("Color range (r)", [...RANGES, TYPED], "auto", (range) =>
    this.host.recolor({ range: range === "typed" ? this.#now : (range as RangeChoice) }),
  );
  readonly #cells = select(
    "Downsample cells of several values by (e)",
    CELL_NAMES,
    "mean",
    (cells) => this.host.cells(cells as CellChoice),
  );
  readonly #cellsLabel = labelled("downsample by", this.#cells);
  readonly #ends = ["from", "to"].map((end) =>
    field(`Color range ${end}`, { inputmode: "decimal", size: 8 }, () => this.#type(), this.host),
  );
  readonly #typed = piece(
    "typed tvmdbg-row tvmdbg-wrap tvmdbg-gap-10",
    this.#ends[0]!,
    "to",
    this.#ends[1]!,
  );
  readonly node = element(
    "div",
    { class: "tvmdbg-tensor-controls", role: "group", "aria-label": "Colors" },
    labelled("color scale", this.#scale),
    labelled("color map", this.#map),
    labelled("color range", this.#range),
    this.#typed,
    this.#cellsLabel,
  );
  #now: readonly [number, number] = [0, 1];

  show({ colors, cells, scale, answer, show }: ShownTensor): void {
    this.#scale.value = colors.scale;
    this.#map.value = colors.map;
    const typed = typeof colors.range !== "string";
    this.#range.value = typed ? "typed" : (colors.range as string);
    if (scale) this.#now = [scale.least, scale.most];
    this.#typed.hidden = !typed;
    if (typed) {
      for (const [end, field] of this.#ends.entries()) {
        const text = String(Number((colors.range as readonly number[])[end]!.toPrecision(7)));
        if (document.activeElement !== field) field.value = text;
      }
    }
    this.#cells.value = cells;
    const tile = answer?.tile;
    const single = !tile || tile.rowStep * tile.colStep === 1;
    this.#cellsLabel.hidden = show === "line plot" || (show === "heatmap" && single);
  }

  #type(): undefined {
    const [low, high] = this.#ends.map((field) =>
      field.value.trim() === "" ? Number.NaN : Number(field.value.replace("−", "-")),
    ) as [number, number];
    const sound = Number.isFinite(low) && Number.isFinite(high) && low < high;
    for (const field of this.#ends) field.setAttribute("aria-invalid", String(!sound));
    if (sound) this.host.recolor({ range: [low, high] });
  }
}

function labelled(name: string, control: HTMLElement): HTMLElement {
  return element("label", {}, element("span", {}, name), control);
}

/** Options whose labels are their values. */
export function named<T extends string>(names: readonly T[]) {
  return names.map((option) => [option, option] as const);
}
