/** What a page answers in place of a kernel, from the binary that `export/page/stored.py` makes. */
import { errorText } from "../shared/message.ts";
import type { Ask } from "../shared/static_model.ts";
import { StoredData } from "./stored_data.ts";
import { nodeDetails } from "./stored_node.ts";
import { Question } from "./stored_question.ts";
import { type Numbers, StoredTensors, type Told } from "./stored_tensor.ts";

interface Reply {
  result: unknown;
  buffers: DataView[];
}

const PARTS = ["graph", "timeline", "tensors"];
const TENSOR_KINDS = [
  "tensor",
  "statistics",
  "percentiles",
  "values",
  "profile",
  "channels",
  "data",
  "cancelTensor",
] as const;
type TensorKind = (typeof TENSOR_KINDS)[number];

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
    if (kind === "health") {
      const { headers, buffer } = data.table(kind);
      const result = { ...(answers.health as object), columns: headers };
      return { result, buffers: [new DataView(buffer)] };
    }
    if (kind === "node") return plain(nodeDetails(data, question.integer("node")));
    if (TENSOR_KINDS.includes(kind as TensorKind)) {
      tensors ??= new StoredTensors(data);
      return reply(tensors[kind as TensorKind](question));
    }
    throw new Error(`a page without a kernel cannot answer ${JSON.stringify(kind.slice(0, 200))}`);
  };
}

/** Numbers go as the columns of one buffer, as `widgets/columns.py` packs them. */
function reply({ result, columns, bytes }: Told): Reply {
  if (!columns) return { result, buffers: bytes ? [bytes] : [] };
  const { headers, buffer } = packed(columns.named);
  Object.assign(columns.of, { columns: headers });
  return { result, buffers: [buffer] };
}

function plain(result: unknown): Reply {
  return { result, buffers: [] };
}

function packed(named: Numbers) {
  const kinds = { 1: "u1", 4: "f4", 8: "f8" } as const;
  let size = 0;
  const placed = Object.entries(named).map(([name, values]) => {
    const kind = kinds[values.BYTES_PER_ELEMENT as 1 | 4 | 8];
    const offset = 8 * Math.ceil(size / 8);
    size = offset + values.byteLength;
    return { header: { name, kind, offset, length: values.length }, values };
  });
  const bytes = new Uint8Array(size);
  for (const { header, values } of placed) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), header.offset);
  }
  return { headers: placed.map(({ header }) => header), buffer: new DataView(bytes.buffer) };
}
