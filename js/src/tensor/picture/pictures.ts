import type { Client } from "../../shared/client/client.ts";
import { isAbort } from "../../shared/client/request.ts";
import type {
  PlaneView,
  TensorAnswer,
  TensorRequest,
  Tile,
} from "../../shared/client/tensor_questions.ts";
import { planeCols, planeRows } from "../plane.ts";
import type { RequestedView } from "../requested_view.ts";
import { viewOf } from "../state.ts";
import { layoutPlane, type PlaneLayout } from "./plane_layout.ts";
import { PlaneTiles } from "./tiles.ts";
import type { PlaneViewport } from "./viewport.ts";

/** Number of planes per question, if together they have no more cells than a large picture. */
const PLANES = 4;
const CELLS = 1 << 18;
/** Number of prefetched planes below which more are requested. */
const ENOUGH = 2;

interface AxisStep {
  axis: number;
  by: 1 | -1;
}

/** Prefetches the next planes along the axis that the user steps along, in one request. */
export class Prefetch {
  #gone = new AbortController();
  #last: PlaneView | null = null;
  #step: AxisStep | null = null;
  #coming: { view: PlaneView; axis: number; first: number; count: number } | null = null;

  constructor(
    readonly host: Pick<Pictures, "ask" | "has" | "keep" | "settled">,
    signal: AbortSignal,
  ) {
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
  shown(wanted: TensorRequest, answer: TensorAnswer): Promise<void> | null {
    const view = viewOf(wanted);
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
    return this.host.has(withIndex(view, axis, view.index![axis]! + by * steps));
  }

  async #ask(
    view: PlaneView,
    axis: number,
    first: number,
    count: number,
    { rows, cols }: TensorRequest,
  ): Promise<void> {
    const { signal } = this.#gone;
    this.#coming = { view, axis, first, count };
    try {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      const question = { ...view, axis, first, count, rows, cols };
      const answer = await this.host.ask("channels", question, signal);
      if (signal.aborted) return;
      const { minimum, maximum, mean, flags, rowStep, colStep, planeRows, planeCols } = answer;
      const size = answer.rows * answer.cols;
      for (let k = 0; k < answer.count; k += 1) {
        const part = [k * size, (k + 1) * size] as const;
        const values = mean.subarray(...part);
        this.host.keep(withIndex(view, axis, answer.first + k), {
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
        this.host.settled();
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
/** Cells of the small picture of a complete plane. */
const SMALL = 72;
const BUSY_MS = 150;
const IN_FLIGHT = 2;

export interface PicturesHost {
  /** Shows a picture, from an answer or from the cache. */
  answered(answer: TensorAnswer): void;
  failed(error: unknown): void;
  /** Called with true once an answer takes noticeably long. */
  busy(busy: boolean): void;
  /** Called with true while all values are read, after a sample was shown. */
  refining(refining: boolean): void;
  /** Draws again: more tiles have come, perhaps of another plane than the shown one. */
  draw(): void;
}

/**
 * Caches pictures of planes and requests missing ones: a sample first if that is quicker, then every value. The newest
 * request wins.
 */
export class Pictures {
  readonly #tiles = new PlaneTiles();
  readonly #wholes = new Set<string>();
  readonly #ahead: Prefetch;
  /** True while a sample suffices, until another tensor is requested. */
  #sampled = false;
  /** Repeats a request that waits for a prefetched plane. */
  #held: (() => void) | null = null;
  #gone = new AbortController();
  #exact = new AbortController();
  #waiting: ((mine: boolean) => void) | null = null;
  #flying = 0;
  #ticket = 0;
  /** The newest request whose answer or error is shown. */
  #shown = 0;
  #last: TensorRequest | null = null;

  constructor(
    readonly run: Client,
    readonly wish: Pick<RequestedView, "plane" | "question">,
    readonly viewport: PlaneViewport,
    readonly host: PicturesHost,
    readonly signal: AbortSignal,
  ) {
    this.#ahead = new Prefetch(this, signal);
    signal.addEventListener("abort", () => this.forget());
  }

  forget(): void {
    this.#gone.abort();
    this.#gone = new AbortController();
    this.#settle();
    this.#ahead.forget();
    this.#held = null;
    this.#sampled = false;
  }

  get stopped(): boolean {
    return this.#sampled;
  }

  stop(): void {
    this.#sampled = true;
    this.#stopRefining();
  }

  goOn(): void {
    this.#sampled = false;
    const { layout } = this.viewport;
    const question = layout && this.wish.question(layout);
    if (question) this.#refine(question);
  }

  /** Shows the wanted plane if it is cached and the tensor known, else requests it; waits for `beside` too. */
  want(known: TensorAnswer | null, beside: Promise<unknown> | null): void {
    this.#held = null;
    const { plane } = this.wish;
    if (!plane) return;
    const [rows, cols] = [planeRows(plane), planeCols(plane)];
    this.viewport.over(rows, cols);
    const whole = { zoom: 1, row: 0, col: 0 };
    const layout =
      this.viewport.layout ?? layoutPlane(Math.max(1, rows), Math.max(1, cols), whole, STAGE, 1);
    const question = this.wish.question(layout);
    if (!question) return;
    const tile = known && !beside ? this.#tiles.find(keyOf(question), layout) : null;
    if (!known || !tile) {
      if (known && JSON.stringify(this.#last) === JSON.stringify(question)) return;
      if (known && !beside && this.#ahead.isComing(question)) {
        this.#held = () => this.want(known, beside);
        return;
      }
      void this.#request(question, beside);
      return;
    }
    if (tile === known.tile && keyOf(known) === keyOf(question)) {
      if (question.part && tile.exact) this.#askWhole(known);
      else if (tile.exact && this.#flying === 0) this.#ahead.shown(question, known);
      return;
    }
    this.#settle();
    const { axes, index } = question;
    this.host.answered({ ...known, axes: [...axes!], index: [...index!], tile });
    if (!tile.exact && !this.#sampled) this.#refine(question);
  }

  toDraw(answer: TensorAnswer, layout: PlaneLayout): readonly Tile[] {
    return this.#tiles.toDraw(keyOf(answer), layout);
  }

  whole(answer: TensorAnswer): Tile | null {
    return this.#tiles.whole(keyOf(answer));
  }

  /** True if a plane is cached as finely as needed. */
  has(view: PlaneView): boolean {
    const { layout } = this.viewport;
    return layout !== null && this.#tiles.find(keyOf(view), layout)?.exact === true;
  }

  keep(view: PlaneView, tile: Tile): void {
    this.#tiles.add(keyOf(view), tile);
  }

  /** A prefetch has ended, with or without an answer. */
  settled(): void {
    this.#held?.();
  }

  /** Asks, counted among the pending questions. */
  readonly ask: Client["ask"] = async (...question) => {
    this.#flying += 1;
    try {
      return await this.run.ask(...question);
    } finally {
      this.#flying -= 1;
      const next = this.#waiting;
      this.#waiting = null;
      next?.(true);
    }
  };

  async #request(question: TensorRequest, beside: Promise<unknown> | null): Promise<void> {
    this.#stopRefining();
    this.#last = question;
    const ticket = ++this.#ticket;
    const busy = setTimeout(() => this.host.busy(true), BUSY_MS);
    try {
      const answer = await this.#send(question, this.#gone.signal);
      await beside;
      if (!answer || ticket < this.#shown) return;
      this.#shown = ticket;
      this.#answered(answer);
      const isSample = answer.tile !== null && !answer.tile.exact;
      if (isSample && !this.#sampled && ticket === this.#ticket) this.#refine(question);
    } catch (error) {
      if (isAbort(error) || ticket !== this.#ticket) return;
      this.#shown = ticket;
      this.host.failed(error);
    } finally {
      clearTimeout(busy);
      if (ticket === this.#ticket) this.host.busy(false);
    }
  }

  /** Requests the exact picture of a shown sample. */
  async #refine(question: TensorRequest): Promise<void> {
    this.#stopRefining();
    const ticket = this.#ticket;
    const { signal } = this.#exact;
    this.#last = question;
    this.host.refining(true);
    try {
      const gone = AbortSignal.any([signal, this.#gone.signal]);
      const answer = await this.#send({ ...question, exact: true }, gone);
      if (answer && ticket === this.#ticket && !signal.aborted) this.#answered(answer);
    } catch (error) {
      if (isAbort(error) || ticket !== this.#ticket || signal.aborted) return;
      this.host.failed(error);
    } finally {
      if (!signal.aborted) this.host.refining(false);
    }
  }

  /** Null if a newer request took over. */
  async #send(question: TensorRequest, gone: AbortSignal): Promise<TensorAnswer | null> {
    if (this.#flying >= IN_FLIGHT && !(await this.#turn())) return null;
    return this.ask("tensor", question, AbortSignal.any([this.signal, gone]));
  }

  /** Waits until a request may be sent; false if a newer one came meanwhile. */
  #turn(): Promise<boolean> {
    this.#waiting?.(false);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #answered(answer: TensorAnswer): void {
    if (answer.tile) this.keep(answer, answer.tile);
    this.host.answered(answer);
  }

  /** Ignores replies that are still in flight. */
  #settle(): void {
    this.#ticket += 1;
    this.#shown = this.#ticket;
    this.#waiting?.(false);
    this.#waiting = null;
    this.#last = null;
    this.#stopRefining();
    this.host.busy(false);
  }

  #stopRefining(): void {
    this.#exact.abort();
    this.#exact = new AbortController();
    this.host.refining(false);
  }

  /** Requests the complete plane in small if only a part of it was requested so far. */
  async #askWhole(known: TensorAnswer): Promise<void> {
    const key = keyOf(known);
    if (this.whole(known) || this.#wholes.has(key)) return;
    this.#wholes.add(key);
    const small = { part: null, rows: SMALL, cols: SMALL, exact: false };
    try {
      const { tile } = await this.run.ask("tensor", { ...viewOf(known), ...small }, this.signal);
      if (tile) this.#tiles.add(key, tile);
      this.host.draw();
    } catch {
      this.#wholes.delete(key);
    }
  }
}

/** Key of a plane, equal for the same values in the same places. */
function keyOf({ entry, reading, layout, sizes, axes, index }: PlaneView): string {
  const fixed = index?.map((value, axis) => (axes?.includes(axis) ? 0 : value));
  return JSON.stringify([entry, reading, layout, sizes, axes, fixed]);
}
