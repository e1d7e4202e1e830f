import { errorText } from "../../shared/client/request.ts";
import type { TensorAnswer, Tile, ValuesAnswer } from "../../shared/client/tensor_questions.ts";
import type { Mirror } from "../../shell/dom.ts";
import { pointWords } from "../descriptions.ts";
import { Inquiry, TensorPart } from "../parts.ts";
import { moved, type Plane, type Point } from "../plane.ts";
import { hasValues, type ShownTensor, viewOf } from "../state.ts";
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

interface CrosshairParts {
  picture: PlanePicture;
  table: ValuesTable;
  profile: ProfileView;
  readout: Readout;
  marked: Pick<MarkedRegion, "mark" | "endsAt">;
  mirror: Mirror;
}

/** Position in the picture that keys move; its value is shown unless the pointer is elsewhere. */
export class Crosshair extends TensorPart<CrosshairParts> {
  /** Row and column in the plane, or null. */
  point: Point | null = null;
  readonly #exact = new Inquiry(this.host, "values", REST_MS);
  #shown: ShownTensor | null = null;

  /** Position whose value is shown: the pointer's, else the crosshair's. */
  get read(): Point | null {
    return this.beside.picture.hover ?? this.point;
  }

  /** Source and format of the values; null if nothing is shown. */
  over(shown: ShownTensor | null): void {
    const before = this.#shown;
    this.#shown = shown;
    if (shown && before?.answer === shown.answer && before.values !== shown.values) {
      this.beside.mirror.ask();
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
    else this.beside.mirror.say("No NaN or Inf in this heatmap.");
  }

  /** Moves or removes it, whatever the pointer does. */
  mark(point: Point | null): void {
    this.beside.marked.mark(null);
    this.put(point);
  }

  put(point: Point | null): void {
    this.beside.picture.forgetHover();
    this.beside.mirror.ask();
    this.place(point);
    if (point) this.beside.picture.reveal(point);
  }

  place(point: Point | null): void {
    this.point = point;
    this.beside.picture.mark(point, "");
    this.beside.table.mark(point);
    this.beside.profile.mark(point);
    this.readAgain();
  }

  readAgain(): void {
    const [shown, point] = [this.#shown, this.read];
    this.#tell(point, null);
    this.#exact.forget();
    const { answer, values: look } = shown ?? {};
    if (!answer || !look || !hasValues(answer) || !point) return;
    const format = look.format === "dequantized" ? look.format : "number";
    this.#exact.ask(
      { ...viewOf(answer), ...look, format, ...point, rows: 1, cols: 1 },
      (values) => this.#found(answer, point, values),
      (error) => this.beside.mirror.say(`The value could not be read: ${errorText(error)}`),
    );
  }

  #tell(point: Point | null, values: ValuesAnswer | null): void {
    const { readout, picture } = this.beside;
    readout.show(this.#shown, point, values);
    picture.tell(this.#shown && point ? tooltipLines(this.#shown, point, values) : []);
  }

  #found(answer: TensorAnswer, point: Point, values: ValuesAnswer): void {
    const text = values.text[0];
    if (answer !== this.#shown?.answer || text === undefined) return;
    const { picture, marked, mirror } = this.beside;
    this.#tell(point, values);
    if (picture.hover) return;
    picture.mark(this.point, text);
    if (marked.endsAt(point)) return;
    mirror.tell(`${this.host.viewing.words()}; ${pointWords(this.#shown, point, values)}`, true);
  }
}
