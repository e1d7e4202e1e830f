import type { StringColumn } from "./columns.ts";

/** Nodes (N), entries (E) and edges (M) of the graph; see `tvmdbg_widgets/model/graph/graph.py`. */
const NODES = {
  names: "strings",
  labels: "strings",
  funcNames: "strings",
  opKinds: "strings",
  kinds: "u1",
  /** What each node is for: "input", "parameter", memory that a program plans for itself; empty for what runs. */
  roles: "strings",
  parameterTrust: "u1",
  entryOffsets: "i4",
  edgeSource: "i4",
  edgeOutput: "i4",
  edgeTarget: "i4",
  edgePosition: "i4",
  edgeTrust: "u1",
  controlSource: "i4",
  controlTarget: "i4",
  headNode: "i4",
  headOutput: "i4",
  shapeOffsets: "i4",
  shapeDims: "f8",
  shapeKnown: "u1",
  dtypes: "strings",
  /** Empty where the graph has no such list. */
  storageIds: "i4",
  deviceTypes: "i4",
  /** Mean time of each node in nanoseconds, NaN where unknown. */
  nodeNs: "f8",
  nodeTrust: "u1",
  /** The smallest call with a known time that a node ran in beside others; -1 for none. */
  nodeCall: "i4?",
  /** Share of each node in `timeTotal` (one number, nanoseconds), NaN where unknown; absent without times. */
  nodeShare: "f8?",
  timeTotal: "f8?",
  /** What times were counted in whole units of (one number, nanoseconds): one of 0 is less. Absent without times. */
  timeRounding: "f8?",
  /** Calls (C) of several nodes: nodes `callNodes[callOffsets[c]]` …, none where no file names them; their time together. */
  callOffsets: "i4?",
  callNodes: "i4?",
  callNs: "f8?",
  callShare: "f8?",
  callNames: "strings?",
  callKinds: "strings?",
  callLeft: "u1?",
} as const;

const GROUPS = {
  /** Groups (G) are intervals of this order of all nodes; see `tvmdbg_widgets/model/graph/groups.py`. */
  groupOrder: "i4",
  groupStart: "i4",
  groupEnd: "i4",
  /** The group around each group; -1 at the top. Parents come before their children. */
  groupParent: "i4",
  /** Groups of one number have the same structure. */
  groupAlike: "i4",
  /** Of how many blocks a run of blocks is; else 1. */
  groupRepeats: "i4",
  groupSource: "u1",
  /** Time that nodes inside took together, as slices of several nodes: it is in no `nodeNs`. */
  groupTogether: "f8?",
  groupNames: "strings",
  /** The innermost group of each node, -1 for none. */
  nodeGroup: "i4",
} as const;

/** Busy time of rows of equal bins of time, one row after the other: bin `b` of row `r` is at `r * bins + b`. */
const BINS = {
  /** Busy time over the bin's time. */
  lodBusy: "f4",
  /** Number of the slice that takes most of the bin (ties: the first), -1 where idle; of instants the first. */
  lodSlice: "i4",
  /** Its node and its name; -1 unknown. */
  lodNode: "i4",
  lodName: "i4",
} as const;

/** Every name that slices speak of, once. */
const NAMES = {
  names: "strings",
  nameKinds: "strings",
  /** Its operators (lines; "": itself alone), and what it reads ("": itself). */
  nameParts: "strings",
  nameLabels: "strings",
} as const;

/** Slices [first, last) of each row side by side, in the order in which rows are drawn, by start. */
const SLICES = {
  start: "f8",
  /** Nanoseconds; whole where they are Uint32. */
  duration: "u4|f8",
  /** Time without the slices inside; the duration (nothing lies inside another). */
  self: "u4|f8?",
  /** -1 where unknown; of no slice known. */
  node: "i4?",
  /** Of slices that several nodes share: which of the sets of `setOffsets`; -1 for others. Null: there are none. */
  set: "i4?",
  /** Row of `abouts`; nothing is told of slices. */
  about: "i4?",
  /** Row of `names`. */
  name: "u2|i4",
  /** Index in `run.timeline`; the slice's own number. */
  source: "i4?",
  /** Null: `info.trust` of every slice. */
  trust: "u1?",
  /** 0: running the model; loading, another clock, a profiler. Null: all are 0. */
  role: "u1?",
} as const;

/** Where all names were told before, or all slices come later. */
const OPTIONAL_NAMES = /* @__PURE__ */ optional(NAMES);
const OPTIONAL_SLICES = /* @__PURE__ */ optional(SLICES);

/** Cells of a picture or of a line; float64 where the values are, all alike in one answer. */
const CELLS = {
  mean: "f4|f8",
  /** Of the finite values of a cell, where they are not the mean; NaN where it has none. */
  minimum: "f4|f8?",
  maximum: "f4|f8?",
  /** Per cell: bit 0 NaN, bit 1 +Inf, bit 2 -Inf inside; absent where none is set. */
  flags: "u1?",
} as const;

/** What queries need beyond the graph; see `tvmdbg_widgets/analysis/view_columns.py`. */
const FACTS = {
  /** Attributes of node `i` are rows `attrOffsets[i]` to `attrOffsets[i + 1] - 1`. */
  attrOffsets: "i4",
  attrNames: "strings",
  attrValues: "strings",
  /** NaN where unknown. */
  entryBytes: "f8",
  /** Of each entry, empty where none is stated. */
  layouts: "strings",
} as const;

/** Numbers of a statistic each, NaN where there is none. */
const STATISTICS = {
  size: "f8",
  finite: "f8",
  nan: "f8",
  posInf: "f8",
  negInf: "f8",
  zero: "f8",
  negative: "f8",
  denormal: "f8",
  argmin: "f8",
  argmax: "f8",
  firstNan: "f8",
  firstPosInf: "f8",
  firstNegInf: "f8",
  atLowest: "f8",
  atHighest: "f8",
  minimum: "f8",
  maximum: "f8",
  mean: "f8",
  std: "f8",
  lowest: "f8",
  highest: "f8",
} as const;

/** The tables of a page without a kernel, beside the answers it carries; see `export/page/stored`. */
const PAGE_TABLES = {
  /** What a header tells beyond the list of tensors. */
  "page facts": {
    keys: "strings",
    files: "strings",
    offsets: "f8",
    captured: "strings",
    /** JSON of a list. */
    layouts: "strings",
    noteOffsets: "i4",
    notes: "strings",
    pageNotes: "strings",
    /** The call that makes a page with the values. */
    remedies: "strings",
  },
  /** Tensors under each reading, with their statistics. */
  "page variants": {
    tensor: "i4",
    /** Empty where there is no choice. */
    reading: "strings",
    shapeOffsets: "i4",
    shapeDims: "f8",
    applicable: "u1",
    /** Of the values under the reading. */
    dtype: "strings",
    ...STATISTICS,
    minimumText: "strings",
    maximumText: "strings",
    reason: "strings",
    histogram: "i4",
    counts: "i4|f8",
    first: "f8",
    last: "f8",
    rounded: "u1",
    uneven: "i4",
    edges: "f8",
    percentileOffsets: "i4",
    percents: "f8",
    low: "f8",
    high: "f8",
    linear: "f8",
    scale: "strings",
    crowd: "f8",
    robust: "i4",
    robustLow: "f8",
    robustHigh: "f8",
    beyond: "f8",
    robustExact: "u1",
    robustOffsets: "i4",
    robustEdges: "f8",
    robustCounts: "f8",
  },
  "page pictures": {
    variant: "i4",
    down: "i4",
    across: "i4",
    indexOffsets: "i4",
    index: "f8",
    rows: "i4",
    cols: "i4",
    rowStep: "f8",
    colStep: "f8",
    single: "u1",
    wide: "u1",
    sampled: "u1",
    flagged: "u1",
    at: "f8",
  },
  "page profiles": { variant: "i4", at: "f8", wide: "u1", flagged: "u1" },
  /** A row for each variant whose values are there; some share their bytes. */
  "page wholes": {
    variant: "i4",
    width: "i4",
    at: "f8",
    size: "f8",
    /** A type of JavaScript's arrays, or the name of a table of codes. */
    kind: "strings",
    /** Bits of a value that shares bytes with others, else 0. */
    packed: "i4",
    /** Which bits of a byte are the value. */
    mask: "i4",
    bits: "i4",
    /** -1 where the value is no float. */
    sign: "i4",
    mantissa: "i4",
    /** `frexp`'s exponent of the smallest normal number. */
    least: "i4",
    descr: "strings",
    note: "strings",
    /** 1 where that type's bytes are those of the tensor. */
    copied: "u1",
  },
  "page codes": { codes: "i4", values: "f8", texts: "strings" },
  "page nodes": {
    ...FACTS,
    noteNode: "i4",
    notes: "strings",
    scopes: "strings",
    edge: "i4",
    candidates: "strings",
  },
} as const;

/**
 * The columns of every answer of Python, and the kinds of arrays they may be; "?" where one may be absent.
 *
 * The build writes it to `static/wire.json`, and `engine/wire.py` holds each answer to it.
 */
export const WIRE = {
  nodes: NODES,
  groups: GROUPS,
  graph: {
    ...NODES,
    ...GROUPS,
    /** 1 where the run holds the entry's tensor. */
    hasTensor: "u1",
  },
  facts: FACTS,
  /** The tensors (T) of a run, in node order. */
  tensors: {
    node: "i4",
    output: "i4",
    names: "strings",
    dtypes: "strings",
    shapeOffsets: "i4",
    shapeDims: "f8",
    nbytes: "f8",
    trust: "u1",
    /** Number of warnings that go with the tensor. */
    notes: "u1",
    /** The row to show first, where the values tell; none where the graph does. */
    opening: "i4",
  },
  /** Steps (R), entries (E) and slots (S) of the memory plan; see `tvmdbg_widgets/analysis/memory/planned.py`. */
  memory: {
    /** The node that runs at each step. */
    order: "i4",
    /** Bytes of the workspace that are live at each step. */
    live: "f8",
    /** -1 where unknown. */
    entryBytes: "f8",
    entrySlot: "i4",
    /** Steps that write an entry and read it last. */
    first: "i4",
    last: "i4",
    slotStorage: "i4",
    slotDevice: "i4",
    slotBytes: "f8",
    slotParameter: "u1",
    /** The planned buffer that a slot lies in, -1 for memory of its own, and where in bytes. */
    slotBuffer: "i4",
    slotOffset: "f8",
    /** Entries that are overwritten while still needed, by whom, and who reads them again (-1: the end). */
    lostNode: "i4",
    lostOutput: "i4",
    lostWriter: "i4",
    lostReader: "i4",
  },
  /** The longest path through the graph by time; see `tvmdbg_widgets/analysis/timeline/longest_path.py`. */
  critical: {
    /** Its nodes in order. */
    path: "i4",
    /** Of every node (N): by how much it could take longer before the end moves; 0 on the path, NaN unknown. */
    slack: "f8",
  },
  /** What each operator (P) computes and moves, counted from shapes; see `tvmdbg_widgets/analysis/work`. */
  roofline: {
    node: "i4",
    /** NaN unknown. */
    flops: "f8",
    bytes: "f8",
    /** 0 where `flops` may be off by 1 %. */
    exact: "u1",
    /** What is computed with. */
    dtypes: "strings",
    /** Why something is unknown; else empty. */
    why: "strings",
  },
  /** What varies along the timeline: memory in use, counters of a trace. A value holds until the next one. */
  counters: {
    names: "strings",
    /** "B" of bytes, "" where the trace does not say. */
    units: "strings",
    /** What each is and is not. */
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
    /** Two-sided p value, and that corrected for the number of tests. */
    p: "f8",
    q: "f8",
    /** By how much a repeat of B is longer, and the 95 % interval of that. */
    shift: "f8",
    low: "f8",
    high: "f8",
    /** Index into `info.verdicts`. */
    verdict: "u1",
    /** 1 where the difference has a color: it is neither noise nor unknown, or nothing tells whether it is noise. */
    shown: "u1",
    /** What the verdict rests on, in words. */
    why: "strings",
    kind: "strings",
    /** The node of A that stands for the row: the last as it runs, -1 where A has none. */
    node: "i4",
    /** Nodes of row `i` are `aStart[i]` to `aStart[i + 1] - 1` of `aNodes`. */
    aStart: "i4",
    aNodes: "i4",
    bStart: "i4",
    bNodes: "i4",
    /** Beside each of `bNodes`: its label, and its first slice as an index in `run.timeline`, -1 for none. */
    bNames: "strings",
    bSlices: "i4",
    /** Index into `info.matches`, 255 where one side has no node. */
    match: "u1",
    reason: "strings",
    /** Of the first output, `1×64×8×8`: tells operators of one label apart. */
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
    /** Distinct names of the slices of B: the label and the op kind of what they are of. */
    sliceNames: "strings",
    sliceLabels: "strings",
    sliceKinds: "strings",
  },
  /** Arrows between slices (A), by number, by the time they begin; the first of `info.count`. */
  flows: {
    flowFrom: "i4",
    flowTo: "i4",
    flowNames: "strings",
  },
  /** One row an entry, in execution order; see `tvmdbg_widgets/analysis/scan/health_table.py`. */
  health: {
    node: "i4",
    output: "i4",
    /** 0 not scanned yet, 1 OK, 2 suspicious, 3 faulty, 4 cannot be judged. */
    verdict: "u1",
    nan: "f8",
    inf: "f8",
    /** Shares 0 … 1; NaN where unknown. */
    zero: "f8",
    saturated: "f8",
    dead: "f8",
    denormal: "f8",
    /** Least and largest finite value; NaN where unknown. */
    low: "f8",
    high: "f8",
    /** Position in the order of suspicion, 0 the most suspicious. */
    rank: "i4",
    /** Node from which NaN or Inf came: the entry's own where they first appear; -1 for none. */
    source: "i4",
  },
  /** All finite values in at most 65,536 bins, ascending; each holds low <= value <= high. */
  distribution: {
    low: "f8",
    high: "f8",
    count: "f8",
  },
  /** Pairs of nodes (P) and groups (G) of differences; see `comparison_answer` in `widgets/comparison.py`. */
  comparison: {
    pairA: "i4",
    pairB: "i4",
    certainty: "u1",
    reason: "u1",
    groupKind: "u1",
    /** Differences of a group are the members [start of it, start of the next). */
    groupStart: "i4",
    groupChange: "strings",
    memberA: "i4",
    memberB: "i4",
    /** By node: its operators in a few words, and the shape of its first output. */
    labelA: "strings",
    labelB: "strings",
    shapeA: "strings",
    shapeB: "strings",
    /** By node of each graph how much slower it is in B, as the binary logarithm of the ratio of times. */
    speedA: "f8?",
    beforeA: "f8?",
    afterA: "f8?",
    beforeB: "f8?",
    afterB: "f8?",
    speedB: "f8?",
    /** By node of each graph how much slower it is in B, nanoseconds; NaN for noise and what is unknown. */
    changeA: "f8?",
    changeB: "f8?",
  },
  /** Rows of equal bins of time, one row after the other: bin `b` of row `r` is at `r * bins + b`. */
  bins: { ...BINS, ...OPTIONAL_NAMES },
  /** What is told of slices `first` to `last`, and of names from `first` on. */
  slices: SLICES,
  names: NAMES,
  cells: CELLS,
  /** The slices that touch a range of time; numbered from 0 in the window. */
  window: {
    ...SLICES,
    ...OPTIONAL_NAMES,
    /** Row `r` holds slices `rowFirst[r]` to `rowFirst[r + 1] - 1` of the window. */
    rowFirst: "i4",
    /** Number among all slices of the first of each row. */
    rowNumber: "i4",
    /** Which slice of its node each is; null where no node is known. */
    occurrence: "i4?",
    /** The slice of the window that each lies in; -1 where none does. */
    parent: "i4",
  },
  /** What the first message tells: rows (R), tracks (T), times per node (N), and the whole of time in bins (B). */
  timeline: {
    ...BINS,
    ...NAMES,
    ...OPTIONAL_SLICES,
    tracks: "strings",
    /** Of two runs compared: whose the track is; else 0. */
    trackRun: "i4",
    trackDevice: "strings",
    trackThread: "strings",
    /** Row `r` holds slices `rowFirst[r]` to `rowFirst[r + 1] - 1`. */
    rowFirst: "i4",
    rowTrack: "i4",
    rowDepth: "i4",
    rowKind: "u1",
    /** The same of the distinct functions of the graph. */
    functionParts: "strings",
    /**
     * Whose the time is, a row each: a node, a call of several, or slices of one name (-1: not that). What it is,
     * whether it is work of an operator, its time and share (NaN: no work), its slices, the number of the first of
     * them, and their durations with what runs inside. See `tvmdbg_widgets/model/timeline/columns.py`.
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
    /** Nodes of set `s` of `SliceColumns.set`, `setOffsets[s]` to `setOffsets[s + 1] - 1`, and the time that is theirs together. */
    setOffsets: "i4?",
    setNodes: "i4?",
    setNs: "f8?",
    /** Whose time is of none of its nodes: 1 for what is left of a call, 2 for what lowering inserted into one. */
    setApart: "u1?",
    setNames: "strings?",
    setKinds: "strings?",
    /** The module of each node, and of each set; left out where the graph tells none. */
    nodeModules: "strings?",
    setModules: "strings?",
    /** What the source tells of slices: lines of a name, a tab and a text. */
    abouts: "strings?",
    repeatsOffsets: "i4",
    repeats: "f8",
    nodeNs: "f8",
    nodeTrust: "u1",
    /** Kind of the outermost block around each node, -1 for none; empty where there is no graph. */
    nodeBlock: "i4",
    nodeCount: "i4",
    nodeMinimum: "f8",
    nodeP10: "f8",
    nodeP50: "f8",
    nodeP90: "f8",
    nodeMaximum: "f8",
    nodeSd: "f8",
    nodeNoisy: "u1",
    /** 95 % confidence interval of the mean; NaN where unknown. */
    nodeLow: "f8",
    nodeHigh: "f8",
  },
  /** Where a search finds slices. */
  find: {
    /** 1 where a bin of a row holds a hit: bin `b` of row `r` is at `r * bins + b`. */
    hits: "u1",
  },
  /** Trials (N) of a tuning log, in the order of the log, and the curves over them. */
  tuning: {
    task: "i4",
    /** Seconds, NaN where the trial failed. */
    cost: "f8",
    /** Error code; 255 is a failure without a code. */
    error: "u1",
    /** Seconds since the first trial, NaN where unknown. */
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

type Optional<Table extends Readonly<Record<string, string>>> = {
  readonly [Name in keyof Table]: Table[Name] extends `${string}?`
    ? Table[Name]
    : `${Table[Name]}?`;
};

function optional<Table extends Readonly<Record<string, string>>>(table: Table): Optional<Table> {
  const all = Object.entries(table).map(([name, kind]) => [name, `${kind.replace("?", "")}?`]);
  return Object.fromEntries(all) as Optional<Table>;
}
