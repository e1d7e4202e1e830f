import type { Entry } from "./tensor_questions.ts";
import type { Columns } from "./wire.ts";

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

/** Why there is none of a part, and how to get one. */
export interface Missing {
  missing: string;
}

/** Nodes (N), entries (E) and edges (M) of the graph; see `tvmdbg_widgets/model/graph/graph.py`. */
export interface GraphColumns extends Columns<"graph"> {
  info?: GraphInfo | null;
}

export interface GraphInfo {
  /** What all times together are the time of: `in Method::execute`; "" without times. */
  together?: string;
  /** How many nodes are of each role, operators first: `27 operators`; and what telling inputs from parameters rests on. */
  held?: string[];
  roles?: string;
  /** Names of devices by their type. */
  devices: Record<string, string>;
  /** What of the graph its file has wrong, the first of so many. */
  wrong?: string[];
  wrongCount?: number;
}

/** What queries need beyond the graph; see `tvmdbg_widgets/analysis/view_columns.py`. */
export type FactColumns = Columns<"facts">;

/** Steps (R), entries (E) and slots (S) of the memory plan; see `tvmdbg_widgets/analysis/memory/planned.py`. */
export interface MemoryColumns extends Columns<"memory"> {
  info: {
    said: string[];
    /** Those of `said` that tell of a fault. */
    wrong: string[];
    allocated: number;
    parameters: number;
    /** What telling inputs from parameters rests on; empty where a file tells it. */
    roles?: string;
    /** How many buffers a program plans as a whole; 0 where each slot is memory of its own. */
    buffers: number;
    peak: number;
    peakNodes: number[];
    devices: Record<string, string>;
  };
}

/** The longest path through the graph by time; see `tvmdbg_widgets/analysis/timeline/longest_path.py`. */
export interface CriticalColumns extends Columns<"critical"> {
  info: {
    said: string[];
    length: number;
    total: number;
    /** Nothing ran beside anything else: the length is a lower bound. */
    sequential: boolean;
  };
}

/** What each operator (P) computes and moves, counted from shapes; see `tvmdbg_widgets/analysis/work`. */
export interface RooflineColumns extends Columns<"roofline"> {
  info: { convention: string };
}

/** What varies along the timeline: memory in use, counters of a trace. A value holds until the next one. */
export interface CounterColumns extends Columns<"counters"> {
  info: {
    /** Why memory is not among them and how to get it, "" where it is. */
    missing: string;
    /** How many values there are, where only the extremes of short stretches were sent; else 0. */
    thinned: number;
    /** Counters that were not sent. */
    leftOut: number;
  };
}

/** Numbers of a difference that rows by node and by op kind share; times in nanoseconds, NaN where unknown. */
export type ChangeRows = Pick<
  Columns<"change">,
  "label" | "nsA" | "nsB" | "p" | "q" | "shift" | "low" | "high" | "verdict" | "shown" | "why"
>;

/** The times of two runs compared, the largest difference first; see `tvmdbg_widgets/answers/timeline.py`. */
export interface ChangeColumns extends Columns<"change"> {
  info: {
    titles: [a: string, b: string];
    sentence: string;
    said: string[];
    verdicts: string[];
    matches: string[];
    /** What the times of each were counted in whole units of, ns: one of 0 is less. */
    roundings: [a: number, b: number];
    total: { a: number; b: number; verdict: number; why: string };
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

/** What is largest in the run; see `tvmdbg_widgets/analysis/opening.py`. */
export interface Highlight {
  label: string;
  about: string;
  name: string;
  value: string;
  nodes: number[];
  entry: Entry | null;
}
