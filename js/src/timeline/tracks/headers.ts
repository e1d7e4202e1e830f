import { RowKind } from "../../shared/client/timeline_columns.ts";
import type { ChartBrush } from "../../shared/drawing/brush.ts";
import type { TextMeasure } from "../../shared/drawing/canvas.ts";
import { agree, counted, integer, percent } from "../../shared/format.ts";
import { firstOf, fitTitle, type Names, type Title, titleText } from "../data/names.ts";
import type { Track } from "../data/row.ts";
import type { Heading, TrackRow } from "./rows.ts";
import { type TimelineScene, TOP } from "./scene.ts";

/** Room from which a long label is shortened rather than replaced by the node id, or left out. */
const SHORTENED_FROM = 80;
const NAME_FROM = 34;
/** Least room beside an id, on both sides together. */
const ID_PADDING = 3;
/** Rooms that differ by less get the same shortened text. */
const STEP = 8;

interface SliceLabel {
  title: Title;
  /** `#66`; "" without a node. */
  id: string;
  full: string;
  /** The id with the first operator of a fusion. */
  first: string;
  idWidth: number;
  fullWidth: number;
  firstWidth: number;
  short: Map<number, string>;
}

/** Texts of slices, measured once per node or name. */
export class SliceLabels {
  readonly #names: Names;
  readonly #measure: TextMeasure;
  /** By node, or by name without a node. */
  readonly #known = new Map<string | number, SliceLabel>();
  #font = "";

  constructor(names: Names, measure: TextMeasure) {
    this.#names = names;
    this.#measure = measure;
  }

  /** To be called with the context's font set; other fonts have other widths. */
  begin(font: string): void {
    if (font !== this.#font) this.#known.clear();
    this.#font = font;
  }

  of(node: number, name: string): SliceLabel {
    const key = node < 0 ? name : node;
    const known = this.#known.get(key);
    if (known) return known;
    const title = this.#names.titleOf(node, name);
    const { id, label: text } = title;
    const [full, first] = [titleText(title), `${id} ${firstOf(text)}`.trim()];
    const width = (text: string) => this.#measure.width(text);
    const label = {
      title,
      id,
      full,
      first,
      idWidth: width(id),
      fullWidth: width(full),
      firstWidth: width(first),
      short: new Map<number, string>(),
    };
    this.#known.set(key, label);
    return label;
  }

  /** Text for a box of this width; may be "". */
  fit(label: SliceLabel, width: number): string {
    const room = width - 6;
    if (label.fullWidth <= room) return label.full;
    if (label.firstWidth > room && room < (label.id ? SHORTENED_FROM : NAME_FROM)) {
      return label.id && width - label.idWidth >= ID_PADDING ? label.id : "";
    }
    const step = Math.floor(room / STEP);
    let short = label.short.get(step);
    if (short === undefined) {
      const least = label.firstWidth <= room ? label.firstWidth : 0;
      short = fitTitle(this.#measure, label.title, Math.max(least, step * STEP));
      label.short.set(step, short);
    }
    return short;
  }
}

/** Width below which a badge is short. */
const SHORT_BELOW = 640;

/** Paints the headers of runs, devices and tracks, with their facts. */
export class Headers {
  readonly #scene: TimelineScene;
  readonly #brush: ChartBrush;
  readonly #write: ChartBrush["text"];

  constructor(scene: TimelineScene, brush: ChartBrush, write: ChartBrush["text"]) {
    this.#scene = scene;
    this.#brush = brush;
    this.#write = write;
  }

  paint(): void {
    const { layout, scroll, height } = this.#scene;
    const above = TOP - scroll;
    for (const heading of layout.headings) {
      const y = above + heading.top;
      if (!heading.hidden && y < height && y > TOP - 20) this.#heading(heading, y);
    }
    for (const place of layout.tracks) {
      const y = above + place.top;
      if (!place.hidden && y < height && y > TOP - 20) this.#track(place, y);
    }
  }

  #heading(heading: Heading, y: number): void {
    const { text, first, last, level, folded } = heading;
    const { width } = this.#scene;
    const { muted, surface, text: ink } = this.#brush.theme;
    this.#brush.fill(surface, 0, y + 1, width, 18);
    const x = 6 + level * 10;
    this.#triangle(x, y + 10, folded);
    const lead = x + 14 + this.#write(text, x + 12, y + 10, ink, width - x - 20, "600");
    heading.nameEnd = lead;
    const tracks = counted(last - first, "track");
    const label = folded ? `${tracks} hidden` : tracks;
    this.#write(label, lead + 6, y + 10, muted, width - lead - 12);
  }

  #track(place: TrackRow, top: number): void {
    const { width } = this.#scene;
    const { track, folded } = place;
    const y = top + 10;
    const { background, muted, text, warning } = this.#brush.theme;
    this.#brush.fill(background, 0, top + 2, width, 16);
    this.#triangle(6, y, folded);
    const left = this.#scene.layout.folds ? 18 : 4;
    let x = left + this.#write(place.name, left, y, text, width - 24, "600");
    place.nameEnd = x;
    const badge = overlapText(track, width < SHORT_BELOW);
    if (badge) {
      x += 8 + this.#write(`⚠ ${badge}`, x + 8, y, warning, width - x - 14, "600");
    }
    const room = width - x - 14;
    this.#brush.font();
    const facts = this.#facts(place);
    while (facts.length && this.#brush.measure.width(facts.join(" · ")) > room) facts.pop();
    this.#write(facts.join(" · "), x + 8, y, muted, room);
  }

  #facts({ track, folded }: TrackRow): string[] {
    const { viewport, slices, layout } = this.#scene;
    const { count } = track;
    const facts = [counted(count, "slice")];
    if (folded) facts.push(`${counted(track.rows.length, "row")} folded`);
    const [from, to] = track.known(viewport.start, viewport.end);
    if (count && from < to && slices.holds(from, to)) {
      facts.push(`busy ${percent(track.busy(from, to) / (to - from))} of the visible range`);
    }
    const instants = track.instants?.length;
    if (instants) facts.push(`${integer(instants)} ${slices.noTime}`);
    const levels = track.rows.filter(({ kind }) => kind === RowKind.NESTED).length;
    if (levels > 1) facts.push(`${counted(levels, "level")} of nesting`);
    const drawn = layout.drawn(track);
    if (drawn < track.rows.length) {
      facts.splice(1, 0, `${counted(track.rows.length - drawn, "more row")} not drawn`);
    }
    return facts;
  }

  #triangle(x: number, y: number, folded: boolean): void {
    if (!this.#scene.layout.folds) return;
    const { context, theme } = this.#brush;
    context.fillStyle = theme.muted;
    context.beginPath();
    if (folded) {
      context.moveTo(x, y - 4);
      context.lineTo(x + 6, y);
      context.lineTo(x, y + 4);
    } else {
      context.moveTo(x - 1, y - 3);
      context.lineTo(x + 7, y - 3);
      context.lineTo(x + 3, y + 3);
    }
    context.fill();
  }
}

/** `2 slices overlap others: on a separate lane`; may be "". */
export function overlapText({ rows, overlapping }: Track, short: boolean): string {
  if (!overlapping) return "";
  if (short) return counted(overlapping, "overlap");
  const lanes = rows.filter(({ kind }) => kind === RowKind.OVERLAP).length;
  const where = lanes > 1 ? counted(lanes, "separate lane") : "a separate lane";
  return `${counted(overlapping, "slice")} ${agree(overlapping, "overlaps")} others: on ${where}`;
}
