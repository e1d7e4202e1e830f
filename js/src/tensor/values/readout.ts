import type { TensorAnswer, Tile, ValuesAnswer } from "../../shared/client/tensor_questions.ts";
import * as icons from "../../shared/drawing/icons.ts";
import { screenText } from "../../shared/number_text.ts";
import { isPadding, storedIndex } from "../../shared/unfold.ts";
import { element, iconButton, KEEP_KEYS, span } from "../../shell/dom.ts";
import { shiftText } from "../descriptions.ts";
import { muted, number, part, piece, TensorPart } from "../parts.ts";
import { type CellChoice, SPECIAL_TEXT, specialOf, specialsOf } from "../picture/color_scale.ts";
import { cellText, meanText } from "../picture/digits.ts";
import { cellOf } from "../picture/plane_layout.ts";
import { answeredPlane, indexAt, indexText, type Point } from "../plane.ts";
import { hasValues, type ShownTensor, type TensorHost } from "../state.ts";

const FIELD_NAMES = ["sign", "exponent", "mantissa"] as const;

/** Bits in parts separated by color, weight and gaps; those of other values than floats in one piece. */
export function bitsNode(text: string, fields: readonly number[]): HTMLElement {
  const [sign = 0, exponent = 0, mantissa = 0] = fields;
  const isFloat = fields.length === 3 && sign + exponent + mantissa === text.length;
  const ends = isFloat ? [0, sign, sign + exponent, text.length] : [0, text.length];
  const parts = ends.slice(1).map((end, part) => {
    const [name, bits] = [isFloat && FIELD_NAMES[part], text.slice(ends[part], end)];
    const look = { class: name ? `tvmdbg-bits-${name}` : undefined, title: name || "bits" };
    return bits && element("span", look, bits);
  });
  return span("tvmdbg-bits tvmdbg-anywhere", ...parts);
}

const HINT = "Point at a value, or type an index.";
const EXAMPLE = [0, 3, 2, 1, 4, 5];
/** Room beside the field's text, in letters. */
const FIELD_PAD = 3;

type ReadoutState = [shown: ShownTensor | null, point: Point | null, found: ValuesAnswer | null];

/** A line in the header: the index under the pointer or crosshair, in a field to type another, its value, and tools. */
export class Readout extends TensorPart {
  readonly more = part("readout-more tvmdbg-row tvmdbg-wrap");
  readonly #field = element("input", {
    type: "text",
    class: "tvmdbg-tensor-index",
    "aria-label": "Index, to go to another (j)",
    title: "Index: type another to go there, such as 0,3,2,1 (j)",
    autocomplete: "off",
    spellcheck: "false",
    ...KEEP_KEYS,
  });
  readonly #text = element("code", {});
  readonly #cell = muted();
  readonly #padding = piece("padding", "padding");
  readonly node = part(
    "readout tvmdbg-row tvmdbg-gap-8",
    this.#field,
    this.#text,
    this.#padding,
    this.#cell,
  );
  #state: ReadoutState = [null, null, null];

  constructor(host: TensorHost, tools: readonly HTMLElement[]) {
    super(host);
    const copy = iconButton(icons.CODE, "code", "Copy Python code for this view (y)", () =>
      host.copy(),
    );
    this.node.append(piece("tools tvmdbg-gap-4", copy, ...tools));
    this.#field.addEventListener("keydown", (event) => this.#press(event));
    this.#field.addEventListener("blur", () => {
      this.#field.removeAttribute("aria-invalid");
      this.show(...this.#state);
    });
    this.#cell.classList.add("tvmdbg-tensor-cell", "tvmdbg-clip");
    this.show(null, null, null);
  }

  focus(): void {
    this.#field.focus();
    this.#field.select();
  }

  show(...state: ReadoutState): void {
    this.#state = state;
    const [shown, point, values] = state;
    const answer = shown?.answer && hasValues(shown.answer) ? shown.answer : null;
    this.node.hidden = !answer;
    // A single value is the picture itself.
    const isLone = answer?.viewShape.every((length) => length === 1) ?? false;
    const index = answer && point && indexAt(answeredPlane(answer), point);
    const isTyped = this.#field.matches(":focus");
    if (!isTyped) this.#field.value = index?.join(", ") ?? "";
    this.#text.hidden = !index || isLone;
    this.#padding.hidden = !answer || !index || !isPadding(answer, index);
    this.#field.hidden = isLone;
    if (answer) this.#size(answer);
    if (!shown || !answer || !point || !index) {
      this.#tell(isLone ? "" : HINT);
      this.more.replaceChildren();
      return;
    }
    const value = valueText(shown, point, values);
    this.#text.textContent = isTyped ? `${indexText(index)} ${value}` : value;
    const stored = storedIndex(answer, index);
    const moved = stored.join() !== index.join() && `stored at ${indexText(stored)}`;
    const words = [moved, cellWords(answer, point)];
    this.#tell(words.filter(Boolean).join(" · "));
    this.more.replaceChildren(...more(shown, values));
  }

  #tell(words: string): void {
    this.#cell.textContent = this.#cell.title = words;
  }

  /** Makes the field as wide as the longest index; its placeholder is a valid one. */
  #size({ viewShape, valueDtype }: TensorAnswer): void {
    const example = viewShape.map((size, axis) => Math.min(EXAMPLE[axis % 6]!, size - 1));
    const longest = viewShape.map((size) => size - 1).join(", ");
    this.#field.placeholder = `index ${example.join(",")}`;
    const letters = Math.max(this.#field.placeholder.length, longest.length) + FIELD_PAD;
    this.#field.style.width = `${letters}ch`;
    this.more.classList.toggle("tvmdbg-tensor-wide-bits", /64|128/.test(valueDtype));
  }

  #press(event: KeyboardEvent): void {
    if (event.key === "Escape") this.host.leave();
    else if (event.key === "Enter") this.#go();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #go(): void {
    const wrong = this.host.typed(this.#field.value);
    if (wrong === "") return;
    this.#field.setAttribute("aria-invalid", "true");
    this.#text.hidden = true;
    this.#tell(wrong);
  }
}

/** `= 0.5` once known; until then the picture's value. */
function valueText(
  { answer, values }: ShownTensor,
  point: Point,
  reply: ValuesAnswer | null,
): string {
  const value = reply?.one?.number ?? (values.format === "number" ? reply?.text[0] : null);
  return value ? `= ${screenText(value)}` : about(answer!, point);
}

/** The value, its index and one fact. */
export function tooltipLines(
  shown: ShownTensor,
  point: Point,
  reply: ValuesAnswer | null,
): string[] {
  const { answer, values } = shown;
  if (!answer) return [];
  const index = indexAt(answeredPlane(answer), point);
  const text = reply?.text[0];
  const dequantized = values.format === "dequantized" && text !== undefined;
  const fact = dequantized ? `dequantized ${screenText(text)}` : cellWords(answer, point);
  return [
    valueText(shown, point, reply).replace(/^= /, ""),
    `at ${indexText(index)}${isPadding(answer, index) ? ", padding" : ""}`,
    fact || (reply?.one?.hex ?? ""),
  ].filter(Boolean);
}

/** Bits of the value, the step to its neighbor, and its real number. */
function more({ values }: ShownTensor, reply: ValuesAnswer | null): HTMLElement[] {
  const items: HTMLElement[] = [];
  const text = reply?.text[0];
  if (values.format === "dequantized" && text !== undefined) {
    const name = `(value ${shiftText(values.zeroPoint)}) × ${screenText(String(values.scale))} = `;
    items.push(element("span", {}, name, number(text)));
  }
  const one = reply?.one;
  if (!one) return items;
  items.push(number(one.hex), bitsNode(one.bits, one.fields));
  if (one.spacing) items.push(muted(`ulp ${screenText(one.spacing)}`));
  return items;
}

/** Value of the tile before the exact one is known. */
function about({ tile, valueDtype }: TensorAnswer, { row, col }: Point): string {
  const cell = tile && tile.rowStep * tile.colStep === 1 ? cellOf(tile, row, col) : null;
  if (!tile || cell === null) return "= …";
  const special = specialOf(tile.flags[cell]!);
  const text = special ? SPECIAL_TEXT[special] : cellText(tile.mean[cell]!, valueDtype);
  return text.startsWith("≈") ? text : `= ${text}`;
}

/** Numbers behind a cell of several values. */
function cellWords({ tile, valueDtype }: TensorAnswer, { row, col }: Point): string {
  if (!tile || tile.rowStep * tile.colStep === 1) return "";
  const cell = cellOf(tile, row, col);
  if (cell === null) return "";
  const [low, high] = [tile.minimum[cell]!, tile.maximum[cell]!].map((value) =>
    cellText(value, valueDtype),
  );
  const inside = specialsOf(tile.flags[cell]!).map((special) => SPECIAL_TEXT[special]);
  const numbers = Number.isNaN(tile.minimum[cell]!)
    ? "no finite value"
    : `mean ${meanText(tile.mean[cell]!)}, ${low} … ${high}`;
  return `cell: ${numbers}${inside.length ? `, some ${inside.join(", ")}` : ""}`;
}

/** Number of values per cell of the picture, and the number that gives it its color. */
export function cellCaption(
  { rowStep, colStep }: Pick<Tile, "rowStep" | "colStep">,
  cells: CellChoice,
): string {
  if (rowStep * colStep === 1) return "";
  const what = { mean: "mean", least: "min", largest: "max", extreme: "max abs" }[cells];
  return `each cell: ${what} of ${rowStep}×${colStep} values`;
}
