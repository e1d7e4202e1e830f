import type { SpreadAnswer } from "../../shared/client/tensor_questions.ts";
import { integer, percent } from "../../shared/format.ts";
import { type ColorChoice, nearRange, scaleKind } from "./color_scale.ts";

/** `1 of 51,200,000 values beyond`; empty where colors and histogram leave none out. */
export function beyondText(
  known: SpreadAnswer | null,
  colors: Pick<ColorChoice, "scale" | "range">,
): string {
  const near = nearRange(known, colors);
  if (!near || !known?.statistics) return "";
  return `${integer(near.beyond)} of ${integer(known.statistics.finite)} ${valuesOf(known)} beyond`;
}

/** `log scale: 95.1 % of values would share one bar`; of a linear one that they do. Empty where nothing crowds. */
export function crowdText(known: SpreadAnswer | null, { scale }: ColorChoice): string {
  if (!known?.statistics || known.scale === "linear") return "";
  const kind = scaleKind(known, scale);
  const values = `${known.statistics.zero ? "nonzero " : ""}${valuesOf(known)}`;
  const told = `${percent(known.crowd)} of ${values}`;
  if (kind === "linear") return `${told} share one bar`;
  return scale === "auto" ? `${kind} scale: ${told} would share one bar` : "";
}

function valuesOf({ state }: SpreadAnswer): string {
  return state === "exact" ? "values" : "sampled values";
}
