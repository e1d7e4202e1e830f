import { button, element, KEEP_KEYS } from "../shared/dom.ts";
import { shortText } from "../shared/number_text.ts";
import type { TensorAnswer, Tile, ValuesAnswer } from "../shared/tensor_questions.ts";
import { isPadding, physicalIndex } from "../shared/unfold.ts";
import type { CellChoice } from "./color_scale.ts";
import { SPECIAL_TEXT, specialOf, specialsOf } from "./colors.ts";
import { cellOf } from "./layout.ts";
import { muted, part, piece } from "./parts.ts";
import { indexAt, indexText, type Plane, type Point } from "./plane.ts";
import type { Shown } from "./state.ts";
import { bitsNode } from "./value_bits.ts";

const HINT = "Point at a cell, or type an index.";
const EXAMPLE = [0, 3, 2, 1, 4, 5];

/** The plane that an answer shows, which may be older than the one asked for. */
export function answeredPlane({ viewShape, axes, index }: TensorAnswer): Plane {
  return { shape: viewShape, axes, index };
}

interface Events {
  copy(): void;
  /** Goes to an index; says why where it cannot, else nothing. */
  typed(text: string): string;
  leave(): void;
}

/** A line in the header: a field for an index, and the place and value under the pointer or crosshair. */
export class Readout {
  readonly node: HTMLElement;
  /** All that the value's bits say. */
  readonly more = part("readout-more");
  readonly #field: HTMLInputElement;
  readonly #text = element("code", {});
  readonly #cell = muted();
  readonly #padding = piece("padding", "padding");
  readonly #copy: HTMLButtonElement;
  readonly #events: Events;

  constructor(events: Events) {
    this.#events = events;
    this.#copy = button("code", "Copy Python code for what is shown (y)", () => events.copy());
    this.#field = element("input", {
      type: "text",
      class: "tvmdbg-tensor-index",
      "aria-label": "Go to an index (j)",
      title: "Go to an index, such as 0,3,2,1 (j)",
      autocomplete: "off",
      spellcheck: "false",
      ...KEEP_KEYS,
    });
    this.#field.addEventListener("keydown", (event) => this.#press(event));
    this.#field.addEventListener("input", () => this.#field.removeAttribute("aria-invalid"));
    this.node = part("readout", this.#field, this.#text, this.#padding, this.#copy, this.#cell);
    this.show(null, null, null);
  }

  focus(): void {
    this.#field.focus();
    this.#field.select();
  }

  show(shown: Shown | null, point: Point | null, found: ValuesAnswer | null): void {
    const answer = shown?.answer ?? null;
    this.#field.hidden = this.#copy.hidden = !answer?.tile;
    this.#text.hidden = !answer || !point;
    this.node.hidden = !answer?.tile;
    if (answer) {
      this.#field.placeholder = `index ${EXAMPLE.slice(0, answer.viewShape.length).join(",")}`;
    }
    if (!shown || !answer || !point) {
      this.#cell.textContent = answer?.tile ? HINT : "";
      this.#padding.hidden = true;
      this.more.replaceChildren();
      return;
    }
    const index = indexAt(answeredPlane(answer), point);
    this.#text.textContent = `${indexText(index)} ${valueText(shown, point, found)}`;
    const place = physicalIndex(answer, index);
    const stored = place && place.join() !== index.join() ? place : null;
    this.#cell.textContent = [stored && `stored at ${indexText(stored)}`, cellText(answer, point)]
      .filter(Boolean)
      .join(" · ");
    this.#padding.hidden = !isPadding(answer, index);
    this.more.replaceChildren(...more(shown, found));
  }

  #press(event: KeyboardEvent): void {
    if (event.key === "Escape") this.#events.leave();
    else if (event.key === "Enter") this.#go();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #go(): void {
    const wrong = this.#events.typed(this.#field.value);
    if (wrong === "") return;
    this.#field.setAttribute("aria-invalid", "true");
    this.#text.hidden = true;
    this.#cell.textContent = wrong;
  }
}

/** `= 0.5`, once it is known; till then what the picture knows of it. */
function valueText({ answer, values }: Shown, point: Point, found: ValuesAnswer | null): string {
  const value = found?.one?.number ?? (values.format === "number" ? found?.text[0] : null);
  return value ? `= ${value}` : about(answer!, point);
}

/** What is said at the cell: the value, where it is, and its bits. */
export function tooltipLines(shown: Shown, point: Point, found: ValuesAnswer | null): string[] {
  const { answer, values } = shown;
  if (!answer) return [];
  const index = indexAt(answeredPlane(answer), point);
  const text = found?.text[0];
  const dequantized = values.format === "dequantised" && text !== undefined;
  return [
    valueText(shown, point, found).replace(/^= /, ""),
    `at ${indexText(index)}${isPadding(answer, index) ? ", padding" : ""}`,
    found?.one?.hex ?? "",
    dequantized ? `dequantized ${text}` : "",
    cellText(answer, point),
  ].filter(Boolean);
}

/** The value's bits, the step to its neighbour, and the real number it stands for. */
function more({ values }: Shown, found: ValuesAnswer | null): HTMLElement[] {
  const items: HTMLElement[] = [];
  const text = found?.text[0];
  if (values.format === "dequantised" && text !== undefined) {
    const name = `(value ${shiftText(values.zeroPoint)}) × ${values.scale} = `;
    items.push(element("span", {}, name, piece("number", text)));
  }
  const one = found?.one;
  if (!one) return items;
  items.push(piece("number", one.hex), bitsNode(one.bits, one.fields));
  if (one.spacing) items.push(muted(`ulp ${one.spacing}`));
  return items;
}

/** `− 3`, `+ 128`: what is taken from a value before it is scaled. */
export function shiftText(zeroPoint: number): string {
  return zeroPoint < 0 ? `+ ${-zeroPoint}` : `− ${zeroPoint}`;
}

/** What the tile knows of a value that was not asked for yet. */
function about({ tile }: TensorAnswer, { row, col }: Point): string {
  const cell = tile && tile.rowStep * tile.colStep === 1 ? cellOf(tile, row, col) : null;
  if (!tile || cell === null) return "= …";
  const special = specialOf(tile.flags[cell]!);
  if (special) return `= ${SPECIAL_TEXT[special]}`;
  return `≈ ${shortText(tile.mean[cell]!)}`;
}

/** What the cell of several values is drawn from. */
function cellText({ tile }: TensorAnswer, { row, col }: Point): string {
  if (!tile || tile.rowStep * tile.colStep === 1) return "";
  const cell = cellOf(tile, row, col);
  if (cell === null) return "";
  const [mean, low, high] = [tile.mean[cell]!, tile.minimum[cell]!, tile.maximum[cell]!];
  const inside = specialsOf(tile.flags[cell]!).map((each) => SPECIAL_TEXT[each]);
  const numbers = Number.isNaN(mean)
    ? "no finite value"
    : `mean ≈ ${shortText(mean)}, ${shortText(low)} … ${shortText(high)}`;
  return `cell: ${numbers}${inside.length ? `, some ${inside.join(", ")}` : ""}`;
}

/** Says how many values each cell of the picture stands for, and by which number of them it is coloured. */
export function cellCaption(
  { rowStep, colStep }: Pick<Tile, "rowStep" | "colStep">,
  cells: CellChoice,
): string {
  if (rowStep * colStep === 1) return "";
  const what = {
    mean: "mean",
    least: "min",
    largest: "max",
    extreme: "value farthest from 0",
  }[cells];
  return `each cell: ${what} of ${rowStep}×${colStep} values`;
}
