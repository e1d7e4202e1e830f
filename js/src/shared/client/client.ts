import type { AnyModel } from "@anywidget/types";
import type { Packed, RunQuestions, RunReplies } from "./answers.ts";
import { type Column, fields } from "./columns.ts";
import { pageCache, shared } from "./page_model.ts";
import { type Answer, request, tell } from "./request.ts";

/** Carries a question: to the kernel, to the recording of a page, or to Python in the same process. */
export interface Host {
  ask(kind: string, question: object, signal?: AbortSignal): Promise<Answer<unknown>>;
}

/** Questions whose answers do not change: all views of a page share them. */
const ONCE = new Set(
  "summary graph facts tensors memory critical roofline merged repeats counters change highlights timeline flows".split(
    " ",
  ),
);

type QuestionOf<Questions, Kind> = (Kind extends keyof Questions ? Questions[Kind] : unknown) &
  object;

/** What answers one view's questions until its signal aborts; the columns of a reply are arrays beside its fields. */
export class Client<Replies extends object = RunReplies, Questions extends object = RunQuestions> {
  readonly #host: Host;
  readonly #kept: Map<string, Promise<unknown>>;
  readonly #signal: AbortSignal | undefined;

  constructor(host: Host, signal?: AbortSignal, kept = new Map<string, Promise<unknown>>()) {
    this.#host = host;
    this.#signal = signal;
    this.#kept = kept;
  }

  ask<Kind extends keyof Replies & string>(
    kind: Kind,
    question: QuestionOf<Questions, Kind> = {} as never,
    signal?: AbortSignal,
  ): Promise<Replies[Kind]> {
    const ask = async () => {
      const answer = await this.#host.ask(kind, question, signal ?? this.#signal);
      return opened(kind, answer) as Replies[Kind];
    };
    return ONCE.has(kind) && !Object.keys(question).length ? this.once(kind, ask) : ask();
  }

  /** A client whose questions say more, such as the run that is meant. */
  with(more: object): Client<Replies, Questions> {
    const ask: Host["ask"] = (kind, question, signal) =>
      this.#host.ask(kind, { ...question, ...more }, signal);
    return new Client({ ask }, this.#signal);
  }

  /** Shares one answer with every view of the page; asks again if the view that asked first is gone. */
  once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    return shared(this.#kept, key, ask, this.#signal);
  }
}

function isPacked(value: unknown): value is Packed {
  return Array.isArray((value as Packed | null)?.columns);
}

/** Questions whose reply is a buffer, in the field `bytes`. */
const BYTES = new Set(["code", "data", "struct", "bytes"]);

/** A reply with its columns, also those one level below, as arrays. */
export function opened(kind: string, { result, buffers }: Answer<unknown>): unknown {
  if (isPacked(result)) return unpacked(result, buffers);
  if (BYTES.has(kind) && typeof result === "object") return { ...result, bytes: buffers[0] };
  if (result === null || typeof result !== "object") return result;
  const inner = Object.entries(result).filter(([, value]) => isPacked(value));
  const parts = inner.map(([name, value]) => [name, unpacked(value, buffers)]);
  return inner.length ? { ...result, ...Object.fromEntries(parts) } : result;
}

function unpacked({ columns, ...rest }: Packed, buffers: DataView[]): object {
  return { ...rest, ...completed(fields(columns, buffers)) };
}

const CELLS = ["mean", "minimum", "maximum", "flags"];

/** Bounds of cells that equal the mean, and flags that are all 0, are not sent. */
export function completed(columns: Record<string, Column>): Record<string, Column> {
  const { mean, minimum = mean, maximum = mean, flags } = columns;
  if (!mean || Object.keys(columns).some((name) => !CELLS.includes(name))) return columns;
  return {
    mean,
    minimum: minimum!,
    maximum: maximum!,
    flags: flags ?? new Uint8Array(mean.length),
  };
}

const TIMEOUT_MS = 60_000;
/** Time limit of questions that may read every value of a tensor. */
const LONG_MS = 3_600_000;
const LONG = new Set(["tensor", "profile", "channels", "region", "percentiles", "data"]);
/** Questions that a user stops by hand: no newer question would stop them in the kernel. */
const STOPPABLE = new Set(["percentiles", "data", "window", "area", "find"]);
/** Questions of which only the newest matters: it aborts the one before. */
const NEWEST = new Set(["window", "area", "sums", "paths", "merged", "find"]);
/**
 * True if the server is on this machine. If so, the kernel pads short answers to one segment of the loopback interface:
 * jupyter-server leaves Nagle's algorithm on, so they would wait 40 ms for the browser's acknowledgement.
 */
const NEAR = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(globalThis.location?.hostname ?? "");

/** Asks the kernel, or the page that stands in for one, through a widget's model. */
export class ModelHost implements Host {
  readonly #model: AnyModel;
  readonly #newest = new Map<string, AbortController>();
  /** Id of this client: the kernel drops older questions of one kind only for the same client. */
  readonly #client = Math.random().toString(36).slice(2);

  constructor(model: AnyModel) {
    this.#model = model;
  }

  async ask(kind: string, question: object, signal: AbortSignal): Promise<Answer<unknown>> {
    const patience = AbortSignal.timeout(LONG.has(kind) ? LONG_MS : TIMEOUT_MS);
    const limits = [signal, patience];
    const mine = new AbortController();
    if (NEWEST.has(kind)) {
      this.#newest.get(kind)?.abort();
      this.#newest.set(kind, mine);
      limits.push(mine.signal);
    }
    const limit = AbortSignal.any(limits);
    const client = this.#client;
    const stop = () => tell(this.#model, "cancel", { client, what: kind });
    if (STOPPABLE.has(kind)) limit.addEventListener("abort", stop);
    try {
      return await request(this.#model, kind, { client, near: NEAR, ...question }, limit);
    } finally {
      limit.removeEventListener("abort", stop);
      if (this.#newest.get(kind) === mine) this.#newest.delete(kind);
    }
  }
}

/** The client of a view whose model answers; views of the page that name the same reference share answers. */
export function clientOf<
  Replies extends object = RunReplies,
  Questions extends object = RunQuestions,
>(model: AnyModel, reference: string, signal: AbortSignal): Client<Replies, Questions> {
  const kept = pageCache(`${reference}#${model.get("content_hash")}`, signal);
  return new Client(new ModelHost(model), signal, kept);
}
