import { isAbort } from "../../shared/client/request.ts";
import type { TensorQuestions } from "../../shared/client/tensor_client.ts";
import type { PlaneView, TensorAnswer } from "../../shared/client/tensor_questions.ts";
import type { Wanted } from "./tiles.ts";

const BUSY_MS = 150;
const IN_FLIGHT = 2;

interface Events {
  answered: (answer: TensorAnswer) => void;
  failed: (error: unknown) => void;
  /** Whether an answer has been waited for longer than goes unnoticed. */
  busy: (busy: boolean) => void;
  /** Whether every value is being looked at, after a sample was shown. */
  refining: (refining: boolean) => void;
}

interface Question {
  view: PlaneView;
  wanted: Wanted;
}

/** Asks the run for pictures: a sample first where that is quicker, then every value; the newest question wins. */
export class Asking {
  readonly #run: TensorQuestions;
  readonly #events: Events;
  readonly #signal: AbortSignal;
  #gone = new AbortController();
  #exact = new AbortController();
  #waiting: ((mine: boolean) => void) | null = null;
  #flying = 0;
  #ticket = 0;
  /** The newest question whose answer or error is shown. */
  #shown = 0;
  #last: Question | null = null;

  constructor(run: TensorQuestions, events: Events, signal: AbortSignal) {
    this.#run = run;
    this.#events = events;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.forget());
  }

  /** Lets go of what was asked: another tensor is wanted. */
  forget(): void {
    this.#gone.abort();
    this.#gone = new AbortController();
    this.settle();
  }

  /** What is wanted is known: answers that are still to come are not shown. */
  settle(): void {
    this.#ticket += 1;
    this.#shown = this.#ticket;
    this.#waiting?.(false);
    this.#waiting = null;
    this.#last = null;
    this.stop();
    this.#events.busy(false);
  }

  /** Shows no more than the sample. */
  stop(): void {
    this.#exact.abort();
    this.#exact = new AbortController();
    this.#events.refining(false);
  }

  /** Whether just this was asked for last. */
  isAsked(view: PlaneView, wanted: Wanted): boolean {
    return JSON.stringify(this.#last) === JSON.stringify({ view, wanted });
  }

  /** What comes beside is waited for, so that both are shown at once. */
  async ask(
    view: PlaneView,
    wanted: Wanted,
    beside: Promise<unknown> | null,
    toTheEnd: boolean,
  ): Promise<void> {
    this.stop();
    this.#last = { view, wanted };
    const ticket = ++this.#ticket;
    const busy = setTimeout(() => this.#events.busy(true), BUSY_MS);
    try {
      const answer = await this.#send(this.#last, false, this.#gone.signal);
      await beside;
      if (!answer || ticket < this.#shown) return;
      this.#shown = ticket;
      this.#events.answered(answer);
      const sampled = answer.tile !== null && !answer.tile.exact;
      if (sampled && toTheEnd && ticket === this.#ticket) this.refine(view, wanted);
    } catch (error) {
      if (isAbort(error) || ticket !== this.#ticket) return;
      this.#shown = ticket;
      this.#events.failed(error);
    } finally {
      clearTimeout(busy);
      if (ticket === this.#ticket) this.#events.busy(false);
    }
  }

  /** Whether nothing is waited for. */
  get idle(): boolean {
    return this.#flying === 0;
  }

  /** Counts a question among those that are under way. */
  async counted<T>(question: () => Promise<T>): Promise<T> {
    this.#flying += 1;
    try {
      return await question();
    } finally {
      this.#flying -= 1;
      const next = this.#waiting;
      this.#waiting = null;
      next?.(true);
    }
  }

  /** Asks for every value of what is shown as a sample. */
  async refine(view: PlaneView, wanted: Wanted): Promise<void> {
    this.stop();
    const ticket = this.#ticket;
    const { signal } = this.#exact;
    this.#last = { view, wanted };
    this.#events.refining(true);
    try {
      const answer = await this.#send(
        this.#last,
        true,
        AbortSignal.any([signal, this.#gone.signal]),
      );
      if (answer && ticket === this.#ticket && !signal.aborted) this.#events.answered(answer);
    } catch (error) {
      if (isAbort(error) || ticket !== this.#ticket || signal.aborted) return;
      this.#events.failed(error);
    } finally {
      if (!signal.aborted) this.#events.refining(false);
    }
  }

  /** Null where a newer question took the turn. */
  async #send(
    { view, wanted: { part, rows, cols } }: Question,
    exact: boolean,
    gone: AbortSignal,
  ): Promise<TensorAnswer | null> {
    if (this.#flying >= IN_FLIGHT && !(await this.#turn())) return null;
    const signal = AbortSignal.any([this.#signal, gone]);
    return this.counted(() => this.#run.tensor({ ...view, part, rows, cols, exact }, signal));
  }

  /** Waits until a question may go out; false where a newer one came meanwhile. */
  #turn(): Promise<boolean> {
    this.#waiting?.(false);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}
