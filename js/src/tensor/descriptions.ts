import type { Entry, GraphColumns } from "../shared/client/run_client.ts";
import type { TensorAnswer, ValuesAnswer } from "../shared/client/tensor_questions.ts";
import { counted, integer, shapeText } from "../shared/format.ts";
import { append } from "../shared/many.ts";
import { nodeLabel, nodeTitle } from "../shared/node_title.ts";
import { screenText } from "../shared/number_text.ts";
import { isPadding, physicalIndex } from "../shared/unfold.ts";
import type { Entries } from "./choose/entries.ts";
import { answeredPlane, indexAt, indexText, type Point } from "./plane.ts";
import type { Shown } from "./state.ts";
import { specialCounts } from "./value_words.ts";

/** What a screen reader says of the tensor that is shown. */
export function tensorWords({ answer, statistics: known }: Shown): string {
  if (!answer) return "";
  const { title, dtype, valueDtype, shape, notes, trust, trouble } = answer;
  const statistics = known?.statistics;
  const parts = [`Tensor ${title}`, `${dtype} ${shapeText(shape)}`];
  if (statistics) {
    append(parts, [counted(statistics.size, "value"), ...specialCounts(statistics, valueDtype)]);
    parts.push(`${integer(statistics.zero)} ${valueDtype === "bool" ? "False" : "zero"}`);
    if (statistics.finite > 0) {
      const [low, high] = [statistics.minimum, statistics.maximum].map(({ text }) =>
        screenText(text),
      );
      parts.push(`minimum ${low}`, `maximum ${high}`);
    }
  }
  if (trust !== "exact") parts.push(`matched ${trust}`);
  const told = trouble ? [`Its values could not be read: ${trouble}`] : [];
  return [parts.join(", "), ...told, ...notes].join(". ");
}

/** What is said of one value: where it is, what it is, and what stands for it otherwise. */
export function pointWords({ answer, values }: Shown, point: Point, found: ValuesAnswer): string {
  if (!answer) return "";
  const index = indexAt(answeredPlane(answer), point);
  const stored = physicalIndex(answer, index);
  const value = screenText(found.one?.number ?? found.text[0] ?? "");
  const words = [`at ${indexText(index)} value ${value}`];
  if (isPadding(answer, index)) words.push("padding");
  if (stored && stored.join() !== index.join()) words.push(`stored at ${indexText(stored)}`);
  if (values.format === "dequantised") words.push(`dequantized ${screenText(found.text[0]!)}`);
  if (found.one) words.push(`bits ${found.one.hex}`);
  return words.join(", ");
}

/** Why there is no tensor for an entry, and what would give one. */
export function missingWords(
  [node, output]: Entry,
  graph: GraphColumns | null,
  entries: Entries,
): { title: string; detail: string } {
  const name = graph && node >= 0 ? nodeLabel(graph, node) : "";
  const title = `No tensor for ${nodeTitle(name, node, output)}`;
  if (graph && (node < 0 || node >= graph.names.length)) {
    return { title, detail: `The graph has nodes 0 to ${graph.names.length - 1}.` };
  }
  const outputs = entries.outputs(node);
  if (outputs.length) {
    const which = outputs.map((each) => nodeTitle("", node, each)).join(", ");
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
  return {
    title,
    detail: "No output of this node was recorded. Choose another tensor above.",
  };
}

/** Why a tensor that was read has no picture. */
export function nothingWords({ answer, statistics }: Shown & { answer: TensorAnswer }) {
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

/** `− 3`, `+ 128`: what is taken from a value before it is scaled. */
export function shiftText(zeroPoint: number): string {
  return zeroPoint < 0 ? `+ ${-zeroPoint}` : `− ${zeroPoint}`;
}
