import { isAbort } from "../../shared/client/request.ts";
import type { RunClient } from "../../shared/client/run_client.ts";
import type { Viewport } from "../../shared/drawing/viewport.ts";
import { Bins } from "./bins.ts";
import type { Slices } from "./slices.ts";

/** A view that still moves asks nothing. */
const REST_MS = 60;
/** What is asked for to each side of the view, as a share of it. */
const MARGIN = 0.5;
/** Bins so much narrower than a column are not worth adding up. */
const FINEST = 4;

/**
 * The bins that stand for slices which are not here: those of the first answer and, where a page cannot hold all
 * slices, finer ones of the part in view. Where few slices are in view, they come themselves.
 */
export class SeenBins {
  /** Of all time. */
  readonly coarsest: readonly Bins[];
  readonly #slices: Slices;
  #fine: Bins | null = null;
  #run: RunClient | null = null;
  #signal: AbortSignal | null = null;
  #changed: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wanted = "";

  constructor(slices: Slices) {
    this.#slices = slices;
    const { columns, start, end } = slices;
    const { bins } = columns.info;
    this.coarsest = bins ? [new Bins(columns, start, (end - start) / bins, bins)] : [];
  }

  /** From now on asks for what is in view; `changed` is called when more is here. */
  connect(run: RunClient, changed: () => void, signal: AbortSignal): void {
    if (this.#slices.columns.info.whole || this.#slices.columns.info.binsOnly) return;
    [this.#run, this.#changed, this.#signal] = [run, changed, signal];
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** Says what is in view, `step` nanoseconds a column; asks for what of it is not here once the view rests. */
  look({ start, end }: Viewport, step: number): void {
    const wanted = `${start} ${end} ${step}`;
    if (!this.#run || wanted === this.#wanted) return;
    this.#wanted = wanted;
    clearTimeout(this.#timer);
    if (this.#slices.holds(start, end) || !this.#beside(start, end, step).length) return;
    this.#timer = setTimeout(() => this.#ask(start, end, step), REST_MS);
  }

  /** The bins for a part of the time, the coarsest first: later ones are finer. */
  bins(from: number, to: number, step: number): readonly Bins[] {
    const fine = this.#fine;
    const isFit = fine && fine.from < to && fine.end > from && fine.width * FINEST >= step;
    return isFit ? [...this.coarsest, fine] : this.coarsest;
  }

  /** The parts of [from, to] of which only bins wider than two columns are here. */
  missing(from: number, to: number, step: number): [from: number, to: number][] {
    const isFine = this.coarsest.every(({ width }) => width <= 2 * step);
    return isFine || this.#slices.holds(from, to) ? [] : this.#beside(from, to, step);
  }

  /** The parts of [from, to] beside the finer bins. */
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
    try {
      const answer = await this.#run!.window(from, to, bins, this.#signal!);
      if ("lodBusy" in answer) this.#fine = new Bins(answer, from, width, bins);
      else this.#slices.fillWindow(answer, from, to);
      this.#changed?.();
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }
}
