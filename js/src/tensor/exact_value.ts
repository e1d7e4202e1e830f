import { isAbort, NewestWins } from "../shared/request.ts";
import type { RunClient } from "../shared/run_client.ts";
import type { TensorAnswer } from "../shared/tensor_questions.ts";
import type { Point } from "./plane.ts";
import { AS_NUMBER, viewOf } from "./state.ts";

const REST_MS = 40;

/** Asks for the exact text of one value, once the pointer or the crosshair rests there. */
export class ExactValue {
  readonly #run: RunClient;
  readonly #signal: AbortSignal;
  readonly #found: (answer: TensorAnswer, point: Point, text: string) => void;
  readonly #failed: (error: unknown) => void;
  readonly #newest = new NewestWins();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(
    run: RunClient,
    signal: AbortSignal,
    found: (answer: TensorAnswer, point: Point, text: string) => void,
    failed: (error: unknown) => void,
  ) {
    this.#run = run;
    this.#signal = signal;
    this.#found = found;
    this.#failed = failed;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
  }

  ask(answer: TensorAnswer, point: Point): void {
    this.forget();
    const asked = this.#asked;
    this.#timer = setTimeout(async () => {
      const question = { ...viewOf(answer), ...AS_NUMBER, ...point, rows: 1, cols: 1 };
      try {
        const { text } = await this.#newest.ask(() => this.#run.values(question, this.#signal));
        if (asked === this.#asked && text[0] !== undefined) this.#found(answer, point, text[0]);
      } catch (error) {
        if (asked === this.#asked && !isAbort(error)) this.#failed(error);
      }
    }, REST_MS);
  }
}
