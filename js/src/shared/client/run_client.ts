import type { AnyModel } from "@anywidget/types";
import type { ChangeColumns } from "./change_columns.ts";
import { fields, type StringColumn } from "./columns.ts";
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
export interface GraphColumns {
  names: StringColumn;
  labels: StringColumn;
  funcNames: StringColumn;
  opKinds: StringColumn;
  kinds: Uint8Array;
  parameterTrust: Uint8Array;
  entryOffsets: Int32Array;
  edgeSource: Int32Array;
  edgeOutput: Int32Array;
  edgeTarget: Int32Array;
  edgePosition: Int32Array;
  edgeTrust: Uint8Array;
  controlSource: Int32Array;
  controlTarget: Int32Array;
  headNode: Int32Array;
  headOutput: Int32Array;
  shapeOffsets: Int32Array;
  shapeDims: Float64Array;
  shapeKnown: Uint8Array;
  dtypes: StringColumn;
  /** Empty where the graph has no such list. */
  storageIds: Int32Array;
  deviceTypes: Int32Array;
  /** Mean time of each node in nanoseconds, NaN where unknown. */
  nodeNs: Float64Array;
  nodeTrust: Uint8Array;
  /** 1 where the run holds the entry's tensor. */
  hasTensor: Uint8Array;
  /** Groups (G) are intervals of this order of all nodes; see `tvmdbg_widgets/model/graph/groups.py`. */
  groupOrder: Int32Array;
  groupStart: Int32Array;
  groupEnd: Int32Array;
  /** The group around each group; -1 at the top. Parents come before their children. */
  groupParent: Int32Array;
  /** Groups of one number have the same structure. */
  groupAlike: Int32Array;
  /** Of how many blocks a run of blocks is; else 1. */
  groupRepeats: Int32Array;
  groupSource: Uint8Array;
  /** Time that nodes inside took together, as slices of several nodes: it is in no `nodeNs`. */
  groupTogether?: Float64Array;
  /** What a node took together with others, and how many they are; NaN and 0 where it did not. */
  togetherNs?: Float64Array;
  togetherCount?: Int32Array;
  groupNames: StringColumn;
  /** The innermost group of each node, -1 for none. */
  nodeGroup: Int32Array;
  info?: {
    /** Names of devices by their type. */
    devices: Record<string, string>;
    /** What of the graph its file has wrong, the first of so many. */
    wrong?: string[];
    wrongCount?: number;
  } | null;
}

/** What queries need beyond the graph; see `tvmdbg_widgets/analysis/graph/view_columns.py`. */
export interface FactColumns {
  /** Attributes of node `i` are rows `attrOffsets[i]` to `attrOffsets[i + 1] - 1`. */
  attrOffsets: Int32Array;
  attrNames: StringColumn;
  attrValues: StringColumn;
  /** NaN where unknown. */
  entryBytes: Float64Array;
  /** Of each entry, empty where none is stated. */
  layouts: StringColumn;
}

/** Steps (R), entries (E) and slots (S) of the memory plan; see `tvmdbg_widgets/analysis/memory/plan.py`. */
export interface MemoryColumns {
  /** The node that runs at each step. */
  order: Int32Array;
  /** Bytes of the workspace that are live at each step. */
  live: Float64Array;
  /** -1 where unknown. */
  entryBytes: Float64Array;
  entrySlot: Int32Array;
  /** Steps that write an entry and read it last. */
  first: Int32Array;
  last: Int32Array;
  slotStorage: Int32Array;
  slotDevice: Int32Array;
  slotBytes: Float64Array;
  slotParameter: Uint8Array;
  /** The planned buffer that a slot lies in, -1 for memory of its own, and where in bytes. */
  slotBuffer: Int32Array;
  slotOffset: Float64Array;
  /** Entries that are overwritten while still needed, by whom, and who reads them again (-1: the end). */
  lostNode: Int32Array;
  lostOutput: Int32Array;
  lostWriter: Int32Array;
  lostReader: Int32Array;
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
export interface TensorColumns {
  node: Int32Array;
  output: Int32Array;
  names: StringColumn;
  dtypes: StringColumn;
  shapeOffsets: Int32Array;
  shapeDims: Float64Array;
  nbytes: Float64Array;
  trust: Uint8Array;
  /** Number of warnings that go with the tensor. */
  notes: Uint8Array;
  /** The row to show first, where the values tell; none where the graph does. */
  opening: Int32Array;
}

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
    return this.#columns<GraphColumns>("graph");
  }

  facts(): Promise<FactColumns | null> {
    return this.#columns<FactColumns>("facts");
  }

  layout(): Promise<string> {
    return this.#once("layout", async () => {
      const { result, buffers } = await this.#ask<string | null>("code", { view: "layout" });
      return result ?? (await unzipped(buffers[0]!));
    });
  }

  tensors(): Promise<TensorColumns | null> {
    return this.#columns<TensorColumns>("tensors");
  }

  memory(): Promise<MemoryColumns | null> {
    return this.#columns<MemoryColumns>("memory");
  }

  critical(): Promise<CriticalColumns | null> {
    return this.#columns<CriticalColumns>("critical");
  }

  roofline(): Promise<RooflineColumns | null> {
    return this.#columns<RooflineColumns>("roofline");
  }

  counters(): Promise<CounterColumns | null> {
    return this.#columns<CounterColumns>("counters");
  }

  change(): Promise<ChangeColumns | null> {
    return this.#columns<ChangeColumns>("change");
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

  #columns<T>(kind: string): Promise<T | null> {
    return this.#once(kind, async () => {
      const { result, buffers } = await this.#ask<ColumnsReply | null>(kind, {});
      if (result === null) return null;
      return { ...fields(result.columns, buffers), info: result.info } as T;
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
