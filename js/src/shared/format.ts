import { type GraphColumns, NodeKind } from "./client/answers.ts";

/** Units of time, in nanoseconds, the largest first. */
export const UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
] as const;

/**
 * Duration with four significant digits, as `duration_text` in `model/base/numbers.py`: `2.571 ms`. A 0 is less than
 * one unit of its source, `rounding` ns: `< 1 µs`.
 */
export function duration(ns: number, rounding = 0): string {
  if (Number.isNaN(ns)) return "unknown";
  if (isShort(ns, rounding)) {
    const [size, unit] = UNITS.find(([unit]) => rounding >= unit) ?? UNITS[3];
    return `< ${rounding / size} ${unit}`;
  }
  if (ns === 0) return "0 ns";
  const rounded = Number(ns.toPrecision(4));
  const [size, unit] = UNITS.find(([unit]) => Math.abs(rounded) >= unit) ?? UNITS[3];
  const digits = 3 - Math.floor(Math.log10(Math.abs(rounded) / size));
  return `${(rounded / size).toFixed(Math.max(digits, 0))} ${unit}`;
}

const UNIT = /(\d) (?=%|(?:[nµm]?s|[KMGT]?i?B|[kMGTP]?FLOPs?)\b)/g;

/** A text whose numbers stay on the line of their units, by no-break spaces. */
export function unbroken(text: string): string {
  return text.replace(UNIT, "$1\u00a0");
}

/** True if a time is less than the unit of its source: it is not zero, and has no share. */
export function isShort(ns: number, rounding: number): boolean {
  return ns === 0 && rounding > 0;
}

/** A time and its share: `1.2 ms · 3.4 %`; only the time if it is too short to have one, as `time_share` in Python. */
export function timeShare(ns: number, share: number, rounding = 0, between = " · "): string {
  const time = duration(ns, rounding);
  return isShort(ns, rounding) ? time : `${time}${between}${percent(share)}`;
}

/** A share, with two decimals below 10 %; only zero is written as zero. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return "unknown";
  const value = 100 * share;
  if (value === 0) return "0 %";
  if (value < 0.01) return "< 0.01 %";
  return `${value.toFixed(value >= 10 ? 1 : 2)} %`;
}

/** Speed of the second of two times: `4.9× faster`, `1.07× slower`, `1.004× slower`. */
export function speed(ratio: number): string {
  if (!(ratio > 0 && ratio < Number.POSITIVE_INFINITY)) return "unknown";
  const how = ratio > 1 ? "slower" : "faster";
  const factor = Math.max(ratio, 1 / ratio);
  const times = factor.toFixed(factor < 1.01 ? 3 : factor < 2 ? 2 : factor < 10 ? 1 : 0);
  return times === "1.000" ? "same speed" : `${times}× ${how}`;
}

/** Bytes, with the exact count if the unit rounds it: `16.0 KiB (16,384)`. */
export function bytes(size: number): string {
  if (!Number.isFinite(size)) return "unknown";
  const count = nearest(size);
  if (count < 1024) return `${count} B`;
  const power = Math.min(4, Math.floor(Math.log2(count) / 10));
  const unit = ["KiB", "MiB", "GiB", "TiB"][power - 1]!;
  return `${(count / 1024 ** power).toFixed(1)} ${unit} (${integer(count)})`;
}

/** An integer with thousands separators, without `Intl`, which the figures' engine lacks. Fractions are rounded. */
export function integer(count: number): string {
  if (!Number.isFinite(count)) return "unknown";
  return apart(String(BigInt(nearest(count))));
}

function apart(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** The nearest integer, ties to even, as in Python. */
function nearest(count: number): number {
  const whole = Math.round(count);
  return Math.abs(count % 1) === 0.5 && whole % 2 !== 0 ? whole - 1 : whole;
}

/** Nanoseconds to the hundredth, which is finer than any clock, as `exact_ns` in Python; integers without decimals. */
export function exactNs(ns: number): string {
  if (!Number.isFinite(ns)) return "unknown";
  const [whole, decimals] = ns.toFixed(Number.isInteger(ns) ? 0 : 2).split(".");
  return `${apart(whole!)}${decimals ? `.${decimals}` : ""} ns`;
}

/** Irregular plurals. */
const SEVERAL: Record<string, string> = {
  axis: "axes",
  has: "have",
  index: "indices",
  is: "are",
  it: "they",
  its: "their",
  series: "series",
  this: "these",
  was: "were",
};

export function counted(count: number, noun: string): string {
  const several = noun.replace(/\w+$/, (last) => SEVERAL[last] ?? plural(last));
  return `${integer(count)} ${agree(count, noun, several)}`;
}

/** A verb or pronoun that agrees with a count: `has` or `have`, `it` or `they`. */
export function agree(count: number, one: string, several = SEVERAL[one]): string {
  if (integer(count) === "1") return one;
  return several ?? one.replace(/(\w\w)ies$/, "$1y").replace(/(ch|sh|ss|x|o)es$|s$/, "$1");
}

function plural(noun: string): string {
  return `${noun.replace(/([^aeiou])y$/, "$1ie").replace(/([sxz]|ch|sh)$/, "$1e")}s`;
}

/** A shape as Python writes it: `(1, 64, 8, 8)`, `(10,)`, `()`. */
export function shapeText(shape: ArrayLike<number>): string {
  const parts = Array.from(shape);
  return parts.length === 1 ? `(${parts[0]},)` : `(${parts.join(", ")})`;
}

/** Shape and dtype of one entry of the graph: `float32 1×64×8×8`. */
export function entryText(
  graph: GraphColumns,
  node: number,
  output: number,
  text = (dims: Float64Array) => dims.join("×") || "scalar",
): string {
  const entry = graph.entryOffsets[node]! + output;
  if (entry >= graph.entryOffsets[node + 1]!) return "unknown";
  const dtype = graph.dtypes.at(entry) || "unknown dtype";
  if (!graph.shapeKnown[entry]) return `${dtype} of unknown shape`;
  const [start, end] = [graph.shapeOffsets[entry]!, graph.shapeOffsets[entry + 1]!];
  return `${dtype} ${text(graph.shapeDims.subarray(start, end))}`;
}

/** The operators of a node in a few words; without any, its name. */
export function nodeLabel({ labels, names }: GraphColumns, node: number): string {
  return node < labels.length ? labels.at(node) || names.at(node) : "";
}

/** Text in place of a time for a node that does not run; empty for an operator. */
export function givenText({ roles }: GraphColumns, node: number): string {
  const role = node < roles.length ? roles.at(node) : "";
  return role === "input" ? "graph input" : role;
}

/** Kind of a node for drawing: memory that a program plans for itself is no input. */
export function drawnKind({ kinds, roles }: GraphColumns, node: number): number {
  const kind = kinds[node]!;
  return kind === NodeKind.INPUT && roles.at(node) !== "input" ? NodeKind.PARAMETER : kind;
}

/** Title of a tensor: that of its node, or without a graph its own name. */
export function tensorTitle(
  graph: GraphColumns | null,
  name: string,
  node: number,
  output: number,
): string {
  return nodeTitle((graph && nodeLabel(graph, node)) || name, node, output);
}

/** Title of a node or of one of its outputs, its id first: `#38:1 conv2d + add`. */
export function nodeTitle(label: string, node: number, output = 0): string {
  const place = output ? `#${node}:${output}` : `#${node}`;
  return label ? `${place} ${label}` : place;
}
