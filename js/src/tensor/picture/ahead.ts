import type { TensorQuestions } from "../../shared/client/tensor_client.ts";
import type { PlaneView, TensorAnswer, Tile } from "../../shared/client/tensor_questions.ts";
import type { Wanted } from "./tiles.ts";

/** Planes of one question, as long as they have no more cells than a large picture. */
const PLANES = 4;
const CELLS = 1 << 18;
/** With fewer that are kept ahead of the one in sight more are asked for. */
const ENOUGH = 2;

interface Events {
  /** Whether a plane is kept as finely as is wanted. */
  has: (view: PlaneView) => boolean;
  keep: (view: PlaneView, tile: Tile) => void;
  /** What was asked for has come, or will not. */
  settled: () => void;
}

/** Where one axis was stepped along. */
interface Step {
  axis: number;
  by: 1 | -1;
}

/** Asks for the planes that come next where one steps along an axis, in one answer and before they are wanted. */
export class Ahead {
  readonly #run: Pick<TensorQuestions, "channels">;
  readonly #events: Events;
  #gone = new AbortController();
  #last: PlaneView | null = null;
  #step: Step | null = null;
  #coming: { view: PlaneView; axis: number; first: number; count: number } | null = null;

  constructor(run: Pick<TensorQuestions, "channels">, events: Events, signal: AbortSignal) {
    this.#run = run;
    this.#events = events;
    signal.addEventListener("abort", () => this.forget());
  }

  /** Lets go of another tensor. */
  forget(): void {
    this.#gone.abort();
    this.#gone = new AbortController();
    this.#last = this.#step = this.#coming = null;
  }

  /** Whether a plane is among those that were asked for and have not come yet. */
  isComing(view: PlaneView): boolean {
    if (!this.#coming) return false;
    const { view: asked, axis, first, count } = this.#coming;
    const at = view.index?.[axis] ?? -1;
    return at >= first && at < first + count && sameBut(axis, asked, view);
  }

  /** A plane is shown as it was wanted, and nothing else is waited for. */
  shown(view: PlaneView, answer: TensorAnswer, wanted: Wanted): Promise<void> | null {
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

  #has(view: PlaneView, { axis, by }: Step, steps: number): boolean {
    return this.#events.has(withIndex(view, axis, view.index![axis]! + by * steps));
  }

  async #ask(
    view: PlaneView,
    axis: number,
    first: number,
    count: number,
    { rows, cols }: Wanted,
  ): Promise<void> {
    const { signal } = this.#gone;
    this.#coming = { view, axis, first, count };
    try {
      await painted();
      const answer = await this.#run.channels({ ...view, axis, first, count, rows, cols }, signal);
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
      // Who wants one of them asks for it, and is told what is wrong.
    } finally {
      if (!signal.aborted) {
        this.#coming = null;
        this.#events.settled();
      }
    }
  }
}

function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

function withIndex(view: PlaneView, axis: number, at: number): PlaneView {
  return { ...view, index: view.index!.map((each, i) => (i === axis ? at : each)) };
}

/** Whether two planes differ in nothing but the index of an axis. */
function sameBut(axis: number, a: PlaneView, b: PlaneView): boolean {
  if (!a.index || !b.index) return false;
  return JSON.stringify(withIndex(a, axis, 0)) === JSON.stringify(withIndex(b, axis, 0));
}

/** The single step that leads from one plane to the other; null where it is another way. */
function stepBetween(from: PlaneView, to: PlaneView): Step | null {
  for (const axis of to.index?.keys() ?? []) {
    const by = to.index![axis]! - (from.index?.[axis] ?? Number.NaN);
    if ((by === 1 || by === -1) && sameBut(axis, from, to)) return { axis, by };
  }
  return null;
}
