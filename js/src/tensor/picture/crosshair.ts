import type { Client } from "../../shared/client/client.ts";
import { errorText, isAbort, NewestWins } from "../../shared/client/request.ts";
import type { TensorAnswer, Tile, ValuesAnswer } from "../../shared/client/tensor_questions.ts";
import type { Mirror } from "../../shell/dom.ts";
import { pointWords } from "../descriptions.ts";
import { moved, type Plane, type Point } from "../plane.ts";
import {
  hasValues,
  type InspectorCommands,
  type ShownTensor,
  type ValueLook,
  viewOf,
} from "../state.ts";
import { type Readout, tooltipLines } from "../values/readout.ts";
import type { MarkedRegion } from "../values/region.ts";
import type { ValuesTable } from "../values/values_table.ts";
import type { PlanePicture } from "./picture.ts";
import type { ProfileView } from "./profile_view.ts";

/** The next cell of the picture after `from` with a NaN or an infinity, cyclic; or null. */
export function nextSpecial(tile: Tile, from: Point | null): Point | null {
  const cells = tile.flags.length;
  const { row, col } = from ?? { row: tile.row, col: tile.col - 1 };
  const [down, across] = [(row - tile.row) / tile.rowStep, (col - tile.col) / tile.colStep];
  const start = Math.floor(down) * tile.cols + Math.floor(across);
  for (let k = 1; k <= cells; k += 1) {
    const cell = (((start + k) % cells) + cells) % cells;
    if (!tile.flags[cell]) continue;
    return {
      row: tile.row + Math.floor(cell / tile.cols) * tile.rowStep,
      col: tile.col + (cell % tile.cols) * tile.colStep,
    };
  }
  return null;
}

const REST_MS = 40;

/** Requests all details of one value once the pointer or the crosshair rests there. */
class ExactValue {
  readonly #run: Client;
  readonly #signal: AbortSignal;
  readonly #host: Pick<Crosshair, "found" | "failed">;
  readonly #newest = new NewestWins();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(run: Client, signal: AbortSignal, host: Pick<Crosshair, "found" | "failed">) {
    this.#run = run;
    this.#signal = signal;
    this.#host = host;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
  }

  ask(answer: TensorAnswer, look: ValueLook, point: Point): void {
    this.forget();
    const pending = this.#asked;
    const format = look.format === "dequantised" ? look.format : "number";
    this.#timer = setTimeout(async () => {
      const question = { ...viewOf(answer), ...look, format, ...point, rows: 1, cols: 1 } as const;
      try {
        const values = await this.#newest.ask(() =>
          this.#run.ask("values", question, this.#signal),
        );
        if (pending === this.#asked && values.text[0] !== undefined)
          this.#host.found(answer, point, values);
      } catch (error) {
        if (pending === this.#asked && !isAbort(error)) this.#host.failed(error);
      }
    }, REST_MS);
  }
}

interface CrosshairParts {
  picture: PlanePicture;
  table: ValuesTable;
  profile: ProfileView;
  readout: Readout;
  marked: Pick<MarkedRegion, "mark" | "endsAt">;
  mirror: Mirror;
}

/** Position in the picture that keys move; its value is shown unless the pointer is elsewhere. */
export class Crosshair {
  /** Row and column in the plane, or null. */
  point: Point | null = null;
  readonly #parts: CrosshairParts;
  readonly #commands: Pick<InspectorCommands, "viewing">;
  readonly #exact: ExactValue;
  #shown: ShownTensor | null = null;

  constructor(
    parts: CrosshairParts,
    run: Client,
    commands: Pick<InspectorCommands, "viewing">,
    signal: AbortSignal,
  ) {
    this.#parts = parts;
    this.#commands = commands;
    this.#exact = new ExactValue(run, signal, this);
  }

  /** Position whose value is shown: the pointer's, else the crosshair's. */
  get read(): Point | null {
    return this.#parts.picture.hover ?? this.point;
  }

  /** Source and format of the values; null if nothing is shown. */
  over(shown: ShownTensor | null): void {
    const before = this.#shown;
    this.#shown = shown;
    if (shown && before?.answer === shown.answer && before.values !== shown.values) {
      this.#parts.mirror.ask();
      this.readAgain();
    }
  }

  move(plane: Plane, rows: number, cols: number): void {
    const first = !this.point && Math.abs(rows) + Math.abs(cols) === 1;
    const from = this.point ?? { row: 0, col: 0 };
    this.mark(first ? from : moved(plane, from, rows, cols));
  }

  toNextSpecial(): void {
    const tile = this.#shown?.answer?.tile;
    if (!tile) return;
    const next = nextSpecial(tile, this.point);
    if (next) this.mark(next);
    else this.#parts.mirror.say("No NaN or Inf in this heatmap.");
  }

  /** Moves or removes it, whatever the pointer does. */
  mark(point: Point | null): void {
    this.#parts.marked.mark(null);
    this.put(point);
  }

  put(point: Point | null): void {
    this.#parts.picture.forgetHover();
    this.#parts.mirror.ask();
    this.place(point);
    if (point) this.#parts.picture.reveal(point);
  }

  place(point: Point | null): void {
    this.point = point;
    this.#parts.picture.mark(point, "");
    this.#parts.table.mark(point);
    this.#parts.profile.mark(point);
    this.readAgain();
  }

  readAgain(): void {
    const [shown, point] = [this.#shown, this.read];
    this.#tell(point, null);
    this.#exact.forget();
    if (shown?.answer && hasValues(shown.answer) && point)
      this.#exact.ask(shown.answer, shown.values, point);
  }

  #tell(point: Point | null, values: ValuesAnswer | null): void {
    const { readout, picture } = this.#parts;
    readout.show(this.#shown, point, values);
    picture.tell(this.#shown && point ? tooltipLines(this.#shown, point, values) : []);
  }

  failed(error: unknown): void {
    this.#parts.mirror.say(`The value could not be read: ${errorText(error)}`);
  }

  found(answer: TensorAnswer, point: Point, values: ValuesAnswer): void {
    if (answer !== this.#shown?.answer) return;
    const { picture, marked, mirror } = this.#parts;
    const text = values.text[0]!;
    this.#tell(point, values);
    if (picture.hover) return;
    picture.mark(this.point, text);
    if (marked.endsAt(point)) return;
    mirror.tell(
      `${this.#commands.viewing.words()}; ${pointWords(this.#shown, point, values)}`,
      true,
    );
  }
}
