/** What a page answers that shows values too. */

import type { StoredData } from "./data.ts";
import type { Question } from "./question.ts";
import { runAnswers } from "./run.ts";
import type { Answers, Reply } from "./stored.ts";
import { type Numbers, StoredTensors, type Told } from "./tensor.ts";

const KINDS = [
  "tensor",
  "statistics",
  "percentiles",
  "values",
  "profile",
  "channels",
  "data",
  "region",
  "cancelTensor",
] as const;

export function allAnswers(data: StoredData): Answers {
  let tensors: StoredTensors | undefined;
  const answer = (kind: (typeof KINDS)[number]) => (question: Question) => {
    tensors ??= new StoredTensors(data);
    return reply(tensors[kind](question));
  };
  return {
    ...runAnswers(data),
    ...Object.fromEntries(KINDS.map((kind) => [kind, answer(kind)])),
  };
}

/** Numbers go as the columns of one buffer, as `engine/columns.py` packs them. */
function reply({ result, columns, bytes }: Told): Reply {
  if (!columns) return { result, buffers: bytes ? [bytes] : [] };
  const { headers, buffer } = packed(columns.named);
  Object.assign(columns.of, { columns: headers });
  return { result, buffers: [buffer] };
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
