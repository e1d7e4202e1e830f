import { longestChild } from "./data/neighbors.ts";
import { type Row, RowKind, type Slices } from "./data/slices.ts";
import type { Scene } from "./tracks/scene.ts";

/** The slice `by` places on in the current slice's row; the first of the first track where none is current. */
export function nextInTrack(scene: Scene, by: number, instants = false): number {
  const { slices, current } = scene;
  const own = slices.rows[slices.rowOf(current)];
  const track = slices.tracks[own?.track ?? firstBusy(scene)];
  if (!track) return -1;
  const isInstant = own?.kind === RowKind.INSTANT;
  const row = own && !isInstant ? own : track.rows[0];
  if (track.instants && (instants || !row)) {
    const all = [track.instants, ...(row ? [row] : [])].flatMap(slicesOf);
    all.sort((a, b) => slices.startOf(a) - slices.startOf(b) || slices.endOf(a) - slices.endOf(b));
    return all[clamped(own ? all.indexOf(current) + by : 0, 0, all.length)] ?? -1;
  }
  if (!row?.length) return -1;
  let from = own ? current : by > 0 && by < Infinity ? row.first - 1 : row.first;
  if (isInstant) from = row.startingAt(slices.startOf(current)) - (by > 0 ? 1 : 0);
  return clamped(from + by, row.first, row.last);
}

/**
 * The slice around the current one, or the longest inside it; where there is none, the slice at the same time in the
 * next row that has slices, in the same track or another.
 */
export function aboveOrBelow(scene: Scene, by: number): number {
  const { slices, current } = scene;
  const own = slices.rows[slices.rowOf(current)];
  if (!own) return nextInTrack(scene, 1);
  const related = by < 0 ? slices.parentOf(current) : longestChild(slices, current);
  if (related >= 0) return related;
  const isInstant = own.kind === RowKind.INSTANT;
  const rows = slices.tracks.flatMap((track) => track.rows);
  let at = rows.findIndex((row) => (isInstant ? row.track === own.track : row === own)) + by;
  const isInner = () => rows[at]?.track === own.track && rows[at]?.kind === RowKind.NESTED;
  while (by > 0 && isInner()) at++;
  const row = rows[at];
  if (!row?.length) return -1;
  const middle = (slices.startOf(current) + slices.endOf(current)) / 2;
  return clamped(row.endingAfter(middle), row.first, row.last);
}

/** The slice `by` occurrences on of the current slice's node. */
export function nextOccurrence({ slices, current }: Scene, by: number): number {
  const node = slices.nodeOf(current);
  if (node < 0) return nextOfName(slices, current, by);
  return slices.of(node)[slices.occurrenceOf(current) + by] ?? -1;
}

/** The next slice of no known node that has the same name, in the order of the file. */
function nextOfName(slices: Slices, current: number, by: number): number {
  const name = slices.nameCodeOf(current);
  const source = slices.sourceOf(current);
  for (let at = source + by; at >= 0 && at < slices.count + slices.unusable; at += by) {
    const slice = slices.bySource(at);
    if (slice >= 0 && slices.nodeOf(slice) < 0 && slices.nameCodeOf(slice) === name) return slice;
  }
  return -1;
}

function firstBusy({ slices }: Scene): number {
  return Math.max(
    0,
    slices.tracks.findIndex((track) => track.rows.length > 0),
  );
}

function slicesOf(row: Row): number[] {
  return Array.from({ length: row.length }, (_, i) => row.first + i);
}

function clamped(position: number, first: number, last: number): number {
  return Math.min(Math.max(first, position), last - 1);
}
