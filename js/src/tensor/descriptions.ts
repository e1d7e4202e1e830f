/** Words for the values of a tensor: the verdict, and the counts that support it. */

import type {
  Entry,
  StatisticsAnswer,
  TensorAnswer,
  TensorStatistics,
  ValuesAnswer,
} from "../shared/client/tensor_questions.ts";
import { counted, integer, nodeLabel, nodeTitle, shapeText } from "../shared/format.ts";
import { append } from "../shared/many.ts";
import { aboutText, screenText } from "../shared/number_text.ts";
import { isPadding, storedIndex } from "../shared/unfold.ts";
import { share } from "./distribution/spread_scene.ts";
import type { Entries } from "./entries.ts";
import { SPECIAL_TEXT, type Special } from "./picture/color_scale.ts";
import { answeredPlane, indexAt, indexText, type Point } from "./plane.ts";
import type { ShownTensor } from "./state.ts";

export type Health = TensorStatistics["verdict"];

const HEALTH_WORDS = {
  error: "not finite",
  doubt: "saturated",
  good: "all finite",
  empty: "no values",
} as const;

export interface ValueWords {
  /** `saturated`, `all finite in a sample of 1,048,576`. */
  verdict: string;
  /** All other counts, and whether they are warnings. */
  counts: { text: string; isLoud: boolean }[];
}

/** Null if nothing was counted. */
export function valueWords(known: StatisticsAnswer, dtype: string): ValueWords | null {
  const { statistics } = known;
  if (!statistics) return null;
  const health = statistics.verdict;
  const isSampled = known.state !== "exact" && health !== "empty";
  const sample = isSampled ? ` in a sample of ${integer(statistics.size)}` : "";
  return {
    verdict: HEALTH_WORDS[health] + sample,
    counts: countsOf(
      statistics,
      known.limits ? known.limits.slice(dtype.startsWith("u") ? 1 : 0) : [],
      dtype === "bool",
    ),
  };
}

/** `59 +Inf`. */
export function specialText(statistics: TensorStatistics, special: Special): string {
  return `${integer(statistics[special])} ${SPECIAL_TEXT[special]}`;
}

/** `59 +Inf, 0 NaN, 0 −Inf`. */
export function specialCounts(statistics: TensorStatistics): string[] {
  return statistics.specials.map((special) => specialText(statistics, special));
}

function countsOf(
  { size, finite, zero, negative, denormal, atEnds, verdict }: TensorStatistics,
  limits: readonly number[],
  isBool: boolean,
): ValueWords["counts"] {
  const countOf = (count: number, noun: string) => `${integer(count)} ${noun}${share(count, size)}`;
  const counts = [countOf(zero, isBool ? "False" : "zero")];
  if (!isBool) counts.push(countOf(negative, "negative"));
  if (denormal > 0) counts.push(countOf(denormal, "denormal"));
  const rows = counts.map((text) => ({ text, isLoud: false }));
  if (atEnds > 0) {
    const text = countOf(atEnds, `at ${limits.map((limit) => aboutText(limit)).join(" or ")}`);
    rows.push({ text, isLoud: verdict === "doubt" });
  }
  if (finite < size) {
    rows.push({ text: `${integer(finite)} of ${integer(size)} finite`, isLoud: false });
  }
  return rows;
}

export function tensorWords({ answer, statistics: known }: ShownTensor): string {
  if (!answer) return "";
  const { title, dtype, valueDtype, shape, notes, trust, trouble } = answer;
  const statistics = known?.statistics;
  const parts = [`Tensor ${title}`, `${dtype} ${shapeText(shape)}`];
  if (statistics) {
    append(parts, [counted(statistics.size, "value"), ...specialCounts(statistics)]);
    parts.push(`${integer(statistics.zero)} ${valueDtype === "bool" ? "False" : "zero"}`);
    if (statistics.finite > 0) {
      const [low, high] = [statistics.minimum, statistics.maximum].map(({ text }) =>
        screenText(text),
      );
      parts.push(`minimum ${low}`, `maximum ${high}`);
    }
  }
  if (trust !== "exact") parts.push(`matched ${trust}`);
  const lines = trouble ? [`Its values could not be read: ${trouble}`] : [];
  return [parts.join(", "), ...lines, ...notes].join(". ");
}

/** Lines about one value: its position, its text, and its stored form. */
export function pointWords(
  { answer, values }: ShownTensor,
  point: Point,
  reply: ValuesAnswer,
): string {
  if (!answer) return "";
  const index = indexAt(answeredPlane(answer), point);
  const stored = storedIndex(answer, index);
  const value = screenText(reply.one?.number ?? reply.text[0] ?? "");
  const words = [`at ${indexText(index)} value ${value}`];
  if (isPadding(answer, index)) words.push("padding");
  if (stored.join() !== index.join()) words.push(`stored at ${indexText(stored)}`);
  if (values.format === "dequantized") words.push(`dequantized ${screenText(reply.text[0]!)}`);
  if (reply.one) words.push(`bits ${reply.one.hex}`);
  return words.join(", ");
}

export function missingWords(
  [node, output]: Entry,
  entries: Entries,
): { title: string; detail: string } {
  const { graph } = entries;
  const name = graph && node >= 0 ? nodeLabel(graph, node) : "";
  const title = `No tensor for ${nodeTitle(name, node, output)}`;
  if (graph && (node < 0 || node >= graph.names.length)) {
    return { title, detail: `The graph has nodes 0 to ${graph.names.length - 1}.` };
  }
  const outputs = entries.outputs(node);
  if (outputs.length) {
    const which = outputs.map((output) => nodeTitle("", node, output)).join(", ");
    return { title, detail: `This run has other outputs of this node: ${which}.` };
  }
  const role = graph && node < graph.roles.length ? graph.roles.at(node) : "";
  if (role === "parameter") {
    return {
      title,
      detail:
        "It is a parameter: its value is in the model's params file. Open that file with the dump.",
    };
  }
  if (role === "input") {
    return { title, detail: "It is an input; the dump does not include input values." };
  }
  if (role) return { title, detail: `It is a ${role}; what it holds was not recorded.` };
  return { title, detail: "No output of this node was recorded. Choose another tensor above." };
}

export function nothingWords({ answer, statistics }: ShownTensor & { answer: TensorAnswer }) {
  const { shape, viewShape, dtype, notes } = answer;
  if (viewShape.includes(0)) {
    return {
      title: "This tensor has no values",
      detail: `Its shape ${shapeText(shape)} has an axis of length 0.`,
    };
  }
  return statistics?.statistics
    ? {
        title: "No heatmap of this tensor",
        detail: notes.at(-1) ?? "Its values are not available.",
      }
    : {
        title: "No numbers to show",
        detail: statistics?.reason || `Values of dtype ${dtype} are not numbers.`,
      };
}

/** `− 3`, `+ 128`: the offset before scaling. */
export function shiftText(zeroPoint: number): string {
  return zeroPoint < 0 ? `+ ${-zeroPoint}` : `− ${zeroPoint}`;
}
