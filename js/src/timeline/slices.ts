import type { TimelineColumns } from "../shared/run_client.ts";
import { FirstFit } from "./first_fit.ts";
import { Intervals, Lane } from "./intervals.ts";

/** Neighbours that overlap by less are drawn one after the other: printed times are rounded. */
const TOLERANCE_NS = 1;

/** The slices of one device. */
export interface Track {
  name: string;
  /** More than one where slices overlap in time. */
  lanes: Lane[];
  /** When at least one lane is busy; neighbours without a gap are one interval. */
  busy: Intervals;
  /** Slices of no duration, by start. */
  instants: { start: Float64Array; slice: Int32Array };
  /** Slices lie inside others. */
  nested: boolean;
  /** Slices share time without lying inside each other. */
  overlapping: boolean;
}

export interface Place {
  track: number;
  /** -1: among the track's instants. */
  lane: number;
  position: number;
}

/** The slices of a timeline, sorted into tracks and lanes. */
export class Slices {
  readonly columns: TimelineColumns;
  readonly tracks: readonly Track[];
  /** First start and last end. */
  readonly start: number;
  readonly end: number;
  /** Slices whose start or duration is no usable number; they are not drawn. */
  readonly unusable: number;
  readonly #lane: Int32Array;
  readonly #position: Int32Array;
  readonly #nodeOffsets: Int32Array;
  readonly #nodeSlices: Int32Array;

  constructor(columns: TimelineColumns) {
    this.columns = columns;
    const count = columns.sliceNode.length;
    this.#lane = new Int32Array(count).fill(-1);
    this.#position = new Int32Array(count).fill(-1);
    const kept = usable(columns);
    this.unusable = count - kept.length;
    this.tracks = byTrack(columns, kept).map((slices, track) => this.#track(track, slices));
    let [start, end] = [Infinity, -Infinity];
    for (const slice of kept) {
      start = Math.min(start, columns.sliceStart[slice]!);
      end = Math.max(end, columns.sliceStart[slice]! + columns.sliceDuration[slice]!);
    }
    [this.start, this.end] = start <= end ? [start, end] : [0, 0];
    [this.#nodeOffsets, this.#nodeSlices] = byNode(columns);
  }

  /** Slices of a node, by occurrence. */
  of(node: number): Int32Array {
    if (node < 0 || node + 1 >= this.#nodeOffsets.length) return new Int32Array(0);
    return this.#nodeSlices.subarray(this.#nodeOffsets[node]!, this.#nodeOffsets[node + 1]!);
  }

  /** Where a slice is drawn; null where it is not. */
  place(slice: number): Place | null {
    const position = this.#position[slice] ?? -1;
    if (position < 0) return null;
    return { track: this.columns.sliceTrack[slice]!, lane: this.#lane[slice]!, position };
  }

  /** -1: no node is known. */
  nodeOf(slice: number): number {
    return this.columns.sliceNode[slice] ?? -1;
  }

  startOf(slice: number): number {
    return this.columns.sliceStart[slice]!;
  }

  endOf(slice: number): number {
    return this.columns.sliceStart[slice]! + this.columns.sliceDuration[slice]!;
  }

  /** Time of a slice without the slices inside it. */
  selfOf(slice: number): number {
    const { sliceSelf, sliceDuration } = this.columns;
    return (sliceSelf.length ? sliceSelf : sliceDuration)[slice]!;
  }

  /** Whether some slice lies inside another. */
  get nested(): boolean {
    return this.columns.sliceSelf.length > 0;
  }

  #track(track: number, slices: Int32Array): Track {
    const { sliceStart, sliceDuration, tracks, info } = this.columns;
    const wide = slices.filter((slice) => sliceDuration[slice]! > 0);
    const instants = slices.filter((slice) => sliceDuration[slice]! === 0);
    instants.forEach((slice, position) => {
      this.#position[slice] = position;
    });
    const fit = new FirstFit();
    const counts: number[] = [];
    for (const slice of wide) {
      const start = sliceStart[slice]!;
      const lane = fit.take(start + TOLERANCE_NS, start + sliceDuration[slice]!);
      counts[lane] ??= 0;
      this.#lane[slice] = lane;
      this.#position[slice] = counts[lane]++;
    }
    const members = counts.map((count) => new Int32Array(count));
    for (const slice of wide) members[this.#lane[slice]!]![this.#position[slice]!] = slice;
    return {
      name: tracks.at(track),
      nested: info.nested[track] ?? false,
      overlapping: info.overlapping[track] ?? false,
      lanes: members.map((each) => this.#laneOf(each)),
      busy: this.#union(wide),
      instants: {
        start: Float64Array.from(instants, (slice) => sliceStart[slice]!),
        slice: instants,
      },
    };
  }

  #laneOf(slices: Int32Array): Lane {
    const start = new Float64Array(slices.length);
    const end = new Float64Array(slices.length);
    let last = -Infinity;
    slices.forEach((slice, i) => {
      start[i] = Math.max(last, this.startOf(slice));
      end[i] = last = Math.max(start[i]!, this.endOf(slice));
    });
    return new Lane(start, end, slices);
  }

  #union(slices: Int32Array): Intervals {
    const start = new Float64Array(slices.length);
    const end = new Float64Array(slices.length);
    let count = 0;
    for (const slice of slices) {
      if (count > 0 && this.startOf(slice) <= end[count - 1]! + TOLERANCE_NS) {
        end[count - 1] = Math.max(end[count - 1]!, this.endOf(slice));
        continue;
      }
      start[count] = this.startOf(slice);
      end[count++] = this.endOf(slice);
    }
    return new Intervals(start.slice(0, count), end.slice(0, count));
  }
}

function usable({ sliceStart, sliceDuration }: TimelineColumns): Int32Array {
  const kept = new Int32Array(sliceStart.length);
  let count = 0;
  for (let slice = 0; slice < kept.length; slice++) {
    if (Number.isFinite(sliceStart[slice]!) && sliceDuration[slice]! >= 0) {
      if (sliceDuration[slice]! < Infinity) kept[count++] = slice;
    }
  }
  return kept.subarray(0, count);
}

/** Slices of each track by start; of equal start the longer first, as a caller before its callees. */
function byTrack(columns: TimelineColumns, kept: Int32Array): Int32Array[] {
  const { sliceTrack, sliceStart, sliceDuration, tracks } = columns;
  const counts = new Int32Array(tracks.length);
  for (const slice of kept) counts[sliceTrack[slice]!]!++;
  const members = Array.from(counts, (count) => new Int32Array(count));
  counts.fill(0);
  for (const slice of kept) {
    const track = sliceTrack[slice]!;
    members[track]![counts[track]!++] = slice;
  }
  const order = (a: number, b: number) =>
    sliceStart[a]! - sliceStart[b]! || sliceDuration[b]! - sliceDuration[a]! || a - b;
  for (const slices of members) {
    const sorted = slices.every((slice, i) => i === 0 || order(slices[i - 1]!, slice) <= 0);
    if (!sorted) slices.sort(order);
  }
  return members;
}

function byNode({ sliceNode, nodeNs }: TimelineColumns): [offsets: Int32Array, slices: Int32Array] {
  const offsets = new Int32Array(nodeNs.length + 1);
  for (const node of sliceNode) if (node >= 0) offsets[node + 1]!++;
  for (let node = 0; node < nodeNs.length; node++) offsets[node + 1]! += offsets[node]!;
  const next = offsets.slice();
  const slices = new Int32Array(offsets.at(-1)!);
  sliceNode.forEach((node, slice) => {
    if (node >= 0) slices[next[node]!++] = slice;
  });
  return [offsets, slices];
}
