import { errorText } from "../shared/message.ts";
import type { Mirror } from "../shared/mirror.ts";
import type { RunClient } from "../shared/run_client.ts";
import type { TensorAnswer } from "../shared/tensor_questions.ts";
import { ExactValue } from "./exact_value.ts";
import { nextSpecial } from "./next_special.ts";
import type { Picture } from "./picture.ts";
import { moved, type Plane, type Point } from "./plane.ts";
import type { Readout } from "./readout.ts";
import type { ValuesTable } from "./values_table.ts";
import { pointWords } from "./words.ts";

interface Parts {
  picture: Picture;
  table: ValuesTable;
  readout: Readout;
  mirror: Mirror;
}

/** The place in the picture that keys move; its value is read, unless the pointer is at another place. */
export class Crosshair {
  /** Where it is in the plane; null while there is none. */
  point: Point | null = null;
  readonly #parts: Parts;
  readonly #words: (answer: TensorAnswer) => string;
  readonly #exact: ExactValue;
  #answer: TensorAnswer | null = null;

  constructor(
    parts: Parts,
    run: RunClient,
    words: (answer: TensorAnswer) => string,
    signal: AbortSignal,
  ) {
    this.#parts = parts;
    this.#words = words;
    this.#exact = new ExactValue(
      run,
      signal,
      (answer, point, text) => this.#found(answer, point, text),
      (error) => parts.mirror.say(`The value could not be read: ${errorText(error)}`),
    );
  }

  /** The place that is read: the pointer's, else its own. */
  get read(): Point | null {
    return this.#parts.picture.hover ?? this.point;
  }

  /** What values are read from; null where nothing is shown. */
  over(answer: TensorAnswer | null): void {
    this.#answer = answer;
  }

  move(plane: Plane, rows: number, cols: number): void {
    const first = !this.point && Math.abs(rows) + Math.abs(cols) === 1;
    const from = this.point ?? { row: 0, col: 0 };
    this.mark(first ? from : moved(plane, from, rows, cols));
  }

  /** Goes to the next cell of the picture that holds a NaN or an infinity. */
  toNextSpecial(): void {
    const tile = this.#answer?.tile;
    if (!tile) return;
    const next = nextSpecial(tile, this.point);
    if (next) this.mark(next);
    else this.#parts.mirror.say("No NaN and no infinity in this picture.");
  }

  /** Puts it somewhere, or takes it away, wherever the pointer is. */
  mark(point: Point | null): void {
    this.#parts.picture.forgetHover();
    this.place(point);
  }

  place(point: Point | null): void {
    this.point = point;
    this.#parts.picture.mark(point, "");
    this.#parts.table.mark(point);
    this.readAgain();
  }

  readAgain(): void {
    const [answer, point] = [this.#answer, this.read];
    this.#parts.readout.show(answer, point, null);
    this.#exact.forget();
    if (answer?.tile && point) this.#exact.ask(answer, point);
  }

  #found(answer: TensorAnswer, point: Point, text: string): void {
    if (answer !== this.#answer) return;
    const { picture, readout, mirror } = this.#parts;
    readout.show(answer, point, text);
    if (picture.hover) return;
    picture.mark(this.point, text);
    mirror.say(`${this.#words(answer)}; ${pointWords(answer, point, text)}`);
  }
}
