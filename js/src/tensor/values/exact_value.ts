import { isAbort, NewestWins } from "../../shared/client/request.ts";
import type { TensorQuestions } from "../../shared/client/tensor_client.ts";
import type { TensorAnswer, ValuesAnswer } from "../../shared/client/tensor_questions.ts";
import type { Point } from "../plane.ts";
import { type ValueLook, viewOf } from "../state.ts";

const REST_MS = 40;

/** Asks for all that there is to say of one value, once the pointer or the crosshair rests there. */
export class ExactValue {
  readonly #run: TensorQuestions;
  readonly #signal: AbortSignal;
  readonly #found: (answer: TensorAnswer, point: Point, found: ValuesAnswer) => void;
  readonly #failed: (error: unknown) => void;
  readonly #newest = new NewestWins();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(
    run: TensorQuestions,
    signal: AbortSignal,
    found: (answer: TensorAnswer, point: Point, found: ValuesAnswer) => void,
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

  ask(answer: TensorAnswer, look: ValueLook, point: Point): void {
    this.forget();
    const asked = this.#asked;
    const format = look.format === "dequantised" ? look.format : "number";
    this.#timer = setTimeout(async () => {
      const question = { ...viewOf(answer), ...look, format, ...point, rows: 1, cols: 1 } as const;
      try {
        const found = await this.#newest.ask(() => this.#run.values(question, this.#signal));
        if (asked === this.#asked && found.text[0] !== undefined) this.#found(answer, point, found);
      } catch (error) {
        if (asked === this.#asked && !isAbort(error)) this.#failed(error);
      }
    }, REST_MS);
  }
}
