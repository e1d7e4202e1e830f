import { isAbort } from "../shared/client/request.ts";
import type { TensorQuestions } from "../shared/client/tensor_client.ts";
import type { Entry, StatisticsAnswer } from "../shared/client/tensor_questions.ts";

const POLL_MS = 150;

interface Events {
  /** More is known of the tensor that was asked for last. */
  counted: (answer: StatisticsAnswer) => void;
  failed: (error: unknown) => void;
}

/** The numbers of one whole tensor: at once what is known, then those of every value. */
export class Counting {
  readonly #run: TensorQuestions;
  readonly #events: Events;
  readonly #signal: AbortSignal;
  #question: { entry: Entry; reading: string | null } | null = null;
  #scanning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ticket = 0;

  constructor(run: TensorQuestions, events: Events, signal: AbortSignal) {
    this.#run = run;
    this.#events = events;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.forget());
  }

  /** What is known at once of another tensor, or of the same read otherwise. */
  begin(entry: Entry, reading: string | null): Promise<StatisticsAnswer> {
    this.forget();
    this.#question = { entry, reading };
    return this.#run.statistics({ ...this.#question, exact: false }, this.#signal);
  }

  /** Lets go of the tensor; a pass that only this view waits for ends. */
  forget(): void {
    if (this.#scanning) this.#cancel().catch(() => {});
    this.#ticket += 1;
    this.#scanning = false;
    clearTimeout(this.#timer);
  }

  /** Begins the pass over every value, and follows it. */
  refine(): void {
    if (this.#scanning || !this.#question) return;
    this.#scanning = true;
    this.#follow(++this.#ticket);
  }

  /** Stops the pass; what is known by then stays. */
  async stop(): Promise<void> {
    if (!this.#scanning) return;
    const ticket = ++this.#ticket;
    this.#scanning = false;
    clearTimeout(this.#timer);
    try {
      const answer = await this.#cancel();
      if (ticket === this.#ticket) this.#events.counted(answer);
    } catch (error) {
      if (ticket === this.#ticket && !isAbort(error)) this.#events.failed(error);
    }
  }

  #cancel(): Promise<StatisticsAnswer> {
    return this.#run.cancelTensor(this.#question!, this.#signal);
  }

  async #follow(ticket: number): Promise<void> {
    try {
      const question = { ...this.#question!, exact: true };
      const answer = await this.#run.statistics(question, this.#signal);
      if (ticket !== this.#ticket) return;
      this.#scanning = answer.state === "scanning";
      this.#events.counted(answer);
      if (this.#scanning) this.#timer = setTimeout(() => this.#follow(ticket), POLL_MS);
    } catch (error) {
      if (ticket !== this.#ticket) return;
      this.#scanning = false;
      if (!isAbort(error)) this.#events.failed(error);
    }
  }
}
