/** What a page answers in place of a kernel, from the binary that `export/page/stored.py` makes. */
import { errorText } from "../shared/message.ts";
import type { Ask } from "../shared/static_model.ts";
import { StoredData } from "./stored_data.ts";
import { nodeDetails } from "./stored_node.ts";
import type { Cells } from "./stored_plane.ts";
import { Question } from "./stored_question.ts";
import { StoredTensors } from "./stored_tensor.ts";

interface Reply {
  result: unknown;
  buffers: DataView[];
}

const PARTS = ["graph", "timeline", "tensors"];

/** Answers the questions of `shared/run_client.ts`; whatever goes wrong is an answer too. */
export function storedAnswers(data: ArrayBuffer): Ask {
  let answers: ((message: unknown) => Reply) | undefined;
  return async (message) => {
    const id = (message as { id?: unknown } | null)?.id;
    try {
      answers ??= answersOf(new StoredData(data));
      const { result, buffers } = answers(message);
      return { content: { id, result }, buffers };
    } catch (error) {
      return { content: { id, error: errorText(error) }, buffers: [] };
    }
  };
}

function answersOf(data: StoredData): (message: unknown) => Reply {
  let tensors: StoredTensors | undefined;
  const answers = data.head.answers;
  return (message) => {
    const question = new Question(message);
    const { kind } = question;
    if (kind === "summary") return plain(answers.summary);
    if (kind === "findings" || kind === "cancelFindings") {
      return plain(answers.findings ?? { state: "none", done: 0, total: 0, findings: [] });
    }
    if (PARTS.includes(kind)) {
      if (!data.has(kind)) return plain(null);
      const { headers, buffer } = data.table(kind);
      const result = { columns: headers, info: answers[kind] ?? null };
      return { result, buffers: [new DataView(buffer)] };
    }
    if (kind === "node") return plain(nodeDetails(data, question.integer("node")));
    if (kind === "tensor" || kind === "values") {
      tensors ??= new StoredTensors(data);
      if (kind === "values") return plain(tensors.values(question));
      const { header, tile, cells } = tensors.tensor(question);
      if (!tile || !cells) return plain({ ...header, tile: null });
      const { columns, buffer } = packed(cells);
      return { result: { ...header, tile: { ...tile, columns } }, buffers: [buffer] };
    }
    throw new Error(`a page without a kernel cannot answer ${JSON.stringify(kind.slice(0, 200))}`);
  };
}

function plain(result: unknown): Reply {
  return { result, buffers: [] };
}

/** Cells as the columns of one buffer, as `widgets/columns.py` packs them. */
function packed({ minimum, maximum, mean, flags }: Cells) {
  const length = flags.length;
  const stride = Math.ceil(length / 2) * 8;
  const bytes = new Uint8Array(3 * stride + length);
  const numbers = { minimum, maximum, mean };
  const columns: object[] = Object.entries(numbers).map(([name, values], i) => {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, 4 * length), i * stride);
    return { name, kind: "f4", offset: i * stride, length };
  });
  bytes.set(flags, 3 * stride);
  columns.push({ name: "flags", kind: "u1", offset: 3 * stride, length });
  return { columns, buffer: new DataView(bytes.buffer) };
}
