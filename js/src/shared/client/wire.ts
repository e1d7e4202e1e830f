import type { StringColumn } from "./columns.ts";
import {
  BINS,
  CELLS,
  FACTS,
  GROUPS,
  ITEMS,
  NAMES,
  NODES,
  OPTIONAL_NAMES,
  OPTIONAL_SLICES,
  PAGE_TABLES,
  SLICES,
  SUMS,
} from "./wire_tables.ts";

/**
 * Columns of every answer of Python and the kinds of their arrays; "?" marks optional ones.  The build writes it to
 * `static/wire.json`, and `engine.py` checks each answer against it.
 */
export const WIRE = {
  nodes: { ...NODES },
  groups: { ...GROUPS },
  graph: {
    ...NODES,
    ...GROUPS,
    /** 1 if the run holds the entry's tensor. */
    hasTensor: "u1",
  },
  facts: { ...FACTS },
  /** Numbers (NaN if unknown) or classes (-1 if unknown) of nodes or entries; terms of a ratio by node. */
  nodeColumn: { values: "f8?", codes: "i4?", divisor: "f8?", dividend: "f8?" },
  /** Tensors (T) of a run, in node order. */
  tensors: {
    node: "i4",
    output: "i4",
    names: "strings",
    dtypes: "strings",
    shapeOffsets: "i4",
    shapeDims: "f8",
    nbytes: "f8",
    trust: "u1",
    notes: "u1",
    /** Row to show first, chosen by the values; none if the graph chooses it. */
    opening: "i4",
  },
  /** Steps (R), entries (E) and slots (S) of the memory plan; see `tvmdbg_widgets/analysis/memory/planned.py`. */
  memory: {
    /** The node that runs at each step. */
    order: "i4",
    /** Bytes of the workspace that are live at each step. */
    live: "f8",
    /** -1 if unknown. */
    entryBytes: "f8",
    entrySlot: "i4",
    first: "i4",
    last: "i4",
    slotStorage: "i4",
    slotDevice: "i4",
    slotBytes: "f8",
    slotParameter: "u1",
    /** Planned buffer of a slot (-1 for memory of its own) and offset in bytes. */
    slotBuffer: "i4",
    slotOffset: "f8",
    /** Entries overwritten while still needed: the writer, and the next reader (-1: the end). */
    lostNode: "i4",
    lostOutput: "i4",
    lostWriter: "i4",
    lostReader: "i4",
  },
  /** The longest path through the graph by time; see `tvmdbg_widgets/analysis/timeline/longest_path.py`. */
  critical: {
    /** Its nodes in order. */
    path: "i4",
    /** By node (N): delay that would not move the end; 0 on the path, NaN if unknown. */
    slack: "f8",
  },
  /** Computation and traffic of each operator (P), counted from shapes; see `tvmdbg_widgets/analysis/work`. */
  roofline: {
    node: "i4",
    /** NaN if unknown. */
    flops: "f8",
    bytes: "f8",
    exact: "u1",
    dtypes: "strings",
    why: "strings",
  },
  /** Places (P) of slices merged by path, level by level, siblings side by side, the heaviest first. */
  merged: {
    ...ITEMS,
    /** -1 unless the place is a group of the graph. */
    group: "i4",
    /** The place around it, -1 at the top. */
    parent: "i4",
    depth: "i4",
    /** Number of slices. */
    count: "i4",
    /** Where all places of a level stand side by side. */
    start: "f8",
    total: "f8",
    self: "f8",
  },
  /** Rows (R) of repeats; of a trace, slices by name. In order of execution. */
  repeats: {
    ...ITEMS,
    /** Repeats of row r are [offsets[r], offsets[r + 1]); NaN is no number. */
    offsets: "i4",
    ns: "f8",
    /** Sum of the medians before it. */
    start: "f8",
    p10: "f8",
    p50: "f8",
    p90: "f8",
    noisy: "u1",
    /** By repeat; empty for a trace. */
    totals: "f8",
  },
  /** Values along the timeline: memory in use, counters of a trace. A value holds until the next one. */
  counters: {
    names: "strings",
    /** "B" for bytes, "" if the trace names none. */
    units: "strings",
    said: "strings",
    /** Counter c has the values [offsets[c], offsets[c + 1]). */
    offsets: "i4",
    ns: "f8",
    value: "f8",
  },
  /** The times of two runs compared, the largest difference first; see `tvmdbg_widgets/answers/timeline.py`. */
  change: {
    label: "strings",
    nsA: "f8",
    nsB: "f8",
    /** Two-sided p value, raw and corrected for the number of tests. */
    p: "f8",
    q: "f8",
    /** Extra time of a repeat of B, and its 95 % confidence interval. */
    shift: "f8",
    low: "f8",
    high: "f8",
    /** Index into `info.verdicts`. */
    verdict: "u1",
    /** 1 if the difference has a color: it is neither noise nor unknown, or there is no test for noise. */
    shown: "u1",
    why: "strings",
    kind: "strings",
    /** Node of A that stands for the row, the last in run order; -1 if A has none. */
    node: "i4",
    /** Nodes of row `i` are `aStart[i]` to `aStart[i + 1] - 1` of `aNodes`. */
    aStart: "i4",
    aNodes: "i4",
    bStart: "i4",
    bNodes: "i4",
    /** For each of `bNodes`: its label, and its first slice as an index in `run.timeline`, -1 for none. */
    bNames: "strings",
    bSlices: "i4",
    /** Index into `info.matches`, 255 if one side has no node. */
    match: "u1",
    reason: "strings",
    /** Shape of the first output, `1×64×8×8`: separates operators of one label. */
    shape: "strings",
    repeatsAStart: "i4",
    repeatsA: "f8",
    repeatsBStart: "i4",
    repeatsB: "f8",
    kindLabel: "strings",
    kindNsA: "f8",
    kindNsB: "f8",
    kindP: "f8",
    kindQ: "f8",
    kindShift: "f8",
    kindLow: "f8",
    kindHigh: "f8",
    kindVerdict: "u1",
    kindShown: "u1",
    kindWhy: "strings",
    /** Distinct names of the slices of B with their labels and op kinds. */
    sliceNames: "strings",
    sliceLabels: "strings",
    sliceKinds: "strings",
  },
  /** Arrows between slices (A) by slice number, in order of their start; the first of `info.count`. */
  flows: { flowFrom: "i4", flowTo: "i4", flowNames: "strings" },
  /** One row per entry, in execution order; see `tvmdbg_widgets/analysis/health_table.py`. */
  health: {
    node: "i4",
    output: "i4",
    /** 0 not scanned yet, 1 OK, 2 suspicious, 3 faulty, 4 cannot be judged. */
    verdict: "u1",
    nan: "f8",
    inf: "f8",
    zero: "f8",
    saturated: "f8",
    dead: "f8",
    denormal: "f8",
    /** Least and largest finite value; NaN if unknown. */
    low: "f8",
    high: "f8",
    /** Position in the order of suspicion, 0 the most suspicious. */
    rank: "i4",
    /** Node where the NaN or Inf first appears, possibly the entry's own; -1 for none. */
    source: "i4",
  },
  distribution: { low: "f8", high: "f8", count: "f8" },
  /** Pairs of nodes (P) and groups (G) of differences; see `comparison_answer` in `widgets/comparison.py`. */
  comparison: {
    pairA: "i4",
    pairB: "i4",
    certainty: "u1",
    reason: "u1",
    groupKind: "u1",
    groupStart: "i4",
    groupChange: "strings",
    memberA: "i4",
    memberB: "i4",
    /** By node: its operators in short, and the shape of its first output. */
    labelA: "strings",
    labelB: "strings",
    shapeA: "strings",
    shapeB: "strings",
    /** By node of each graph: binary logarithm of time in B over time in A. */
    speedA: "f8?",
    beforeA: "f8?",
    afterA: "f8?",
    beforeB: "f8?",
    afterB: "f8?",
    speedB: "f8?",
    /** By node of each graph: extra time in B, nanoseconds; NaN for noise and unknown times. */
    changeA: "f8?",
    changeB: "f8?",
  },
  /** Rows of equal bins of time, one row after the other: bin `b` of row `r` is at `r * bins + b`. */
  bins: { ...BINS, ...OPTIONAL_NAMES },
  slices: { ...SLICES },
  names: { ...NAMES },
  cells: { ...CELLS },
  window: {
    ...SLICES,
    ...OPTIONAL_NAMES,
    rowFirst: "i4",
    rowNumber: "i4",
    occurrence: "i4?",
    parent: "i4",
  },
  /** Columns of the first message: rows (R), tracks (T), times per node (N), and all of time in bins (B). */
  timeline: {
    ...BINS,
    ...NAMES,
    ...OPTIONAL_SLICES,
    tracks: "strings",
    trackRun: "i4",
    trackDevice: "strings",
    trackThread: "strings",
    /** Row `r` holds slices `rowFirst[r]` to `rowFirst[r + 1] - 1`. */
    rowFirst: "i4",
    rowTrack: "i4",
    rowDepth: "i4",
    rowKind: "u1",
    /**
     * Ranked times: the node, the call of several nodes, or the name of each row (-1 for the other two); its kind,
     * whether it is work of an operator, its time and share (NaN if no work), number of slices, first slice, and total
     * duration with nested slices. See `tvmdbg_widgets/model/timeline/columns.py`.
     */
    rankNode: "i4",
    rankCall: "i4",
    rankName: "i4",
    rankKind: "strings",
    rankOperator: "u1",
    rankNs: "f8",
    rankShare: "f8",
    rankSlices: "i4",
    rankFirst: "i4",
    rankWithin: "f8",
    /** Nodes of set `s` of `SliceColumns.set`, `setOffsets[s]` to `setOffsets[s + 1] - 1`, and their common time. */
    setOffsets: "i4?",
    setNodes: "i4?",
    setNs: "f8?",
    /** Sets whose time belongs to none of their nodes: 1 rest of a call, 2 operator inserted by lowering. */
    setApart: "u1?",
    setNames: "strings?",
    setKinds: "strings?",
    /** What the source tells of slices: lines of a name, a tab and a text. */
    abouts: "strings?",
    repeatsOffsets: "i4",
    repeats: "f8",
    nodeNs: "f8",
    nodeTrust: "u1",
    /** Kind of the outermost block around each node, -1 for none; empty if there is no graph. */
    nodeBlock: "i4",
    nodeCount: "i4",
    nodeP10: "f8",
    nodeP50: "f8",
    nodeP90: "f8",
    nodeSd: "f8",
    nodeNoisy: "u1",
    /** 95 % confidence interval of the mean; NaN if unknown. */
    nodeLow: "f8",
    nodeHigh: "f8",
  },
  sums: { ...SUMS },
  /** Sums of a range; slices that its ends cut, and their self time in it. */
  area: { ...SUMS, cutSlice: "i4", cutSelf: "f8" },
  /** Slices merged by path from the top: places (P) behind their parents, keys as in `sums`. */
  paths: {
    parent: "i4",
    key: "i4",
    self: "f8",
    count: "i4",
  },
  /** Nodes that a query finds, ascending. */
  matches: { nodes: "i4" },
  /** Trials (N) of a tuning log, in the order of the log, and the curves over them. */
  tuning: {
    task: "i4",
    /** Seconds, NaN if the trial failed. */
    cost: "f8",
    /** Error code; 255 is a failure without a code. */
    error: "u1",
    /** Seconds since the first trial, NaN if unknown. */
    time: "f8",
    /** Trials that were better than all before them of their task, by task. */
    curveRows: "i4",
    curveOffsets: "i4",
    /** Trials after which the total is another, and that total. */
    totalRows: "i4",
    totals: "f8",
  },
  /** Trials (R) of one task with one number on each of A axes. */
  tuningTiles: { rows: "i4", values: "f4", costs: "f8" },
  /** The trials that a query finds, one byte each. */
  tuningSelect: { mask: "u1" },
  ...PAGE_TABLES,
} as const;

interface Arrays {
  strings: StringColumn;
  u1: Uint8Array;
  u2: Uint16Array;
  u4: Uint32Array;
  i4: Int32Array;
  f4: Float32Array;
  f8: Float64Array;
}

type Of<Kinds extends string> = Kinds extends `${infer First}|${infer Rest}`
  ? Of<First> | Of<Rest>
  : Kinds extends keyof Arrays
    ? Arrays[Kinds]
    : never;

type Typed<Table extends Readonly<Record<string, string>>> = {
  [Name in keyof Table as Table[Name] extends `${string}?` ? never : Name]: Of<Table[Name]>;
} & {
  [Name in keyof Table as Table[Name] extends `${string}?` ? Name : never]?: Of<
    Table[Name] extends `${infer Kinds}?` ? Kinds : never
  >;
};

export type Columns<Answer extends keyof typeof WIRE> = Typed<(typeof WIRE)[Answer]>;
