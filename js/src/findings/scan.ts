import { isAbort } from "../shared/request.ts";
import type { FindingsAnswer, RunClient } from "../shared/run_client.ts";

const AGAIN_MS = 400;

interface Events {
  answer: (answer: FindingsAnswer) => void;
  error: (error: unknown) => void;
}

/** Whether more will be known without anyone's doing: the scan runs, or is about to begin. */
export function isUnderWay({ state }: FindingsAnswer): boolean {
  return state === "scanning" || state === "none";
}

/** Asks for what was found until all tensors were scanned, or the scan was stopped. */
export class Scan {
  readonly #run: RunClient;
  readonly #events: Events;
  readonly #signal: AbortSignal;
  /** The round of questions that counts; those of earlier ones are let go. */
  #round = 0;

  constructor(run: RunClient, events: Events, signal: AbortSignal) {
    this.#run = run;
    this.#events = events;
    this.#signal = signal;
  }

  /** Asks anew, and so begins the scan; `goOn` also begins again where it was stopped. */
  async start(goOn = false): Promise<void> {
    const round = ++this.#round;
    for (let first = true; ; first = false) {
      const again = goOn && first;
      const answer = await this.#ask(round, () => this.#run.findings(this.#signal, again));
      if (answer === null || !isUnderWay(answer)) return;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      if (this.#signal.aborted || round !== this.#round) return;
    }
  }

  async stop(): Promise<void> {
    await this.#ask(++this.#round, () => this.#run.cancelFindings(this.#signal));
  }

  async #ask(
    round: number,
    question: () => Promise<FindingsAnswer>,
  ): Promise<FindingsAnswer | null> {
    const counts = () => round === this.#round && !this.#signal.aborted;
    try {
      const answer = await question();
      if (!counts()) return null;
      this.#events.answer(answer);
      return answer;
    } catch (error) {
      if (counts() && !isAbort(error)) this.#events.error(error);
      return null;
    }
  }
}
