import tokens from "../../../tvmdbg_widgets/figures/tokens.json";
import type { Slices, Track } from "./slices.ts";

const HEADER = 18;
const INSTANTS = 8;
const LONE_ROW = 40;
const SLICE_GAP: number = tokens.slice.gap;

/** Where one track is drawn, in CSS pixels from the top of all tracks. */
export interface TrackRow {
  track: Track;
  top: number;
  rowsTop: number;
  rowHeight: number;
  /** -1 where the track has no slices of no duration. */
  instantsTop: number;
  bottom: number;
}

/** Places the tracks one below the other; a lone row is tall enough for a second line of text. */
export function trackRows({ tracks }: Slices): TrackRow[] {
  const rows = tracks.reduce((sum, track) => sum + track.rows.length, 0);
  const rowHeight = rows > 1 ? tokens.slice.height + SLICE_GAP : LONE_ROW;
  let top = 0;
  return tracks.map((track) => {
    const rowsTop = top + HEADER;
    const rowsBottom = rowsTop + track.rows.length * rowHeight;
    const bottom = rowsBottom + (track.instants ? INSTANTS : 0) + 4;
    const instantsTop = track.instants ? rowsBottom : -1;
    const row = { track, top, rowsTop, rowHeight, instantsTop, bottom };
    top = bottom;
    return row;
  });
}
