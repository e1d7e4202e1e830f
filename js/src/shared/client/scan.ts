import { isAbort } from "./request.ts";

const AGAIN_MS = 400;
/** Where an answer takes long, the next question waits so many times as long. */
const PATIENCE = 2;

/** What every answer about the scan of a run's tensors begins with. */
export interface ScanAnswer {
  state: "scanning" | "done" | "cancelled" | "none";
  /** Tensors looked at, of how many. */
  done: number;
  total: number;
}

interface Questions<T> {
  /** `goOn` begins a scan again that was stopped. */
  ask(signal: AbortSignal, goOn: boolean): Promise<T>;
  stop(signal: AbortSignal): Promise<T>;
}

interface Events<T> {
  answer: (answer: T) => void;
  error: (error: unknown) => void;
}

/** Whether more will be known without anyone's doing: the scan runs, or is about to begin. */
export function isUnderWay({ state }: ScanAnswer): boolean {
  return state === "scanning" || state === "none";
}

/** Asks for what is known of the tensors until all were scanned, or the scan was stopped. */
export class Scan<T extends ScanAnswer> {
  readonly #questions: Questions<T>;
  readonly #events: Events<T>;
  readonly #signal: AbortSignal;
  /** The round of questions that counts; those of earlier ones are let go. */
  #round = 0;

  constructor(questions: Questions<T>, events: Events<T>, signal: AbortSignal) {
    this.#questions = questions;
    this.#events = events;
    this.#signal = signal;
  }

  /** Asks anew, and so begins the scan; `goOn` also begins again where it was stopped. */
  async start(goOn = false): Promise<void> {
    const round = ++this.#round;
    for (let first = true; ; first = false) {
      const again = goOn && first;
      const begun = performance.now();
      const answer = await this.#ask(round, () => this.#questions.ask(this.#signal, again));
      if (answer === null || !isUnderWay(answer)) return;
      const wait = Math.max(AGAIN_MS, PATIENCE * (performance.now() - begun));
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (this.#signal.aborted || round !== this.#round) return;
    }
  }

  async stop(): Promise<void> {
    await this.#ask(++this.#round, () => this.#questions.stop(this.#signal));
  }

  async #ask(round: number, question: () => Promise<T>): Promise<T | null> {
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
