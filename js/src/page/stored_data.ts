/** Tables of columns, recorded replies and blobs in a saved page, as `export/page/pack.py` writes them. */
import type { Packed } from "../shared/client/answers.ts";
import { type Column, type ColumnHeader, unpack } from "../shared/client/columns.ts";
import type { AnswerMessage } from "../shared/client/page_model.ts";
import { errorText } from "../shared/client/request.ts";
import type { Columns, WIRE } from "../shared/client/wire.ts";
import { counted } from "../shared/format.ts";
import type { StoredVariant } from "./stored_facts.ts";

const MAGIC = "TVMDBGP1";
const WIDTH = { u1: 1, u2: 2, u4: 4, i4: 4, f4: 4, f8: 8 } as const;

type RecordedReply = [result: unknown, ...buffers: [at: number, size: number][]];

interface Head {
  version: number;
  share: string;
  answers: Record<string, unknown>;
  /** Recorded replies by question (JSON): the result, and the places of its buffers. */
  replies?: Record<string, RecordedReply>;
  /** Tensors by reading. */
  variants?: StoredVariant[];
  tables: Record<string, { columns: ColumnHeader[]; at: number; size: number }>;
}

export interface Table {
  headers: ColumnHeader[];
  buffer: ArrayBuffer;
  columns: Map<string, Column>;
}

export class StoredData {
  readonly head: Head;
  readonly #body: Uint8Array;
  readonly #tables = new Map<string, Table>();
  readonly #replies: ReadonlyMap<string, RecordedReply>;

  /** Throws if the data is no such binary, or of another version. */
  constructor(data: ArrayBuffer) {
    const bytes = new Uint8Array(data);
    const text = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
    if (bytes.length < 16 || text(0, 8) !== MAGIC)
      throw new Error("the data of this page is damaged");
    const start = 16 + new DataView(data).getUint32(8, true);
    if (start > bytes.length) throw new Error("the data of this page is truncated");
    this.head = JSON.parse(text(16, start)) as Head;
    if (this.head?.version !== 1)
      throw new Error(`the data of this page has version ${this.head?.version}`);
    this.#body = bytes.subarray(start);
    const replies = Object.entries(this.head.replies ?? {});
    this.#replies = new Map(replies.map(([key, reply]) => [keyOf(JSON.parse(key)), reply]));
  }

  /** The recorded reply to a question; null if there is none. */
  recorded(question: object): StoredReply | null {
    const { id: _id, client: _client, near: _near, ...asked } = question as AskedMessage;
    const found = this.#replies.get(keyOf(asked));
    if (!found) return null;
    const [result, ...places] = found;
    const { columns = [] } = (result ?? {}) as Partial<Packed>;
    const buffers = places.map(([at, size], place) => {
      const bytes = this.blob(at, size).slice();
      return new DataView((place ? bytes : restored(bytes, columns)).buffer);
    });
    return { result, buffers };
  }

  has(name: string): boolean {
    return Object.hasOwn(this.head.tables, name);
  }

  table(name: string): Table {
    const known = this.#tables.get(name);
    if (known) return known;
    if (!this.has(name)) throw new Error(`the data of this page has no ${name}`);
    const { columns: headers, at, size } = this.head.tables[name]!;
    const bytes = restored(this.blob(at, size).slice(), headers);
    const columns = unpack(headers, new DataView(bytes.buffer));
    const table = { headers, buffer: bytes.buffer, columns };
    this.#tables.set(name, table);
    return table;
  }

  /** Columns of a table by name; Python has checked their names against `WIRE`. */
  columns<Answer extends keyof typeof WIRE>(name: string): Columns<Answer> {
    return Object.fromEntries(this.table(name).columns) as Columns<Answer>;
  }

  blob(at: number, size: number): Uint8Array {
    if (!(at >= 0 && size >= 0 && at + size <= this.#body.length)) {
      throw new Error("the data of this page is truncated");
    }
    return this.#body.subarray(at, at + size);
  }
}

interface AskedMessage {
  id?: string;
  /** What only carries the question. */
  client?: string;
  near?: boolean;
}

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

export function floats(bytes: Uint8Array, wide: boolean): Float32Array | Float64Array {
  const { buffer } = unshuffled(bytes, wide ? 8 : 4);
  return wide ? new Float64Array(buffer) : new Float32Array(buffer);
}

/** Bytes of columns as `filtered` of `export/page/pack.py` got them. */
export function restored(
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

/** Fields of a question, checked as in `answers/messages.py`. */
export class Question {
  readonly kind: string;
  readonly #fields: Record<string, unknown>;

  constructor(message: unknown) {
    const fields = message as Record<string, unknown> | null;
    if (typeof fields !== "object" || typeof fields?.kind !== "string") {
      throw new Error("a question must be an object with a kind");
    }
    this.kind = fields.kind;
    this.#fields = fields;
  }

  integer(name: string, low = 0, high = 2 ** 53): number {
    return whole(name, this.#fields[name], low, high);
  }

  integers(name: string, length?: number): number[] {
    const value = this.#fields[name];
    if (!Array.isArray(value) || value.length > 64) {
      throw new Error(`${name} must be a list of at most 64 whole numbers`);
    }
    if (length !== undefined && value.length !== length) {
      throw new Error(`${name} must have ${counted(length, "item")}, found ${value.length}`);
    }
    return value.map((item, i) => whole(`${name}[${i}]`, item, 0, 2 ** 53));
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? null) !== null;
  }

  number(name: string): number {
    const value = this.#fields[name];
    if (!Number.isFinite(value)) throw new Error(`${name} must be a finite number`);
    return value as number;
  }

  numbers(name: string, low: number, high: number, most: number): number[] {
    const value = this.#fields[name];
    if (!Array.isArray(value) || value.length === 0 || value.length > most) {
      throw new Error(`${name} must be a list of 1 to ${most} numbers`);
    }
    if (!value.every((item) => Number.isFinite(item) && item >= low && item <= high)) {
      throw new Error(`${name} must be numbers in ${low} … ${high}`);
    }
    return value as number[];
  }

  /** A text of at most `most` characters, or null. */
  text(name: string, most = 100): string | null {
    const value = this.#fields[name] ?? null;
    if (value === null || (typeof value === "string" && value.length <= most)) return value;
    throw new Error(`${name} must be a text of at most ${most} characters`);
  }

  choice(name: string, choices: readonly string[]): string | null {
    const value = this.#fields[name] ?? null;
    if (value === null || choices.includes(value as string)) return value as string | null;
    throw new Error(`${name} must be one of ${choices.join(", ")}`);
  }

  /** Integers by letter; may be empty. */
  sizes(): Record<string, number> {
    const value = this.#fields.sizes ?? {};
    const entries = typeof value === "object" ? Object.entries(value) : [];
    if (typeof value !== "object" || Array.isArray(value) || entries.length > 32) {
      throw new Error("sizes must be an object of at most 32 sizes");
    }
    return Object.fromEntries(
      entries.map(([letter, size]) => {
        if ([...letter].length !== 1) throw new Error("sizes must be sizes by one letter each");
        return [letter, whole(`sizes.${letter}`, size, 1, 2 ** 53)];
      }),
    );
  }

  /** Null if the question leaves the choice to the answer. */
  axes(): AxisPair | null {
    const value = this.#fields.axes ?? null;
    if (value === null) return null;
    if (!Array.isArray(value) || value.length !== 2) throw new Error("axes must be a pair of axes");
    const [down, across] = value.map((item, i) =>
      item === null || item === undefined ? null : whole(`axes[${i}]`, item, 0, 63),
    );
    return [down!, across!];
  }
}

export type AxisPair = [down: number | null, across: number | null];

function whole(name: string, value: unknown, low: number, high: number): number {
  if (!Number.isInteger(value)) throw new Error(`${name} must be a whole number`);
  if ((value as number) < low || (value as number) > high) {
    throw new Error(`${name} must lie in ${low} … ${high}, found ${value}`);
  }
  return value as number;
}

export interface StoredReply {
  result: unknown;
  buffers: DataView[];
}

export type StoredAnswers = Readonly<Record<string, (question: Question) => StoredReply>>;

/** Replies that were recorded, or that `make` reads from the page; errors are replies too. */
export function storedAnswers(
  data: ArrayBuffer,
  make: (data: StoredData) => StoredAnswers,
): AnswerMessage {
  let known: { stored: StoredData; answers: StoredAnswers } | undefined;
  return async (message) => {
    const id = (message as { id?: unknown } | null)?.id;
    try {
      if (!known) {
        const stored = new StoredData(data);
        known = { stored, answers: make(stored) };
      }
      const question = new Question(message);
      const recorded = known.stored.recorded(message as object);
      const { result, buffers } = recorded ?? answered(known.answers, question);
      return { content: { id, result }, buffers };
    } catch (error) {
      return { content: { id, error: errorText(error) }, buffers: [] };
    }
  };
}

/** What only Python answers unless it is recorded. */
const ABSENT: Readonly<Record<string, string>> = {
  node: "no details of this node",
  region: "no statistics of regions",
  percentiles: "no other percentiles",
};

function answered(answers: StoredAnswers, question: Question): StoredReply {
  const { kind } = question;
  if (Object.hasOwn(answers, kind)) return answers[kind]!(question);
  const what = (Object.hasOwn(ABSENT, kind) && ABSENT[kind]) || "no answer to this";
  throw new Error(`This page has no kernel, and ${what}: open its files in a notebook.`);
}
