import { button, element } from "../shared/dom.ts";
import type { TensorAnswer } from "../shared/tensor_questions.ts";
import { SPECIAL_TEXT, specialOf, specialsOf } from "./colors.ts";
import { cellOf } from "./layout.ts";
import { muted, part } from "./parts.ts";
import { indexAt, indexText, type Plane, type Point } from "./plane.ts";
import { shortText } from "./ticks.ts";

const HINT = "Point at the picture, or use the arrow keys, to read values.";

/** The plane that an answer shows, which may be older than the one asked for. */
export function answeredPlane({ viewShape, axes, index }: TensorAnswer): Plane {
  return { shape: viewShape, axes, index };
}

/** One line below the picture: index and value of one place, and the cell it is drawn in. */
export class Readout {
  readonly node: HTMLElement;
  readonly #text = element("code", {});
  readonly #cell = muted();
  readonly #copy: HTMLButtonElement;

  constructor(copy: () => void) {
    this.#copy = button("code", "Copy Python code for what is shown (y)", copy);
    this.node = part("readout", this.#text, this.#copy, this.#cell);
    this.show(null, null, null);
  }

  show(answer: TensorAnswer | null, point: Point | null, exact: string | null): void {
    this.#copy.hidden = !answer?.tile;
    if (!answer || !point) {
      this.#text.hidden = true;
      this.#cell.textContent = answer?.tile ? HINT : "";
      return;
    }
    this.#text.hidden = false;
    const index = indexText(indexAt(answeredPlane(answer), point));
    this.#text.textContent = `${index} ${exact === null ? about(answer, point) : `= ${exact}`}`;
    this.#cell.textContent = cellText(answer, point);
  }
}

/** What the tile knows of a value that was not asked for yet. */
function about({ tile }: TensorAnswer, { row, col }: Point): string {
  if (!tile || tile.rowStep * tile.colStep > 1) return "= …";
  const cell = cellOf(tile, row, col);
  const special = specialOf(tile.flags[cell]!);
  if (special) return `= ${SPECIAL_TEXT[special]}`;
  return `≈ ${shortText(tile.mean[cell]!)}`;
}

/** What the cell of several values is drawn from. */
function cellText({ tile }: TensorAnswer, { row, col }: Point): string {
  if (!tile || tile.rowStep * tile.colStep === 1) return "";
  const cell = cellOf(tile, row, col);
  const [mean, low, high] = [tile.mean[cell]!, tile.minimum[cell]!, tile.maximum[cell]!];
  const inside = specialsOf(tile.flags[cell]!).map((each) => SPECIAL_TEXT[each]);
  const numbers = Number.isNaN(mean)
    ? "no finite value"
    : `mean ≈ ${shortText(mean)}, ${shortText(low)} … ${shortText(high)}`;
  return `cell: ${numbers}${inside.length ? `, some ${inside.join(", ")}` : ""}`;
}

/** Says how many values each cell of the picture stands for. */
export function cellCaption({ tile }: TensorAnswer): string {
  if (!tile || tile.rowStep * tile.colStep === 1) return "";
  return `each cell: mean of ${tile.rowStep}×${tile.colStep} values (least and largest below the pointer)`;
}
