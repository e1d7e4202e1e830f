import { StringColumn } from "../../src/shared/client/columns.ts";
import {
  RowKind,
  type SliceColumns,
  type TimelineColumns,
} from "../../src/shared/client/timeline_columns.ts";
import { TOLERANCE_NS } from "../../src/timeline/data/slices.ts";

/** Slices in the order of their source, by what they are called there. */
export interface SourceColumns {
  sliceNode: Int32Array;
  sliceStart: Float64Array;
  sliceDuration: Float64Array;
  sliceTrack: Int32Array;
  sliceTrust: Uint8Array;
  sliceNames: StringColumn;
  sliceSelf: Float64Array;
}

/** Puts slices into rows: the columns of a timeline as it is drawn. */
export function inRows(columns: TimelineColumns & SourceColumns): TimelineColumns {
  const { sliceStart, sliceDuration, sliceTrack, sliceNode, sliceNames, sliceTrust, sliceSelf } =
    columns;
  const until = (slice: number) => sliceStart[slice]! + sliceDuration[slice]!;
  const usable = Array.from(sliceStart.keys()).filter(
    (slice) => Number.isFinite(until(slice)) && sliceDuration[slice]! >= 0,
  );
  usable.sort(
    (a, b) => sliceStart[a]! - sliceStart[b]! || sliceDuration[b]! - sliceDuration[a]! || a - b,
  );
  const rows: { track: number; depth: number; kind: number; slices: number[] }[] = [];
  for (let track = 0; track < columns.tracks.length; track++) {
    const own = usable.filter((slice) => sliceTrack[slice] === track);
    const nested: number[][] = [];
    const lanes: number[][] = [];
    const open: number[] = [];
    for (const slice of own.filter((each) => sliceDuration[each]! > 0)) {
      while (open.length && until(open.at(-1)!) <= sliceStart[slice]! + TOLERANCE_NS) open.pop();
      const outer = open.at(-1);
      const isInside = outer === undefined || until(slice) <= until(outer) + TOLERANCE_NS;
      const isFree = (all: number[]) => until(all.at(-1)!) <= sliceStart[slice]! + TOLERANCE_NS;
      const free = isInside ? -1 : lanes.findIndex(isFree);
      const lane = free < 0 ? lanes.length : free;
      const rowsOf = isInside ? nested : lanes;
      const row = isInside ? open.length : lane;
      rowsOf[row] ??= [];
      rowsOf[row].push(slice);
      if (isInside) open.push(slice);
    }
    const add = (kind: number) => (slices: number[], depth: number) => {
      rows.push({ track, depth, kind, slices });
    };
    nested.forEach(add(RowKind.NESTED));
    lanes.forEach(add(RowKind.OVERLAP));
    const instants = own.filter((each) => sliceDuration[each] === 0);
    if (instants.length) add(RowKind.INSTANT)(instants, 0);
  }
  const source = Int32Array.from(rows.flatMap(({ slices }) => slices));
  const rowFirst = new Int32Array(rows.length + 1);
  rows.forEach(({ slices }, row) => {
    rowFirst[row + 1] = rowFirst[row]! + slices.length;
  });
  const floats = (of: Float64Array) => Float64Array.from(source, (slice) => of[slice]!);
  const nameKinds = new StringColumn(new Int32Array(sliceNames.unique.length), ["other"]);
  const nameLabels = new StringColumn(new Int32Array(sliceNames.unique.length), [""]);
  const unique = new StringColumn(Int32Array.from(sliceNames.unique.keys()), sliceNames.unique);
  const slices: SliceColumns = {
    start: floats(sliceStart),
    duration: floats(sliceDuration),
    self: sliceSelf.length ? floats(sliceSelf) : null,
    node: Int32Array.from(source, (slice) => sliceNode[slice]!),
    name: Int32Array.from(source, (slice) => sliceNames.codes[slice]!),
    source,
    set: null,
    about: null,
    trust: Uint8Array.from(source, (slice) => sliceTrust[slice]!),
    role: null,
    names: unique,
    nameKinds,
    nameLabels,
  };
  const info = {
    ...columns.info,
    slices: source.length,
    unusable: sliceStart.length - source.length,
    first: Math.min(Infinity, ...rows.map(({ slices: [first] }) => sliceStart[first!]!)),
    last: Math.max(-Infinity, ...rows.map(({ slices: all }) => until(all.at(-1)!))),
    bins: 0,
    whole: true,
    trust: null,
    names: unique.length,
  };
  if (info.first > info.last) [info.first, info.last] = [0, 0];
  const trackRun = columns.trackRun ?? new Int32Array(columns.tracks.length);
  info.extents = Array.from({ length: Math.max(...trackRun, 0) + 1 }, (_, run) => {
    const own = rows.filter(({ track }) => trackRun[track] === run);
    const starts = own.map(({ slices: [first] }) => sliceStart[first!]!);
    return [Math.min(...starts), Math.max(...own.map(({ slices: all }) => until(all.at(-1)!)))];
  });
  return {
    ...columns,
    trackRun,
    rowFirst,
    rowTrack: Int32Array.from(rows, ({ track }) => track),
    rowDepth: Int32Array.from(rows, ({ depth }) => depth),
    rowKind: Uint8Array.from(rows, ({ kind }) => kind),
    names: unique,
    nameKinds,
    nameLabels,
    slices,
    ...ranked(columns, slices),
    info: { ...info, totalNs: total(columns, slices) },
  };
}

/** Time of the nodes, and own time of slices without one. */
function total({ nodeNs }: TimelineColumns, { node, self, duration }: SliceColumns): number {
  const own = self ?? duration;
  let named = 0;
  own.forEach((ns, at) => {
    if (node![at]! < 0) named += ns;
  });
  return nodeNs.reduce((sum, ns) => (ns > 0 ? sum + ns : sum), named);
}

/** A row a node that has a time, then a row a name of slices without a node. */
function ranked(columns: TimelineColumns, slices: SliceColumns) {
  const { nodeNs } = columns;
  const { node, name, duration } = slices;
  const self = slices.self ?? duration;
  const all = total(columns, slices);
  const rows: { node: number; name: number; ns: number; own: number[] }[] = [];
  nodeNs.forEach((ns, id) => {
    const own = [...node!.keys()].filter((at) => node![at] === id);
    if (!Number.isNaN(ns)) rows.push({ node: id, name: -1, ns, own });
  });
  const byName = new Map<number, number[]>();
  for (const at of node!.keys()) {
    if (node![at]! < 0) byName.set(name[at]!, [...(byName.get(name[at]!) ?? []), at]);
  }
  for (const [code, own] of byName) {
    rows.push({ node: -1, name: code, ns: own.reduce((sum, at) => sum + self[at]!, 0), own });
  }
  const ints = (of: (row: (typeof rows)[number]) => number) => Int32Array.from(rows, of);
  const floats = (of: (row: (typeof rows)[number]) => number) => Float64Array.from(rows, of);
  return {
    rankNode: ints((row) => row.node),
    rankCall: ints(() => -1),
    rankName: ints((row) => row.name),
    rankKind: new StringColumn(
      ints(() => 0),
      ["other"],
    ),
    rankOperator: new Uint8Array(rows.length).fill(1),
    rankNs: floats((row) => row.ns),
    rankShare: floats((row) => row.ns / all),
    rankSlices: ints((row) => row.own.length),
    rankFirst: ints((row) => row.own[0] ?? -1),
    rankWithin: floats((row) => row.own.reduce((sum, at) => sum + duration[at]!, 0)),
  };
}
