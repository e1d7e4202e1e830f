import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { RowKind } from "../../shared/client/timeline_columns.ts";
import { counted } from "../../shared/format.ts";
import type { Row, Track } from "../data/row.ts";
import type { Slices } from "../data/slices.ts";

const HEADING = 20;
const HEADER = 18;
const INSTANTS = 8;
const LONE_ROW = 40;
/** Height of all rows in a low view. */
const LOW_ROW = 17;
/** Height of a folded track: its lowest level. */
const FOLDED = 9;
/** Assumed width of names before they are measured. */
const NAME = 60;
const SLICE_GAP: number = tokens.slice.gap;

/** Position of a track, in CSS pixels from the top of all tracks. */
export interface TrackRow {
  track: Track;
  name: string;
  top: number;
  rowsTop: number;
  rowHeight: number;
  /** -1 if the track has no slices of no duration. */
  instantsTop: number;
  bottom: number;
  folded: boolean;
  /** Its heading is folded: it takes no room. */
  hidden: boolean;
  /** End of its name, which a click folds. */
  nameEnd: number;
}

/** Names of compared runs. */
const LETTERS = "AB";

/** A run or a device above its tracks. */
export interface Heading {
  text: string;
  /** Its tracks are `first` to `last - 1`. */
  first: number;
  last: number;
  /** 1 below another heading. */
  level: number;
  top: number;
  folded: boolean;
  hidden: boolean;
  nameEnd: number;
}

export interface RowLimits {
  tracks: number;
  rows: number;
}

const ALL: RowLimits = { tracks: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };

/** Tracks from top to bottom, with headings if there are several runs or devices. */
export class TrackLayout {
  readonly tracks: readonly TrackRow[];
  readonly headings: readonly Heading[];
  height = 0;
  readonly #rowHeight: number;
  #isCompact = false;
  readonly #most: RowLimits;

  constructor(slices: Slices, most = ALL) {
    this.#most = most;
    const rows = slices.tracks.reduce((sum, track) => sum + track.rows.length, 0);
    this.#rowHeight = rows > 1 ? tokens.slice.height + SLICE_GAP : LONE_ROW;
    this.headings = headings(slices);
    const { trackThread } = slices.columns;
    const under = new Set<number>();
    for (const { first, last } of this.headings) {
      for (let track = first; track < last; track++) under.add(track);
    }
    this.tracks = slices.tracks.map((track) => ({
      track,
      name: (under.has(track.number) && trackThread?.at(track.number)) || track.name,
      top: 0,
      rowsTop: 0,
      rowHeight: this.#rowHeight,
      instantsTop: -1,
      bottom: 0,
      folded: false,
      hidden: false,
      nameEnd: NAME,
    }));
    this.place();
  }

  /** Position of a row; all rows of a folded track are at the lowest. Null if it is hidden. */
  box(row: Row): { y: number; height: number } | null {
    const place = this.tracks[row.track]!;
    if (place.hidden) return null;
    if (row.kind === RowKind.INSTANT) {
      return place.folded ? null : { y: place.instantsTop, height: INSTANTS - 1 };
    }
    if (place.folded) return { y: place.rowsTop, height: FOLDED - 1 };
    const at = row.number - place.track.rows[0]!.number;
    if (at >= this.#most.rows) return null;
    return { y: place.rowsTop + at * place.rowHeight, height: place.rowHeight - 2 };
  }

  /** False in a picture, whose tracks cannot be folded. */
  get folds(): boolean {
    return this.#most === ALL;
  }

  drawn(track: Track): number {
    return Math.min(track.rows.length, this.#most.rows);
  }

  rowAt(down: number): Row | null {
    const place = this.trackAt(down);
    if (!place || down < place.rowsTop) return null;
    const { track, folded, instantsTop, rowsTop, rowHeight } = place;
    if (folded) return track.rows[0] ?? track.instants;
    if (track.instants && down >= instantsTop) return track.instants;
    return track.rows[Math.floor((down - rowsTop) / rowHeight)] ?? null;
  }

  trackAt(down: number): TrackRow | null {
    return (
      this.tracks.find(({ hidden, top, bottom }) => !hidden && down >= top && down < bottom) ?? null
    );
  }

  /** The heading or the header of a track at a height. */
  headAt(down: number): Heading | TrackRow | null {
    const heading = this.headings.find(
      ({ hidden, top }) => !hidden && down >= top && down < top + HEADING,
    );
    if (heading) return heading;
    const place = this.trackAt(down);
    return place && down < place.rowsTop ? place : null;
  }

  /** Folds or unfolds a track, or all tracks below a heading; returns a description. */
  fold(head: Heading | TrackRow): string {
    head.folded = !head.folded;
    this.place();
    const does = head.folded ? "folded" : "unfolded";
    if ("track" in head) return `track ${head.name} ${does}`;
    return `${head.text} ${does}: ${counted(head.last - head.first, "track")}`;
  }

  /** Unfolds a track and its headings. */
  unfold(track: number): void {
    for (const heading of this.headings) {
      if (track >= heading.first && track < heading.last) heading.folded = false;
    }
    this.tracks[track]!.folded = false;
    this.place();
  }

  /** Makes rows low, or as high as they are otherwise. */
  compact(isCompact: boolean): void {
    if (this.#isCompact === isCompact) return;
    this.#isCompact = isCompact;
    for (const place of this.tracks) place.rowHeight = isCompact ? LOW_ROW : this.#rowHeight;
    this.place();
  }

  place(): void {
    let top = 0;
    let next = 0;
    /** The headings above a track, outermost first. */
    let above: Heading[] = [];
    for (const place of this.tracks) {
      const { track } = place;
      above = above.filter(({ last }) => last > track.number);
      let folded = above.some((heading) => heading.folded);
      for (; this.headings[next]?.first === track.number; next++) {
        const heading = this.headings[next]!;
        heading.hidden = folded || track.number >= this.#most.tracks;
        heading.top = top;
        if (!heading.hidden) top += HEADING;
        above.push(heading);
        folded ||= heading.folded;
      }
      folded ||= track.number >= this.#most.tracks;
      place.hidden = folded;
      place.top = top;
      place.rowsTop = top + HEADER;
      place.instantsTop = -1;
      if (!folded) {
        top = place.rowsTop + (place.folded ? FOLDED : this.drawn(track) * place.rowHeight);
        if (track.instants && !place.folded) {
          place.instantsTop = top;
          top += INSTANTS;
        }
        top += 4;
      }
      place.bottom = top;
    }
    this.height = top;
  }
}

/** Runs if there are several, and devices if one of several has more than one track. */
function headings({ columns, tracks }: Slices): Heading[] {
  const { trackRun, trackDevice } = columns;
  const headings: Heading[] = [];
  if (!trackRun || !trackDevice) return headings;
  const add = (level: number, text: string, track: number, isSame: boolean) => {
    const last = headings.findLast((heading) => heading.level === level);
    if (isSame && last?.text === text && last.last === track) last.last++;
    else {
      const own = { first: track, last: track + 1, nameEnd: NAME };
      headings.push({ text, level, top: 0, folded: false, hidden: false, ...own });
    }
  };
  const runs = new Set(trackRun).size;
  const names = tracks.map((_, track) => trackDevice.at(track));
  const devices = new Set(names).size;
  const isApart = runs > 1 && tracks.length > runs;
  const isDeep = devices > 1 && tracks.length > devices * runs;
  tracks.forEach((_, track) => {
    const run = trackRun[track]!;
    const isSame = track > 0 && trackRun[track - 1] === run;
    if (isApart) add(0, `run ${LETTERS[run] ?? run + 1}`, track, isSame);
    if (isDeep) add(isApart ? 1 : 0, names[track] || "no device", track, isSame);
  });
  return headings.sort((a, b) => a.first - b.first || a.level - b.level);
}
