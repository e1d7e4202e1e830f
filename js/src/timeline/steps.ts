import { lowerBound } from "../shared/sorted.ts";
import type { Scene } from "./scene.ts";
import type { Slices } from "./slices.ts";

/** The slice `by` places on in the current slice's lane; the first of the first track where none is current. */
export function nextInTrack(scene: Scene, by: number, instants = false): number {
  const { slices, current } = scene;
  const place = slices.place(current);
  const track = slices.tracks[place?.track ?? firstBusy(scene)];
  if (!track) return -1;
  const lane = track.lanes[Math.max(0, place?.lane ?? 0)];
  if (instants || !lane) {
    const all = [...track.instants.slice, ...(lane?.slice ?? [])];
    all.sort((a, b) => slices.startOf(a) - slices.startOf(b) || slices.endOf(a) - slices.endOf(b));
    return all[clamped(place ? all.indexOf(current) + by : 0, all.length)] ?? -1;
  }
  let position = place?.position ?? (by > 0 && by < Infinity ? -1 : 0);
  if (place?.lane === -1) {
    position = lowerBound(lane.start, slices.startOf(current)) - (by > 0 ? 1 : 0);
  }
  return lane.slice[clamped(position + by, lane.length)] ?? -1;
}

/** The slice at the same time in the next lane that has slices, in the same track or another. */
export function otherTrack(scene: Scene, by: number): number {
  const { slices, current } = scene;
  const place = slices.place(current);
  if (!place) return nextInTrack(scene, 1);
  const lanes = slices.tracks.flatMap((track, t) => track.lanes.map((lane, l) => ({ lane, t, l })));
  const at = lanes.findIndex(({ t, l }) => t === place.track && l === Math.max(0, place.lane));
  const lane = lanes[at + by]?.lane;
  if (!lane) return -1;
  const middle = (slices.startOf(current) + slices.endOf(current)) / 2;
  return lane.slice[clamped(lowerBound(lane.end, middle), lane.length)] ?? -1;
}

/** The slice `by` occurrences on of the current slice's node. */
export function nextOccurrence({ slices, current }: Scene, by: number): number {
  const node = slices.columns.sliceNode[current] ?? -1;
  if (node < 0) return nextOfName(slices, current, by);
  const all = slices.of(node);
  return all[slices.columns.sliceOccurrence[current]! + by] ?? -1;
}

/** The next slice of no known node that has the same name, in the order of the file. */
function nextOfName(slices: Slices, current: number, by: number): number {
  const { sliceNames, sliceNode } = slices.columns;
  const code = sliceNames.codes[current];
  for (let slice = current + by; slice >= 0 && slice < sliceNode.length; slice += by) {
    if (sliceNode[slice]! < 0 && sliceNames.codes[slice] === code && slices.place(slice)) {
      return slice;
    }
  }
  return -1;
}

function firstBusy({ slices }: Scene): number {
  return Math.max(
    0,
    slices.tracks.findIndex((track) => track.lanes.length > 0),
  );
}

function clamped(position: number, length: number): number {
  return Math.min(Math.max(0, position), length - 1);
}
