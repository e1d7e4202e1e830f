export const NODES = {
  names: "strings",
  labels: "strings",
  funcNames: "strings",
  opKinds: "strings",
  kinds: "u1",
  /** Role of a node: "input", "parameter", memory that a program plans for itself; empty for operators. */
  roles: "strings",
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
  /** Best layouts of entries in a figure of a very large graph that asks for them. */
  entryLayouts: "strings?",
  /** As the graph executor allocates them; NaN if unknown. */
  entryBytes: "f8",
  /** Empty if the graph has no such list. */
  storageIds: "i4",
  deviceTypes: "i4",
  /** Mean time by node in nanoseconds; NaN if unknown. */
  nodeNs: "f8",
  nodeTrust: "u1",
  /** The smallest call with a known time that ran a node among others; or -1. */
  nodeCall: "i4?",
  /** Share of `timeTotal` (one number, nanoseconds) by node; NaN if unknown; absent without times. */
  nodeShare: "f8?",
  timeTotal: "f8?",
  /** Unit of the times (one number, nanoseconds): a time of 0 is less than it. Absent without times. */
  timeRounding: "f8?",
  /** Calls (C) of several nodes: nodes `callNodes[callOffsets[c]]` …, none if no file names them; their common time. */
  callOffsets: "i4?",
  callNodes: "i4?",
  callNs: "f8?",
  callShare: "f8?",
  callNames: "strings?",
  callKinds: "strings?",
  callLeft: "u1?",
  /** Of a very large graph in a figure: the first node of a row, the number of its nodes; by node, its row. */
  nodeId: "i4?",
  nodeCount: "i4?",
  nodeRow: "i4?",
} as const;

export const GROUPS = {
  /** Groups (G) are intervals of this order of all nodes; see `tvmdbg_widgets/model/graph/groups.py`. */
  groupOrder: "i4",
  groupStart: "i4",
  groupEnd: "i4",
  /** Parent of a group, -1 at the top. Parents come before their children. */
  groupParent: "i4",
  /** Groups with one number have the same structure. */
  groupAlike: "i4",
  /** Number of blocks in a run of blocks; else 1. */
  groupRepeats: "i4",
  groupSource: "u1",
  /** Time of slices of several nodes inside, which is in no `nodeNs`. */
  groupTogether: "f8?",
  groupNames: "strings",
  nodeGroup: "i4",
} as const;

/** Rows of equal time bins, one row after the other: bin `b` of row `r` is at `r * bins + b`. */
export const BINS = {
  /** Busy time over the bin's time. */
  lodBusy: "f4",
  /** The slice that takes most of the bin (ties: the first), -1 if idle; the first instant. */
  lodSlice: "i4",
  lodNode: "i4",
  lodName: "i4",
} as const;

/** Rows of nodes, of slices of one name, and of groups: the name, its short form and its op kind. */
export const ITEMS = {
  /** -1 without a node. */
  node: "i4",
  names: "strings",
  labels: "strings",
  kinds: "strings",
} as const;

/** Distinct names of slices. */
export const NAMES = {
  names: "strings",
  nameKinds: "strings",
  /** Label; "" is the name. */
  nameLabels: "strings",
} as const;

/** Slices [first, last) of the rows side by side, in the order in which rows are drawn, by start. */
export const SLICES = {
  start: "f8",
  duration: "u4|f8",
  self: "u4|f8?",
  node: "i4?",
  set: "i4?",
  about: "i4?",
  name: "u2|i4",
  source: "i4?",
  trust: "u1?",
  role: "u1?",
} as const;

/** Rows of a table of times (R), as in `analysis/times/table.py`; NaN if unknown. */
export const SUMS = {
  /** The row around it, -1 at the top. */
  around: "i4",
  /** Node, call, name or role (`timeline/data/operators.ts`); -1 for several. */
  key: "i4",
  label: "strings",
  /** Op kind; "" for several. */
  kind: "strings",
  /** Work of the model; other rows have no share, and come last. */
  work: "u1",
  /** Self time, and slices that touch the range; the first of them, or -1. */
  ns: "f8",
  count: "i4",
  slice: "i4",
  /** Durations of the slices inside the range. */
  mean: "f8",
  p50: "f8",
  p90: "f8",
  /** 95 % confidence interval of the mean over repeats. */
  low: "f8",
  high: "f8",
  noisy: "u1",
  repeats: "i4",
  /** Nodes of row `r` are `nodes[nodeStart[r]]` to `nodes[nodeStart[r + 1] - 1]`. */
  nodeStart: "i4",
  nodes: "i4",
} as const;

/** Absent if all names were sent before, or all slices come later. */
export const OPTIONAL_NAMES = /* @__PURE__ */ optional(NAMES);
export const OPTIONAL_SLICES = /* @__PURE__ */ optional(SLICES);

/** Cells of a picture or of a line; float64 if the values are; one kind per answer. */
export const CELLS = {
  mean: "f4|f8",
  /** Bounds of the finite values of a cell, absent if equal to the mean; NaN without any. */
  minimum: "f4|f8?",
  maximum: "f4|f8?",
  /** Per cell: bit 0 NaN, bit 1 +Inf, bit 2 -Inf inside; absent if all are 0. */
  flags: "u1?",
} as const;

/** Columns that only queries need; see `tvmdbg_widgets/analysis/view_columns.py`. */
export const FACTS = {
  /** Attributes of node `i` are rows `attrOffsets[i]` to `attrOffsets[i + 1] - 1`. */
  attrOffsets: "i4",
  attrNames: "strings",
  attrValues: "strings",
  layouts: "strings",
} as const;

/** Tables that a page without a kernel reads itself; see `export/page/choice.py` and `facts.py`. */
export const PAGE_TABLES = {
  /** Pictures of one tensor, their cells one after the other; -1 for no axis. */
  "page pictures": {
    down: "i4",
    across: "i4",
    index: "f8",
    rows: "i4",
    cols: "i4",
    rowStep: "f8",
    colStep: "f8",
    sampled: "u1",
    ...CELLS,
  },
  "page codes": { codes: "i4", values: "f8", texts: "strings" },
} as const;

type Optional<Table extends Readonly<Record<string, string>>> = {
  readonly [Name in keyof Table]: Table[Name] extends `${string}?`
    ? Table[Name]
    : `${Table[Name]}?`;
};

function optional<Table extends Readonly<Record<string, string>>>(table: Table): Optional<Table> {
  const all = Object.entries(table).map(([name, kind]) => [name, `${kind.replace("?", "")}?`]);
  return Object.fromEntries(all) as Optional<Table>;
}
