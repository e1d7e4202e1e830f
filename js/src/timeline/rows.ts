import tokens from "../../../tvmdbg_widgets/figures/tokens.json";
import type { Slices, Track } from "./slices.ts";

const HEADER = 18;
const INSTANTS = 8;
const LONE_LANE = 40;
const SLICE_GAP: number = tokens.slice.gap;

/** Where one track is drawn, in CSS pixels from the top of all tracks. */
export interface TrackRow {
  track: Track;
  top: number;
  lanesTop: number;
  laneHeight: number;
  /** -1 where the track has no slices of no duration. */
  instantsTop: number;
  bottom: number;
}

/** Places the tracks one below the other; a lone lane is tall enough for a second line of text. */
export function trackRows({ tracks }: Slices): TrackRow[] {
  const lanes = tracks.reduce((sum, track) => sum + track.lanes.length, 0);
  const laneHeight = lanes > 1 ? tokens.slice.height + SLICE_GAP : LONE_LANE;
  let top = 0;
  return tracks.map((track) => {
    const lanesTop = top + HEADER;
    const lanesBottom = lanesTop + track.lanes.length * laneHeight;
    const hasInstants = track.instants.slice.length > 0;
    const bottom = lanesBottom + (hasInstants ? INSTANTS : 0) + 4;
    const row = {
      track,
      top,
      lanesTop,
      laneHeight,
      instantsTop: hasInstants ? lanesBottom : -1,
      bottom,
    };
    top = bottom;
    return row;
  });
}
