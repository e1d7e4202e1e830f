import type { Client } from "../../shared/client/client.ts";
import type { PlaneView, TensorAnswer, Tile } from "../../shared/client/tensor_questions.ts";
import { type Plane, planeCols, planeRows } from "../plane.ts";
import { viewOf } from "../state.ts";
import { layoutPlane, type PlaneLayout } from "./plane_layout.ts";
import {
  type PictureRequestEvents,
  PictureRequests,
  PlaneTiles,
  type WantedCells,
  wantedFor,
} from "./tiles.ts";
import type { PlaneViewport } from "./viewport.ts";

/** Number of planes per question, if together they have no more cells than a large picture. */
const PLANES = 4;
const CELLS = 1 << 18;
/** Number of prefetched planes below which more are requested. */
const ENOUGH = 2;

interface PrefetchEvents {
  /** True if a plane is cached as finely as needed. */
  has: (view: PlaneView) => boolean;
  keep: (view: PlaneView, tile: Tile) => void;
  /** The request has ended, with or without an answer. */
  settled: () => void;
}

interface AxisStep {
  axis: number;
  by: 1 | -1;
}

/** Prefetches the next planes along the axis that the user steps along, in one request. */
export class Prefetch {
  readonly #run: Pick<Client, "ask">;
  readonly #events: PrefetchEvents;
  #gone = new AbortController();
  #last: PlaneView | null = null;
  #step: AxisStep | null = null;
  #coming: { view: PlaneView; axis: number; first: number; count: number } | null = null;

  constructor(run: Pick<Client, "ask">, events: PrefetchEvents, signal: AbortSignal) {
    this.#run = run;
    this.#events = events;
    signal.addEventListener("abort", () => this.forget());
  }

  forget(): void {
    this.#gone.abort();
    this.#gone = new AbortController();
    this.#last = this.#step = this.#coming = null;
  }

  /** True if a prefetch of the plane is pending. */
  isComing(view: PlaneView): boolean {
    if (!this.#coming) return false;
    const { view: pending, axis, first, count } = this.#coming;
    const at = view.index?.[axis] ?? -1;
    return at >= first && at < first + count && sameBut(axis, pending, view);
  }

  /** Prefetches once the shown plane is complete and nothing else is pending. */
  shown(view: PlaneView, answer: TensorAnswer, wanted: WantedCells): Promise<void> | null {
    if (this.#last) this.#step = stepBetween(this.#last, view) ?? this.#step;
    this.#last = view;
    const step = this.#step;
    if (!step || this.#coming || !answer.cheap || wanted.part || !view.index) return null;
    const [at, length] = [view.index[step.axis]!, answer.viewShape[step.axis] ?? 0];
    const left = step.by > 0 ? length - 1 - at : at;
    let known = 0;
    while (known < Math.min(ENOUGH, left) && this.#has(view, step, known + 1)) known += 1;
    const most = Math.floor(CELLS / (wanted.rows * wanted.cols));
    const count = Math.min(PLANES, most, left - known);
    if (known >= Math.min(ENOUGH, most) || count < 1) return null;
    const first = step.by > 0 ? at + known + 1 : at - known - count;
    return this.#ask(view, step.axis, first, count, wanted);
  }

  #has(view: PlaneView, { axis, by }: AxisStep, steps: number): boolean {
    return this.#events.has(withIndex(view, axis, view.index![axis]! + by * steps));
  }

  async #ask(
    view: PlaneView,
    axis: number,
    first: number,
    count: number,
    { rows, cols }: WantedCells,
  ): Promise<void> {
    const { signal } = this.#gone;
    this.#coming = { view, axis, first, count };
    try {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      const answer = await this.#run.ask(
        "channels",
        { ...view, axis, first, count, rows, cols },
        signal,
      );
      if (signal.aborted) return;
      const { minimum, maximum, mean, flags, rowStep, colStep, planeRows, planeCols } = answer;
      const size = answer.rows * answer.cols;
      for (let k = 0; k < answer.count; k += 1) {
        const part = [k * size, (k + 1) * size] as const;
        const values = mean.subarray(...part);
        this.#events.keep(withIndex(view, axis, answer.first + k), {
          ...{ row: 0, col: 0, rows: answer.rows, cols: answer.cols },
          ...{ rowStep, colStep, planeRows, planeCols, exact: true },
          minimum: minimum === mean ? values : minimum.subarray(...part),
          maximum: maximum === mean ? values : maximum.subarray(...part),
          mean: values,
          flags: flags.subarray(...part),
        });
      }
    } catch {
      // A view that needs one of them asks again, and gets the error.
    } finally {
      if (!signal.aborted) {
        this.#coming = null;
        this.#events.settled();
      }
    }
  }
}

function withIndex(view: PlaneView, axis: number, at: number): PlaneView {
  return { ...view, index: view.index!.map((value, i) => (i === axis ? at : value)) };
}

/** True if two planes differ only in the index of an axis. */
function sameBut(axis: number, a: PlaneView, b: PlaneView): boolean {
  if (!a.index || !b.index) return false;
  return JSON.stringify(withIndex(a, axis, 0)) === JSON.stringify(withIndex(b, axis, 0));
}

/** The single step from one plane to the other, or null. */
function stepBetween(from: PlaneView, to: PlaneView): AxisStep | null {
  for (const axis of to.index?.keys() ?? []) {
    const by = to.index![axis]! - (from.index?.[axis] ?? Number.NaN);
    if ((by === 1 || by === -1) && sameBut(axis, from, to)) return { axis, by };
  }
  return null;
}

/** Assumed size of a stage before its layout. */
const STAGE = { width: 640, height: 280 };
/** Rank above which a layout may unfold to other axes than the stored ones, so that their lengths are no guide. */
const PLAIN = 4;
const ANY = 256;
/** Cells of the small picture of a complete plane. */
const SMALL = 72;

interface PicturesEvents extends PictureRequestEvents {
  /** More tiles have come, perhaps of another plane than the shown one. */
  known: () => void;
}

/** Caches pictures of planes and requests missing ones. */
export class Pictures {
  readonly #run: Client;
  readonly #signal: AbortSignal;
  readonly #tiles = new PlaneTiles();
  readonly #wholes = new Set<string>();
  readonly #asking: PictureRequests;
  readonly #viewport: PlaneViewport;
  readonly #events: PicturesEvents;
  /** True while a sample suffices, until another tensor is requested. */
  #sampled = false;
  readonly #ahead: Prefetch;
  /** Repeats a request that waits for a prefetched plane. */
  #held: (() => void) | null = null;

  constructor(run: Client, viewport: PlaneViewport, events: PicturesEvents, signal: AbortSignal) {
    this.#run = run;
    this.#signal = signal;
    this.#viewport = viewport;
    this.#events = events;
    this.#asking = new PictureRequests(
      run,
      {
        ...events,
        answered: (answer) => {
          if (answer.tile) this.#tiles.add(keyOf(answer), answer.tile);
          events.answered(answer);
        },
      },
      signal,
    );
    this.#ahead = new Prefetch(
      { ask: (...question) => this.#asking.counted(() => run.ask(...question)) },
      {
        has: (view) => {
          const layout = viewport.layout;
          return layout !== null && this.#tiles.find(keyOf(view), layout)?.exact === true;
        },
        keep: (view, tile) => this.#tiles.add(keyOf(view), tile),
        settled: () => this.#held?.(),
      },
      signal,
    );
  }

  forget(): void {
    this.#asking.forget();
    this.#ahead.forget();
    this.#held = null;
    this.#sampled = false;
  }

  get stopped(): boolean {
    return this.#sampled;
  }

  stop(): void {
    this.#sampled = true;
    this.#asking.stop();
  }

  goOn(view: PlaneView | null): void {
    this.#sampled = false;
    const layout = this.#viewport.layout;
    if (view && layout) this.#asking.refine(view, wantedFor(layout));
  }

  /** Shows a cached plane of a known tensor, else requests it. */
  want(
    view: PlaneView,
    plane: Plane,
    known: TensorAnswer | null,
    beside: Promise<unknown> | null,
  ): void {
    this.#held = null;
    const [rows, cols] = [planeRows(plane), planeCols(plane)];
    this.#viewport.over(rows, cols);
    const whole = { zoom: 1, row: 0, col: 0 };
    const layout =
      this.#viewport.layout ?? layoutPlane(Math.max(1, rows), Math.max(1, cols), whole, STAGE, 1);
    const wanted = wantedFor(layout);
    if (!known && !view.layout && view.layout !== "" && plane.shape.length > PLAIN) {
      [wanted.part, wanted.rows, wanted.cols] = [null, ANY, ANY];
    }
    const tile = known && !beside ? this.#tiles.find(keyOf(view), layout) : null;
    if (!known || !tile) {
      if (known && this.#asking.isRequested(view, wanted)) return;
      if (known && !beside && this.#ahead.isComing(view)) {
        this.#held = () => this.want(view, plane, known, beside);
        return;
      }
      this.#asking.ask(view, wanted, beside, !this.#sampled);
      return;
    }
    if (tile === known.tile && keyOf(known) === keyOf(view)) {
      if (wanted.part && tile.exact) this.#askWhole(known);
      else if (tile.exact && this.#asking.idle) this.#ahead.shown(view, known, wanted);
      return;
    }
    this.#asking.settle();
    const { axes, index } = view;
    this.#events.answered({ ...known, axes: [...axes!], index: [...index!], tile });
    if (!tile.exact && !this.#sampled) this.#asking.refine(view, wanted);
  }

  toDraw(answer: TensorAnswer, layout: PlaneLayout): readonly Tile[] {
    return this.#tiles.toDraw(keyOf(answer), layout);
  }

  /** Requests the complete plane in small if only a part of it was requested so far. */
  async #askWhole(known: TensorAnswer): Promise<void> {
    const key = keyOf(known);
    if (this.whole(known) || this.#wholes.has(key)) return;
    this.#wholes.add(key);
    const small = { part: null, rows: SMALL, cols: SMALL, exact: false };
    try {
      const { tile } = await this.#run.ask("tensor", { ...viewOf(known), ...small }, this.#signal);
      if (tile) this.#tiles.add(key, tile);
      this.#events.known();
    } catch {
      this.#wholes.delete(key);
    }
  }

  whole(answer: TensorAnswer): Tile | null {
    return this.#tiles.whole(keyOf(answer));
  }
}

/** Key of a plane, equal for the same values in the same places. */
function keyOf({ entry, reading, layout, sizes, axes, index }: PlaneView): string {
  const fixed = index?.map((value, axis) => (axes?.includes(axis) ? 0 : value));
  return JSON.stringify([entry, reading, layout, sizes, axes, fixed]);
}
