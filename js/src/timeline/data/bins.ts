import type { Client } from "../../shared/client/client.ts";
import type { StringColumn } from "../../shared/client/columns.ts";
import { isAbort } from "../../shared/client/request.ts";
import { slicesOf, windowOf } from "../../shared/client/timeline_client.ts";
import { type LodColumns, RowKind } from "../../shared/client/timeline_columns.ts";
import type { Viewport } from "../../shared/drawing/canvas.ts";
import { counted, percent } from "../../shared/format.ts";
import { inStretches } from "../../shared/many.ts";
import { element } from "../../shell/dom.ts";
import type { Row, RowColumns } from "./row.ts";
import type { Slices } from "./slices.ts";

type Binned = LodColumns & {
  names: StringColumn;
  nameKinds: StringColumn;
  nameLabels: StringColumn;
};

/** Rows of equal time bins, drawn in place of slices that are not loaded. */
export class TimeBins {
  readonly #lod: Binned;
  readonly #count: number;

  /** @param count Bins per row from `from` on, `width` nanoseconds wide. */
  constructor(
    lod: Binned,
    readonly from: number,
    readonly width: number,
    count: number,
  ) {
    this.#lod = lod;
    this.#count = count;
  }

  get end(): number {
    return this.from + this.width * this.#count;
  }

  /** Fills columns `first` to `last - 1` like `Row.fill`, with bin + `mark`; other columns stay. */
  fill(
    row: Row,
    columns: RowColumns,
    bin: Int32Array,
    mark: number,
    from: number,
    step: number,
    first: number,
    last: number,
  ): void {
    const { lodBusy, lodSlice } = this.#lod;
    const zero = row.number * this.#count;
    const isInstant = row.kind === RowKind.INSTANT;
    const scale = step / this.width;
    const offset = (from - this.from) / this.width;
    const low = Math.max(first, Math.ceil(-offset / scale - 0.5));
    const high = Math.min(last, Math.floor((this.#count - offset) / scale + 0.5));
    for (let column = low; column < high; column++) {
      const begin = Math.max(0, offset + column * scale);
      const end = Math.min(this.#count, offset + (column + 1) * scale);
      let [best, most, busy] = [-1, 0, 0];
      for (let at = Math.floor(begin); at < end; at++) {
        const inside = Math.min(end, at + 1) - Math.max(begin, at);
        const isThere = isInstant && lodSlice[zero + at]! >= 0;
        const time = isThere ? inside : inside * lodBusy[zero + at]!;
        busy += time;
        if (time > most) {
          most = time;
          best = zero + at;
        }
      }
      const share = end > begin ? busy / (end - begin) : 0;
      columns.share[column] = isInstant ? Math.sign(share) : Math.min(1, share);
      columns.slice[column] = best < 0 ? -1 : lodSlice[best]!;
      bin[column] = best < 0 ? -1 : best + mark;
    }
  }

  /** Node and name of the longest slice of a bin. */
  nodeOf(bin: number): number {
    return this.#lod.lodNode[bin] ?? -1;
  }

  nameCodeOf(bin: number): number {
    return this.#lod.lodName[bin] ?? -1;
  }

  nameOf(bin: number): string {
    return this.#lod.names.at(this.#lod.lodName[bin] ?? -1);
  }

  labelOf(bin: number): string {
    return this.#lod.nameLabels.at(this.#lod.lodName[bin] ?? -1) || this.nameOf(bin);
  }

  kindOf(bin: number): string {
    return this.#lod.nameKinds.at(this.#lod.lodName[bin] ?? -1) || "other";
  }
}

/** Time a view must rest before it asks for bins. */
const REST_MS = 60;
/** Share of the view that is requested on both sides of it. */
const MARGIN = 0.5;
/** Bins this much narrower than a column are not worth adding up. */
const FINEST = 4;

/** Bins of slices that are not loaded: coarse ones of all time, finer ones, or a few slices, of the view. */
export class SeenBins {
  readonly coarsest: readonly TimeBins[];
  readonly #slices: Slices;
  #fine: TimeBins | null = null;
  #run: Client | null = null;
  #signal: AbortSignal | null = null;
  #changed: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wanted = "";
  /** Number of the last question, and of the newest one answered. */
  #asked = 0;
  #answered = 0;

  constructor(slices: Slices) {
    this.#slices = slices;
    const { columns, start, end } = slices;
    const { bins } = columns.info;
    this.coarsest = bins ? [new TimeBins(columns, start, (end - start) / bins, bins)] : [];
  }

  /** Begins to request bins of the visible part; calls `changed` when more have come. */
  connect(run: Client, changed: () => void, signal: AbortSignal): void {
    if (this.#slices.columns.info.whole || this.#slices.columns.info.binsOnly) return;
    [this.#run, this.#changed, this.#signal] = [run, changed, signal];
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** Sets the visible part, `step` nanoseconds a column; requests its missing bins once the view rests. */
  look({ start, end }: Viewport, step: number): void {
    const wanted = `${start} ${end} ${step}`;
    if (!this.#run || wanted === this.#wanted) return;
    this.#wanted = wanted;
    clearTimeout(this.#timer);
    if (this.#slices.holds(start, end) || !this.#beside(start, end, step).length) return;
    this.#timer = setTimeout(() => this.#ask(start, end, step), REST_MS);
  }

  /** Bins for a time range, from coarse to fine. */
  bins(from: number, to: number, step: number): readonly TimeBins[] {
    const fine = this.#fine;
    const isFit = fine && fine.from < to && fine.end > from && fine.width * FINEST >= step;
    return isFit ? [...this.coarsest, fine] : this.coarsest;
  }

  /** The parts of [from, to] that have only bins wider than two columns. */
  missing(from: number, to: number, step: number): [from: number, to: number][] {
    const isFine = this.coarsest.every(({ width }) => width <= 2 * step);
    return isFine || this.#slices.holds(from, to) ? [] : this.#beside(from, to, step);
  }

  /** The parts of [from, to] outside of the finer bins. */
  #beside(from: number, to: number, step: number): [from: number, to: number][] {
    const fine = this.#fine;
    if (!fine || fine.width > 2 * step || fine.from >= to || fine.end <= from) return [[from, to]];
    const around: [number, number][] = [
      [from, fine.from],
      [fine.end, to],
    ];
    return around.filter(([begin, end]) => begin < end);
  }

  async #ask(start: number, end: number, step: number): Promise<void> {
    const { mostBins } = this.#slices.columns.info;
    const more = (end - start) * MARGIN;
    let width = 2 ** Math.max(0, Math.floor(Math.log2(step)));
    while ((end - start + 2 * more) / width + 2 > mostBins) width *= 2;
    const from = Math.floor((start - more) / width) * width;
    const bins = Math.ceil((end + more - from) / width);
    const to = from + bins * width;
    const asked = ++this.#asked;
    try {
      const answer = await windowOf(this.#run!, from, to, bins, this.#signal!);
      if (asked < this.#answered) return;
      this.#answered = asked;
      if ("lodBusy" in answer) this.#fine = new TimeBins(answer, from, width, bins);
      else this.#slices.fillWindow(answer, from, to);
      this.#changed?.();
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }
}

/** Message for facts that need all slices. */
export function notHere({ count, columns: { info } }: Slices): string[] {
  const all = counted(count, "slice");
  if (info.binsOnly) return [all, info.binsOnly];
  if (info.whole) return [`${all}, loading`];
  return [
    `${all}: too many for this page`,
    "Zoom in to see each; run.times(by=…) aggregates them in Python.",
  ];
}

/** Progress of the slices, in a corner of the stage. */
export class SliceProgress {
  readonly node = element("output", { class: "tvmdbg-timeline-coming tvmdbg-muted" });
  readonly #slices: Slices;
  readonly #run: Client;

  constructor(slices: Slices, run: Client) {
    this.#slices = slices;
    this.#run = run;
    this.#say(0, slices.count);
  }

  /** True while slices are missing. */
  static expects({ complete, columns: { info } }: Slices): boolean {
    return !complete && info.whole && !info.binsOnly;
  }

  /** Loads the slices; without them the picture stays coarse. */
  async take(signal: AbortSignal): Promise<void> {
    try {
      const data = await slicesOf(this.#run, (done, total) => this.#say(done, total));
      if (data && !signal.aborted) await inStretches(this.#slices.filling(data), signal);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      this.node.textContent = `no more detail: ${why}`;
    }
  }

  #say(done: number, total: number): void {
    const share = percent(total > 0 ? done / total : 0);
    this.node.textContent = `reading ${counted(total, "slice")}: ${share}`;
  }
}
