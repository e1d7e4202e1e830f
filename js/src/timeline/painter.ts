import { clear, type Layer, layer, type TextMeasure } from "../shared/canvas.ts";
import { counted, duration, percent } from "../shared/format.ts";
import { inkOn, kindFill, type Theme } from "../shared/theme.ts";
import { instantsIn } from "./area.ts";
import type { TrackRow } from "./rows.ts";
import { AXIS, OVERVIEW, type Scene, TOP } from "./scene.ts";
import type { Row, Track } from "./slices.ts";
import { type Strip, strip } from "./strip.ts";
import { ticks } from "./ticks.ts";

const FONT = 11;
/** Room from which a long label is shortened rather than replaced by the node id. */
const SHORTENED_FROM = 80;
/** Least room that an id leaves on both sides together. */
const ID_PADDING = 3;
const BOX_FROM = 3;
/** Faintest fill of a column that is busy at all. */
const FAINTEST = 0.18;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What the last paint put on the stage. */
export interface Drawn {
  labels: (Box & { text: string })[];
  marks: (Box & {
    slice: number;
    node: number;
    kind: "slice" | "column" | "instant";
    share: number;
  })[];
}

/** Paints all that changes with the part in view: overview, axis, tracks. */
export class Painter {
  readonly #scene: Scene;
  readonly #measure: TextMeasure;
  readonly #context: CanvasRenderingContext2D;
  #theme!: Theme;
  #ratio = 1;
  #drawn: Drawn = { labels: [], marks: [] };
  #record = false;
  /** Texts that would reach beyond are left out. */
  #visible: [top: number, bottom: number] = [0, 0];
  /** The overview is the same for every part in view. */
  readonly #kept = layer("");
  #keptFor = "";

  constructor(scene: Scene, { context }: Layer, measure: TextMeasure) {
    this.#scene = scene;
    this.#measure = measure;
    this.#context = context;
  }

  /** Paints; with `record` what was drawn comes back in full, else only its labels. */
  paint(theme: Theme, record = false): Drawn {
    this.#theme = theme;
    this.#record = record;
    this.#ratio = devicePixelRatio || 1;
    this.#drawn = { labels: [], marks: [] };
    const { width, height } = this.#scene;
    this.#fill(theme.background, 0, 0, width, height);
    this.#overview();
    this.#visible = [0, height];
    this.#grid();
    this.#visible = [TOP, height];
    this.#context.save();
    this.#context.beginPath();
    this.#context.rect(0, TOP, width, height - TOP);
    this.#context.clip();
    for (const row of this.#scene.rows) this.#track(row);
    this.#context.restore();
    return this.#drawn;
  }

  #fill(color: string, x: number, y: number, width: number, height: number, alpha = 1): void {
    this.#context.globalAlpha = alpha;
    this.#context.fillStyle = color;
    this.#context.fillRect(x, y, width, height);
    this.#context.globalAlpha = 1;
  }

  /** Writes text with its middle at `y`, as much of it as fits into `room`. */
  #text(
    text: string,
    x: number,
    y: number,
    color: string,
    room: number,
    weight = "normal",
  ): number {
    const [top, bottom] = this.#visible;
    if (y - FONT / 2 < top || y + FONT / 2 > bottom) return 0;
    this.#context.font = `${weight} ${FONT}px ${this.#theme.font}`;
    this.#context.textBaseline = "middle";
    const shown = this.#measure.fit(text, room);
    if (!shown) return 0;
    const width = this.#measure.width(shown);
    this.#context.fillStyle = color;
    this.#context.fillText(shown, x, y + 0.5);
    this.#drawn.labels.push({ text: shown, x, y: y - FONT / 2, width, height: FONT });
    return width;
  }

  #overview(): void {
    const { slices, width, viewport } = this.#scene;
    const { background, surface, dark } = this.#theme;
    const shown = [width, this.#ratio, background, surface, dark].join();
    if (shown !== this.#keptFor) {
      this.#keptFor = shown;
      clear(this.#kept, width, OVERVIEW);
      const { context } = this.#kept;
      context.fillStyle = surface;
      context.fillRect(0, 0, width, OVERVIEW);
      const height = (OVERVIEW - 6) / slices.tracks.length;
      const columns = Math.round(width * this.#ratio);
      const step = viewport.whole / columns;
      slices.tracks.forEach(({ rows }, track) => {
        for (const row of rows) {
          const found = strip(slices, row, viewport.first, step, columns);
          this.#columns(context, found, 3 + track * height, Math.max(1, height - 1));
        }
      });
    }
    this.#context.drawImage(this.#kept.canvas, 0, 0, width, OVERVIEW);
  }

  #grid(): void {
    const { width, height, viewport } = this.#scene;
    const middle = OVERVIEW + AXIS / 2;
    this.#fill(this.#theme.line, 0, TOP - 1, width, 1);
    for (let most = Math.max(2, Math.floor(width / 70)); most >= 1; most--) {
      const found = ticks(viewport.start, viewport.end, most);
      this.#context.font = `normal ${FONT}px ${this.#theme.font}`;
      const widest = Math.max(0, ...found.map(({ text }) => this.#measure.width(text)));
      const apart =
        found.length > 1 ? this.#scene.x(found[1]!.ns) - this.#scene.x(found[0]!.ns) : Infinity;
      if (apart < widest + 14 && most > 1) continue;
      for (const { ns, text } of found) {
        const x = this.#scene.x(ns);
        this.#fill(this.#theme.line, Math.round(x), TOP - 6, 1, 6);
        this.#fill(this.#theme.line, Math.round(x), TOP, 1, height - TOP, 0.45);
        const room = this.#measure.width(text);
        if (x + 4 + room < width) this.#text(text, x + 4, middle, this.#theme.muted, room);
      }
      return;
    }
  }

  #track(row: TrackRow): void {
    const { width, height, viewport, scroll } = this.#scene;
    const top = TOP + row.top - scroll;
    if (top > height || TOP + row.bottom - scroll < TOP) return;
    this.#header(row, top);
    const columns = Math.round(width * this.#ratio);
    const step = viewport.span / columns;
    for (const each of row.track.rows) {
      const { y, height: rowHeight } = this.#scene.rowBox(each);
      if (y > height || y + rowHeight < TOP) continue;
      const found = strip(this.#scene.slices, each, viewport.start, step, columns);
      this.#columns(this.#context, found, y, rowHeight);
      this.#boxes(found, y, rowHeight);
    }
    if (row.track.instants) this.#instants(row.track, row.track.instants);
  }

  #header({ track }: TrackRow, top: number): void {
    const { viewport, width, slices } = this.#scene;
    const y = top + 10;
    this.#fill(this.#theme.background, 0, top + 2, width, 16);
    const lead = this.#text(track.name, 6, y, this.#theme.text, width - 12, "600");
    const { count } = track;
    const instants = track.instants?.length;
    const busy = track.busy(viewport.start, viewport.end) / viewport.span;
    const parts = [counted(count, "slice")];
    if (instants) parts.push(`${instants} of no duration`);
    const does = slices.columns.info.synthetic ? "takes" : "busy";
    if (count) parts.push(`${does} ${percent(busy)} of the part in view`);
    if (track.rows.length > 1) parts.push(lanesText(track));
    this.#text(parts.join(" · "), 14 + lead, y, this.#theme.muted, width - lead - 20);
  }

  #columns(
    context: CanvasRenderingContext2D,
    { count, left, right, slice, share }: Strip,
    y: number,
    height: number,
  ): void {
    const { slices, names } = this.#scene;
    for (let run = 0; run < count; run++) {
      const node = slices.nodeOf(slice[run]!);
      const busy = share[run]!;
      context.globalAlpha = busy < 1 ? FAINTEST + (1 - FAINTEST) * busy : 1;
      context.fillStyle = kindFill(this.#theme, names.opKind(node));
      const wide = (right[run]! - left[run]!) / this.#ratio;
      context.fillRect(left[run]! / this.#ratio, y, wide, height);
    }
    context.globalAlpha = 1;
  }

  /** Edges and labels of the slices that are wide enough. */
  #boxes({ count, left, right, slice, share }: Strip, y: number, height: number): void {
    const { slices, names } = this.#scene;
    for (let run = 0; run < count; run++) {
      const [x, width] = [left[run]! / this.#ratio, (right[run]! - left[run]!) / this.#ratio];
      const box = share[run] === 1 && width >= BOX_FROM;
      if (!box && !this.#record) continue;
      const at = slice[run]!;
      const node = slices.nodeOf(at);
      if (box) this.#box(at, kindFill(this.#theme, names.opKind(node)), x, y, width, height);
      if (!this.#record) continue;
      const kind = box ? "slice" : "column";
      this.#drawn.marks.push({ slice: at, node, kind, share: share[run]!, x, y, width, height });
    }
  }

  #box(slice: number, color: string, x: number, y: number, width: number, height: number): void {
    const starts = this.#scene.slices.startOf(slice) >= this.#scene.viewport.start;
    if (starts && width > 4) this.#fill("#000000", x, y, 1 / this.#ratio, height, 0.45);
    if (width < FONT) return;
    const room = width - 6;
    const ink = inkOn(color);
    const { slices, names } = this.#scene;
    const node = slices.nodeOf(slice);
    const two = height >= 32;
    const middle = y + height / 2;
    this.#context.font = `normal ${FONT}px ${this.#theme.font}`;
    const fits = (text: string) => this.#measure.width(text) <= room;
    const label = names.ofSlice(slice);
    const first = label.split(" + ", 1)[0]!;
    const id = node < 0 ? "" : `#${node}`;
    const named = [`${id} ${label}`.trim(), `${id} ${first}`.trim()].find(fits);
    let [line, left] = [named ?? `${id} ${label}`.trim(), x + 4];
    if (!named && room < SHORTENED_FROM) {
      const spare = width - this.#measure.width(id);
      if (!id || spare < ID_PADDING) return;
      [line, left] = [id, x + Math.min(4, spare / 2)];
    }
    this.#text(line, left, two ? middle - 7 : middle, ink, line === id ? width : room);
    if (!two) return;
    const below = [duration(slices.durationOf(slice)), named ? "" : first].find(fits);
    if (below) this.#text(below, x + 4, middle + 8, ink, room);
  }

  /** One tick a pixel where there are slices of no duration. */
  #instants(track: Track, row: Row): void {
    const { slices, viewport } = this.#scene;
    const { y, height } = this.#scene.rowBox(row);
    const pixel = viewport.span / this.#scene.width;
    const [first, last] = row.range(viewport.start, viewport.end);
    for (let slice = first; slice < last; ) {
      const start = slices.startOf(slice);
      const x = Math.min(Math.floor(this.#scene.x(start)), this.#scene.width - 1);
      this.#fill(this.#theme.muted, x, y + 1, 1, height - 1);
      const node = slices.nodeOf(slice);
      const share = instantsIn(track, start, start + pixel);
      this.#drawn.marks.push({ slice, node, kind: "instant", share, x, y, width: 1, height });
      slice = Math.max(slice + 1, row.startingAt(this.#scene.ns(x + 1), slice));
    }
  }
}

/** Why a track has several rows. */
export function lanesText({ rows, nested, overlapping }: Track): string {
  if (nested && !overlapping) return `${rows.length} levels: slices nest`;
  return `${rows.length} lanes: slices ${nested ? "nest and overlap" : "overlap"}`;
}
