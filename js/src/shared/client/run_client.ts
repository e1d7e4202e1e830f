import type { AnyModel } from "@anywidget/types";
import {
  type ChangeColumns,
  type ColumnsReply,
  type CounterColumns,
  type CriticalColumns,
  columnsOf,
  type FactColumns,
  type FindingsAnswer,
  type GraphColumns,
  type Highlight,
  type MemoryColumns,
  type Missing,
  type RooflineColumns,
  type RunAnswers,
  type RunSummary,
  type TensorColumns,
} from "./answers.ts";
import { pageCache } from "./page_model.ts";
import { type Answer, isAbort, request, tell } from "./request.ts";
import type { HealthAnswer } from "./tensor_questions.ts";
import { TimelineQuestions } from "./timeline_client.ts";
import type { Columns, WIRE } from "./wire.ts";

export const NodeKind = { INPUT: 0, PARAMETER: 1, OPERATOR: 2, NOP: 3, COPY: 4 } as const;
export const NODE_KINDS = ["input", "parameter", "operator", "nop", "copy"];
export const Trust = { EXACT: 0, BY_ORDER: 1, BY_NAME: 2, AMBIGUOUS: 3, ABSENT: 4 } as const;
export const GroupSource = {
  REPEAT: 0,
  BLOCK: 1,
  SCOPE: 2,
  MODULE: 3,
  DELEGATE: 4,
  OPERATOR: 5,
} as const;
export const TRUST_LABELS = ["exact", "by order", "by name", "ambiguous", "absent"] as const;

const TIMEOUT_MS = 60_000;
/** Time limit of questions that may read every value of a tensor. */
const LONG_MS = 3_600_000;
const LONG = new Set(["tensor", "profile", "channels", "region", "percentiles", "data"]);
/** Questions that a user stops by hand: no newer question would stop them in the kernel. */
const STOPPABLE = new Set(["percentiles", "data", "window", "area", "find"]);
/**
 * True if the server is on this machine. If so, the kernel pads short answers to one segment of the loopback interface:
 * jupyter-server leaves Nagle's algorithm on, so they would wait 40 ms for the browser's acknowledgement.
 */
const NEAR = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(globalThis.location?.hostname ?? "");

/** The run behind a model, as one view sees it until its signal aborts. */
export class RunClient extends TimelineQuestions {
  readonly #model: AnyModel;
  readonly #kept: Map<string, Promise<unknown>>;
  readonly #signal: AbortSignal;
  /** Id of this client: the kernel drops older questions of one kind only for the same client. */
  readonly #client = Math.random().toString(36).slice(2);

  constructor(model: AnyModel, kept: Map<string, Promise<unknown>>, signal: AbortSignal) {
    super(
      (kind, question, asking) => this.#ask(kind, question, asking),
      (key, ask) => this.#once(key, ask),
    );
    this.#model = model;
    this.#kept = kept;
    this.#signal = signal;
  }

  summary(): Promise<RunSummary> {
    return this.#once("summary", async () => (await this.#ask("summary", {})).result);
  }

  graph(): Promise<GraphColumns | null> {
    return this.#columns("graph", () => this.#ask("graph", {}));
  }

  facts(): Promise<FactColumns | null> {
    return this.#columns("facts", () => this.#ask("facts", {}));
  }

  tensors(): Promise<TensorColumns | null> {
    return this.#columns("tensors", () => this.#ask("tensors", {}));
  }

  memory(): Promise<MemoryColumns | Missing | null> {
    return this.#columns("memory", () => this.#ask("memory", {}));
  }

  critical(): Promise<CriticalColumns | Missing | null> {
    return this.#columns("critical", () => this.#ask("critical", {}));
  }

  roofline(): Promise<RooflineColumns | Missing | null> {
    return this.#columns("roofline", () => this.#ask("roofline", {}));
  }

  counters(): Promise<CounterColumns | null> {
    return this.#columns("counters", () => this.#ask("counters", {}));
  }

  /** Times of two runs shown as one; null for a single run. */
  change(): Promise<ChangeColumns | null> {
    return this.#columns("change", () => this.#ask("change", {}));
  }

  highlights(): Promise<Highlight[]> {
    return this.#once("highlights", async () => (await this.#ask("highlights", {})).result);
  }

  /** `goOn` resumes a stopped scan. */
  async findings(signal: AbortSignal, goOn = false): Promise<FindingsAnswer> {
    return (await this.#ask("findings", goOn ? { goOn } : {}, signal)).result;
  }

  /** The first question begins the scan, `goOn` resumes a stopped one; `glance` begins no long scan. */
  async health(signal: AbortSignal, goOn = false, glance = false): Promise<HealthAnswer> {
    const flags = { ...(goOn && { goOn }), ...(glance && { glance }) };
    const { result, buffers } = await this.#ask("health", flags, signal);
    return { ...result, ...columnsOf<"health">(result.columns, buffers) };
  }

  /** Stops the scan and keeps its results so far. */
  async cancelFindings(signal: AbortSignal): Promise<FindingsAnswer> {
    return (await this.#ask("cancelFindings", {}, signal)).result;
  }

  async #ask<Kind extends keyof RunAnswers>(
    kind: Kind,
    payload: object,
    signal = this.#signal,
  ): Promise<Answer<RunAnswers[Kind]>> {
    const patience = AbortSignal.timeout(LONG.has(kind) ? LONG_MS : TIMEOUT_MS);
    const limit = AbortSignal.any([signal, this.#signal, patience]);
    const client = this.#client;
    const stop = () => tell(this.#model, "cancel", { client, what: kind });
    if (STOPPABLE.has(kind)) limit.addEventListener("abort", stop);
    try {
      return await request<RunAnswers[Kind]>(
        this.#model,
        kind,
        { client, near: NEAR, ...payload },
        limit,
      );
    } finally {
      limit.removeEventListener("abort", stop);
    }
  }

  /** Columns of an answer with its further information, or the reason for their absence. */
  #columns<Kind extends keyof typeof WIRE, Info, None extends Missing | null>(
    kind: Kind,
    ask: () => Promise<Answer<ColumnsReply<Info> | None>>,
  ): Promise<(Columns<Kind> & { info: Info }) | None> {
    return this.#once(kind, async () => {
      const { result, buffers } = await ask();
      if (!isPacked(result)) return result;
      return { ...columnsOf<Kind>(result.columns, buffers), info: result.info };
    });
  }

  /** Shares one answer with every view of the page; asks again if the view that asked first is gone. */
  async #once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key) as Promise<T> | undefined;
    if (known) {
      try {
        return await known;
      } catch (error) {
        if (!isAbort(error) || this.#signal.aborted) throw error;
        return this.#once(key, ask);
      }
    }
    const answer = ask();
    this.#kept.set(key, answer);
    answer.catch(() => this.#kept.delete(key));
    return answer;
  }
}

function isPacked<Info>(result: ColumnsReply<Info> | Missing | null): result is ColumnsReply<Info> {
  return result !== null && "columns" in result;
}

export function runClient(model: AnyModel, reference: string, signal: AbortSignal): RunClient {
  const kept = pageCache(`${reference}#${model.get("content_hash")}`, signal);
  return new RunClient(model, kept, signal);
}
