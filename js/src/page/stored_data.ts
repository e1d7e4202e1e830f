/** Recorded replies of a saved page, as `export/page/pack.py` writes them. */
import type { Packed } from "../shared/client/answers.ts";
import { type ColumnHeader, fields } from "../shared/client/columns.ts";
import type { AnswerMessage } from "../shared/client/page_model.ts";
import { errorText } from "../shared/client/request.ts";
import type { Columns, WIRE } from "../shared/client/wire.ts";

const MAGIC = "TVMDBGP1";
const WIDTH = { u1: 1, u2: 2, u4: 4, i4: 4, f4: 4, f8: 8 } as const;

interface Head {
  version: number;
  /** Recorded replies by question (JSON). */
  replies: Record<string, RecordedReply>;
}

/** A result, and the places of its buffers. */
type RecordedReply = [result: unknown, ...buffers: [at: number, size: number][]];

export class StoredData {
  readonly #body: Uint8Array;
  readonly #replies: ReadonlyMap<string, RecordedReply>;

  /** Throws if the data is no such binary, or of another version. */
  constructor(data: ArrayBuffer) {
    const bytes = new Uint8Array(data);
    const text = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
    if (bytes.length < 16 || text(0, 8) !== MAGIC)
      throw new Error("the data of this page is damaged");
    const start = 16 + new DataView(data).getUint32(8, true);
    if (start > bytes.length) throw new Error("the data of this page is truncated");
    const head = JSON.parse(text(16, start)) as Head | null;
    if (head?.version !== 1) throw new Error(`the data of this page has version ${head?.version}`);
    this.#body = bytes.subarray(start);
    const replies = Object.entries(head.replies);
    this.#replies = new Map(replies.map(([key, reply]) => [keyOf(JSON.parse(key)), reply]));
  }

  /** The recorded reply to a question; null if there is none. */
  recorded(question: unknown): StoredReply | null {
    const all = Object.entries(question ?? {});
    const asked = Object.fromEntries(all.filter(([name]) => !CARRIES.has(name)));
    const found = this.#replies.get(keyOf(asked));
    if (!found) return null;
    const [result, ...places] = found;
    const { columns = [] } = (result ?? {}) as Partial<Packed>;
    const buffers = places.map(([at, size], place) => {
      if (!(at >= 0 && size >= 0 && at + size <= this.#body.length)) {
        throw new Error("the data of this page is truncated");
      }
      const bytes = this.#body.slice(at, at + size);
      return new DataView((place ? bytes : restored(bytes, columns)).buffer);
    });
    return { result, buffers };
  }

  /** The columns of a recorded reply; Python has checked their names against `WIRE`. */
  columns<Answer extends keyof typeof WIRE>(question: object): Columns<Answer> | null {
    const found = this.recorded(question);
    return found && (fields((found.result as Packed).columns, found.buffers) as Columns<Answer>);
  }
}

/** What only carries a question, and what only a kernel can do for it. */
const CARRIES = new Set(["id", "client", "near", "goOn", "glance"]);

/** A question as text, whatever the order of its fields. */
function keyOf(question: object): string {
  return JSON.stringify(question, (_, value: unknown) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** Bytes regrouped by item: the input has all first bytes, then all second ones, …. */
export function unshuffled(bytes: Uint8Array, width: number): Uint8Array<ArrayBuffer> {
  const count = Math.floor(bytes.length / width);
  const out = new Uint8Array(count * width);
  for (let byte = 0, from = 0; byte < width; byte++) {
    for (let to = byte; to < out.length; to += width) out[to] = bytes[from++]!;
  }
  return out;
}

/** Bytes of columns as `filtered` of `export/page/pack.py` got them. */
function restored(
  bytes: Uint8Array<ArrayBuffer>,
  headers: readonly ColumnHeader[],
): Uint8Array<ArrayBuffer> {
  for (const [kind, offset, length] of regions(headers)) restore(bytes, kind, offset, length);
  return bytes;
}

function restore(bytes: Uint8Array, kind: keyof typeof WIDTH, offset: number, length: number) {
  const part = unshuffled(bytes.subarray(offset, offset + length * WIDTH[kind]), WIDTH[kind]);
  if (kind === "i4") {
    const values = new Int32Array(part.buffer);
    for (let i = 1; i < values.length; i++) values[i] = values[i]! + values[i - 1]!;
  }
  bytes.set(part, offset);
}

function regions(headers: readonly ColumnHeader[]) {
  return headers.flatMap((header): [keyof typeof WIDTH, number, number][] =>
    header.kind === "strings"
      ? [
          ["i4", header.codes, header.length],
          ["i4", header.offsets, header.unique + 1],
        ]
      : header.kind === "u1"
        ? []
        : [[header.kind, header.offset, header.length]],
  );
}

export interface StoredReply {
  result: unknown;
  buffers: DataView[];
}

export type StoredAnswers = Readonly<Record<string, (message: unknown) => StoredReply>>;

/** Replies that were recorded, else those that `make` reads from the page; errors are replies too. */
export function storedAnswers(
  data: ArrayBuffer,
  make: (stored: StoredData) => StoredAnswers = () => ({}),
): AnswerMessage {
  let known: { stored: StoredData; answers: StoredAnswers } | undefined;
  return async (message) => {
    const id = (message as { id?: unknown } | null)?.id;
    try {
      if (!known) {
        const stored = new StoredData(data);
        known = { stored, answers: make(stored) };
      }
      const { stored, answers } = known;
      const { result, buffers } = stored.recorded(message) ?? answered(answers, message);
      return { content: { id, result }, buffers };
    } catch (error) {
      return { content: { id, error: errorText(error) }, buffers: [] };
    }
  };
}

const SUMS = ["sums", "paths", "area", "merged"];
const OF_RANGE =
  "This page holds sums of all time only; open the run in a notebook to sum a range.";
const ABSENT: Readonly<Record<string, string>> = {
  node: "no details of this node",
  region: "no statistics of regions",
  percentiles: "no other percentiles",
  profile: "no values of this line plot",
  schedule: "no schedule of this trial",
  tiles: "no tile sizes of this task",
};

/** The page's own answer; throws a sentence if it has none. */
function answered(answers: StoredAnswers, message: unknown): StoredReply {
  const kind = String((message as { kind?: unknown } | null)?.kind);
  if (Object.hasOwn(answers, kind)) return answers[kind]!(message);
  if (SUMS.includes(kind)) throw new Error(OF_RANGE);
  const what = Object.hasOwn(ABSENT, kind) ? ABSENT[kind] : "no answer to this";
  throw new Error(`This page has no kernel, and ${what}: open its files in a notebook.`);
}
