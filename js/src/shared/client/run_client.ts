import type { AnyModel } from "@anywidget/types";
import type { ChangeColumns } from "./change_columns.ts";
import { columnsOf } from "./columns_of.ts";
import type { CounterColumns } from "./counter_columns.ts";
import type { FindingsAnswer } from "./findings.ts";
import { type FormerAnswer, inPresentWords } from "./former_findings.ts";
import { pageCache } from "./page_cache.ts";
import { unzipped } from "./page_module.ts";
import type { CriticalColumns, RooflineColumns } from "./path_columns.ts";
import { type Answer, isAbort, request, tell } from "./request.ts";
import type { TensorQuestions } from "./tensor_client.ts";
import type { Entry } from "./tensor_questions.ts";
import { type ColumnsReply, TimelineClient, type TimelineQuestions } from "./timeline_client.ts";
import type { Columns } from "./wire.ts";

export type * from "./path_columns.ts";
export type * from "./timeline_columns.ts";
export type { Entry };

export const NodeKind = { INPUT: 0, PARAMETER: 1, OPERATOR: 2, NOP: 3, COPY: 4 } as const;
/** By number. */
export const NODE_KINDS = ["input", "parameter", "operator", "nop", "copy"];
export const Trust = { EXACT: 0, BY_ORDER: 1, BY_NAME: 2, AMBIGUOUS: 3, ABSENT: 4 } as const;
export const GroupSource = { REPEAT: 0, BLOCK: 1, SCOPE: 2, MODULE: 3, DELEGATE: 4 } as const;
export const TRUST_LABELS = ["exact", "by order", "by name", "ambiguous", "absent"] as const;

/** What a run holds, and for what it lacks how to get it. */
export interface RunSummary {
  title: string;
  graph: string | null;
  tensors: string | null;
  timeline: string | null;
  /** By part ("graph", "tensors", "timeline"): why it is missing and how to get it. */
  missing: Record<string, string>;
  issues: {
    severity: "error" | "warning" | "note";
    rule: string;
    message: string;
    nodes: number[];
  }[];
  provenance: string[];
}

/** Nodes (N), entries (E) and edges (M) of the graph; see `tvmdbg_widgets/model/graph/graph.py`. */
export interface GraphColumns extends Columns<"graph"> {
  info?: {
    /** Names of devices by their type. */
    devices: Record<string, string>;
    /** What of the graph its file has wrong, the first of so many. */
    wrong?: string[];
    wrongCount?: number;
  } | null;
}

/** What queries need beyond the graph; see `tvmdbg_widgets/analysis/graph/view_columns.py`. */
export type FactColumns = Columns<"facts">;

/** Steps (R), entries (E) and slots (S) of the memory plan; see `tvmdbg_widgets/analysis/memory/plan.py`. */
export interface MemoryColumns extends Columns<"memory"> {
  info: {
    /** Why there is no plan and how to get one; then there are no columns, and nothing below. */
    missing: string;
    said: string[];
    /** Those of `said` that tell of a fault. */
    wrong: string[];
    allocated: number;
    parameters: number;
    /** How many buffers a program plans as a whole; 0 where each slot is memory of its own. */
    buffers: number;
    peak: number;
    peakNodes: number[];
    devices: Record<string, string>;
  };
}

/** The tensors (T) of a run, in node order. */
export type TensorColumns = Columns<"tensors">;

export interface NodeDetails {
  id: number;
  name: string;
  funcName: string;
  kind: string;
  opKind: string;
  attrs: [name: string, value: string][];
  /** The first of `inputCount`; so of the outputs. */
  inputs: { node: number; output: number; name: string; text: string; trust: string }[];
  outputs: { output: number; text: string; consumers: { node: number; name: string }[] }[];
  inputCount?: number;
  outputCount?: number;
  times: [label: string, text: string][];
  notes: string[];
}

/** What is largest in the run; see `tvmdbg_widgets/analysis/highlights.py`. */
export interface Highlight {
  label: string;
  about: string;
  name: string;
  value: string;
  nodes: number[];
  entry: Entry | null;
}

/** What a view asks of a run; whoever answers (a kernel, a page) is not its business. */
export interface RunClient extends TensorQuestions, TimelineQuestions {
  summary(): Promise<RunSummary>;
  graph(): Promise<GraphColumns | null>;
  facts(): Promise<FactColumns | null>;
  /** The code of the worker that lays graphs out. */
  layout(): Promise<string>;
  tensors(): Promise<TensorColumns | null>;
  memory(): Promise<MemoryColumns | null>;
  critical(): Promise<CriticalColumns | null>;
  roofline(): Promise<RooflineColumns | null>;
  counters(): Promise<CounterColumns | null>;
  /** The times of two runs that are shown as one; null of one run. */
  change(): Promise<ChangeColumns | null>;
  node(id: number, signal: AbortSignal): Promise<NodeDetails>;
  highlights(): Promise<Highlight[]>;
  /** `goOn` begins a scan again that was stopped. */
  findings(signal: AbortSignal, goOn?: boolean): Promise<FindingsAnswer>;
  /** Stops the scan; what is known by then stays. */
  cancelFindings(signal: AbortSignal): Promise<FindingsAnswer>;
}

/** What answers tell beside their columns. */
interface Told {
  graph: NonNullable<GraphColumns["info"]>;
  facts: null;
  tensors: null;
  memory: MemoryColumns["info"];
  critical: CriticalColumns["info"];
  roofline: RooflineColumns["info"];
  counters: CounterColumns["info"];
  change: ChangeColumns["info"];
}

const TIMEOUT_MS = 60_000;
/** For what may look at every value of a tensor, whatever its size. */
const LONG_MS = 3_600_000;
const LONG = new Set(["tensor", "profile", "channels", "region", "percentiles", "data"]);
/** What a user stops by hand: the kernel is told, for no newer question may follow. */
const STOPPABLE = new Set(["percentiles", "data", "tiles", "window", "area", "find"]);
/**
 * Whether the server is on this machine. Then the kernel fills short answers up to one segment of the loopback
 * interface: jupyter-server leaves Nagle's algorithm on, so that they waited 40 ms for the browser's acknowledgement.
 */
const NEAR = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(globalThis.location?.hostname ?? "");

/** Answers from a RunModel over custom messages; columns are fetched once a page. */
class ModelRunClient extends TimelineClient implements RunClient {
  readonly #model: AnyModel;
  readonly #kept: Map<string, Promise<unknown>>;
  readonly #signal: AbortSignal;
  /** Of one client's questions of one kind the kernel answers the newest; other clients' are not touched. */
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
    return this.#once("summary", async () => (await this.#ask<RunSummary>("summary", {})).result);
  }

  graph(): Promise<GraphColumns | null> {
    return this.#columns("graph");
  }

  facts(): Promise<FactColumns | null> {
    return this.#columns("facts");
  }

  layout(): Promise<string> {
    return this.#once("layout", async () => {
      const { result, buffers } = await this.#ask<string | null>("code", { view: "layout" });
      return result ?? (await unzipped(buffers[0]!));
    });
  }

  tensors(): Promise<TensorColumns | null> {
    return this.#columns("tensors");
  }

  memory(): Promise<MemoryColumns | null> {
    return this.#columns("memory");
  }

  critical(): Promise<CriticalColumns | null> {
    return this.#columns("critical");
  }

  roofline(): Promise<RooflineColumns | null> {
    return this.#columns("roofline");
  }

  counters(): Promise<CounterColumns | null> {
    return this.#columns("counters");
  }

  change(): Promise<ChangeColumns | null> {
    return this.#columns("change");
  }

  async node(id: number, signal: AbortSignal): Promise<NodeDetails> {
    return (await this.#ask<NodeDetails>("node", { node: id }, signal)).result;
  }

  highlights(): Promise<Highlight[]> {
    return this.#once(
      "highlights",
      async () => (await this.#ask<Highlight[]>("highlights", {})).result,
    );
  }

  async findings(signal: AbortSignal, goOn = false): Promise<FindingsAnswer> {
    const { result } = await this.#ask<FormerAnswer>("findings", goOn ? { goOn } : {}, signal);
    return inPresentWords(result);
  }

  async cancelFindings(signal: AbortSignal): Promise<FindingsAnswer> {
    return inPresentWords((await this.#ask<FormerAnswer>("cancelFindings", {}, signal)).result);
  }

  async #ask<T>(kind: string, payload: object, signal = this.#signal): Promise<Answer<T>> {
    const patience = AbortSignal.timeout(LONG.has(kind) ? LONG_MS : TIMEOUT_MS);
    const limit = AbortSignal.any([signal, this.#signal, patience]);
    const client = this.#client;
    const stop = () => tell(this.#model, "cancel", { client, what: kind });
    if (STOPPABLE.has(kind)) limit.addEventListener("abort", stop);
    try {
      return await request<T>(this.#model, kind, { client, near: NEAR, ...payload }, limit);
    } finally {
      limit.removeEventListener("abort", stop);
    }
  }

  /** The columns of an answer with what it tells beside them; null where there is nothing to tell of. */
  #columns<Kind extends keyof Told>(kind: Kind) {
    return this.#once(kind, async () => {
      const { result, buffers } = await this.#ask<ColumnsReply<Told[Kind]> | null>(kind, {});
      return result && { ...columnsOf<Kind>(result.columns, buffers), info: result.info };
    });
  }

  /** Shares one answer with every view of the page; asks again where the view that asked first has gone. */
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

/** The run behind a model, as one view sees it until its signal aborts. */
export function runClient(model: AnyModel, reference: string, signal: AbortSignal): RunClient {
  const kept = pageCache(`${reference}#${model.get("content_hash")}`, signal);
  return new ModelRunClient(model, kept, signal);
}
