import { isAbort, NewestWins } from "../shared/request.ts";
import type { RunClient } from "../shared/run_client.ts";
import type { Entry, TensorAnswer } from "../shared/tensor_questions.ts";
import { tileBudget } from "./layout.ts";
import type { Picture } from "./picture.ts";
import { type Plane, planeCols, planeRows } from "./plane.ts";

const BUSY_MS = 150;

interface Events {
  answered: (answer: TensorAnswer) => void;
  failed: (error: unknown) => void;
  busy: (busy: boolean) => void;
}

/** Asks the run for planes of tensors, with no more cells than the picture can show. */
export class Asking {
  readonly #run: RunClient;
  readonly #picture: Picture;
  readonly #events: Events;
  readonly #signal: AbortSignal;
  readonly #newest = new NewestWins();
  #asked = { rows: 0, cols: 0 };
  #gone = new AbortController();
  #ticket = 0;

  constructor(run: RunClient, picture: Picture, events: Events, signal: AbortSignal) {
    this.#run = run;
    this.#picture = picture;
    this.#events = events;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#gone.abort());
  }

  /** Lets go of what was asked: another tensor is wanted. */
  forget(): void {
    this.#gone.abort();
    this.#gone = new AbortController();
  }

  /** What comes with the picture is waited for, so that both are shown at once. */
  async ask(
    entry: Entry,
    plane: Plane,
    reading: string | null,
    beside: Promise<unknown> | null,
  ): Promise<void> {
    const ticket = ++this.#ticket;
    const busy = setTimeout(() => this.#events.busy(true), BUSY_MS);
    const signal = AbortSignal.any([this.#signal, this.#gone.signal]);
    try {
      const answer = await this.#newest.ask(() => {
        const budget = this.#budget(plane);
        this.#asked = budget;
        const { axes, index } = plane;
        const view = { entry, axes, index, reading, layout: "", sizes: {}, part: null };
        return this.#run.tensor({ ...view, ...budget, exact: true }, signal);
      });
      await beside;
      if (!signal.aborted) this.#events.answered(answer);
    } catch (error) {
      if (!isAbort(error) && ticket === this.#ticket) this.#events.failed(error);
    } finally {
      clearTimeout(busy);
      if (ticket === this.#ticket) this.#events.busy(false);
    }
  }

  /** Whether the picture, now of another size, can show clearly more cells than were asked for. */
  couldBeFiner(plane: Plane): boolean {
    const { rows, cols } = this.#budget(plane);
    return rows > 1.1 * this.#asked.rows || cols > 1.1 * this.#asked.cols;
  }

  #budget(plane: Plane): { rows: number; cols: number } {
    const { width, height } = this.#picture.size;
    const [rows, cols] = [Math.max(1, planeRows(plane)), Math.max(1, planeCols(plane))];
    return tileBudget(rows, cols, width || 640, height || 280);
  }
}
