import {
  type TensorAnswer,
  VALUE_FORMATS,
  type ValueFormat,
  type ValuesAnswer,
} from "../../shared/client/tensor_questions.ts";
import { largest } from "../../shared/many.ts";
import { screenText } from "../../shared/number_text.ts";
import { isPadding } from "../../shared/unfold.ts";
import { div, element, span } from "../../shell/dom.ts";
import { shiftText } from "../descriptions.ts";
import { following } from "../layout_picker.ts";
import { Failure, field, Inquiry, list, muted, part, TensorPart } from "../parts.ts";
import { specialOf } from "../picture/color_scale.ts";
import { cellOf } from "../picture/plane_layout.ts";
import { answeredPlane, indexAt, type Point, planeCols, planeRows } from "../plane.ts";
import {
  hasValues,
  type Region,
  type ShownTensor,
  type TensorHost,
  type ValueLook,
  viewOf,
} from "../state.ts";
import { bitsNode } from "./readout.ts";
import { COLS, ROWS, ValuesScroll } from "./values_scroll.ts";

const NAMES = [
  ["number", "decimal"],
  ["hex", "hex"],
  ["bits", "bits"],
  ["dequantized", "dequantized"],
] as const;

class ValueFormatPicker extends TensorPart {
  readonly #format = list(this.host, "Values as (f)", NAMES, "number", (format) =>
    this.host.value({ format: format as ValueFormat }),
  );
  readonly #scale = this.#field("Scale", "any", (scale) => ({ scale }));
  readonly #zeroPoint = this.#field("Zero point", "1", (zeroPoint) => ({ zeroPoint }));
  readonly #numbers = element(
    "span",
    { class: "tvmdbg-tensor-dequantized", hidden: true },
    "(value − zero point ",
    this.#zeroPoint,
    ") × scale ",
    this.#scale,
  );
  readonly #legend = element(
    "span",
    { class: "tvmdbg-bits tvmdbg-anywhere", hidden: true },
    span("tvmdbg-bits-sign", "sign"),
    span("tvmdbg-bits-exponent", "exponent"),
    span("tvmdbg-bits-mantissa", "mantissa"),
  );
  readonly node = part(
    "format tvmdbg-row tvmdbg-wrap tvmdbg-gap-10",
    element("label", {}, "values as ", this.#format),
    this.#numbers,
    this.#legend,
  );
  #look: ValueLook = { format: "number", scale: 1, zeroPoint: 0 };

  get name(): string {
    const { format, scale, zeroPoint } = this.#look;
    if (format !== "dequantized") return format === "number" ? "" : format;
    return `dequantized, (value ${shiftText(zeroPoint)}) × ${screenText(String(scale))}`;
  }

  show(look: ValueLook): void {
    this.#look = look;
    this.#format.value = look.format;
    this.#numbers.hidden = look.format !== "dequantized";
    for (const [field, value] of [
      [this.#scale, look.scale],
      [this.#zeroPoint, look.zeroPoint],
    ] as const) {
      if (document.activeElement !== field) field.value = String(value);
    }
  }

  /** Legend of the bits of floats; empty for other numbers. */
  explain(fields: readonly number[]): void {
    this.#legend.hidden = this.#look.format !== "bits" || fields.length !== 3;
  }

  next(): void {
    this.host.value({ format: following(VALUE_FORMATS, this.#look.format) });
  }

  #field(
    label: string,
    step: string,
    change: (value: number) => Partial<ValueLook>,
  ): HTMLInputElement {
    const apply = (): undefined => {
      const value = Number(input.value);
      const usable = input.value !== "" && Number.isFinite(value) && input.checkValidity();
      if (usable) this.host.value(change(value));
      else this.show(this.#look);
    };
    const input = field(label, { type: "number", step }, apply, this.host);
    return input;
  }
}

const LETTER = 7.3;
const NARROWEST = 56;
const WAITING = "…";

/** A window into the plane's values as exact text; only visible cells are requested and built. */
export class ValuesTable extends TensorPart {
  readonly #format = new ValueFormatPicker(this.host);
  readonly #about = muted();
  readonly #grid = element("div", {
    class: "tvmdbg-values-grid",
    role: "grid",
    "aria-label": "Values",
  });
  readonly #scroll = new ValuesScroll(this.#grid, () => this.#draw(), this.host.signal);
  readonly #failure = new Failure();
  readonly node = part(
    "values",
    part("values-bar tvmdbg-row tvmdbg-wrap tvmdbg-gap-10", this.#format.node, this.#about),
    this.#scroll.node,
    this.#failure.node,
  );
  readonly #asked = new Inquiry(this.host, "values");
  #answer: TensorAnswer | null = null;
  #look: ValueLook | null = null;
  #region: Region | null = null;
  #key = "";
  #values: ValuesAnswer | null = null;
  #cross: Point | null = null;
  /** True while the table begins where the picture is zoomed to. */
  #atRegion = true;
  #wanted = false;
  #request = "";

  constructor(host: TensorHost) {
    super(host);
    this.node.hidden = true;
    this.#grid.addEventListener("pointerdown", (event) => this.#press(event), {
      signal: host.signal,
    });
  }

  get open(): boolean {
    return !this.node.hidden;
  }

  /** Shows or hides it; it stays for values without a picture. */
  toggle(): void {
    this.#wanted = !this.#wanted;
    this.#atRegion = this.#region !== null;
    this.#showNode();
    this.#scroll.follow();
    this.#reveal();
    this.#draw();
  }

  #showNode(): void {
    this.node.hidden = !this.#wanted && !this.#answer?.unordered;
  }

  nextFormat(): void {
    this.#format.next();
  }

  show(shown: ShownTensor | null): void {
    const answer = shown?.answer ?? null;
    const key = answer && shown ? JSON.stringify([viewOf(answer), shown.values]) : "";
    const region = shown?.region ?? null;
    const moved = region !== null && region.join() !== this.#region?.join();
    this.#answer = answer;
    this.#region = region;
    this.#showNode();
    if (shown) this.#format.show(shown.values);
    if (key !== this.#key) {
      this.#key = key;
      this.#look = shown?.values ?? null;
      this.#values = null;
      this.#asked.forget();
      this.#request = "";
      this.#failure.clear();
      this.#scroll.reset(this.#headWidth, NARROWEST);
      this.#name();
    }
    if (moved && this.open) {
      this.#atRegion = true;
      this.#scroll.follow();
      this.#reveal();
    }
    this.#draw();
  }

  mark(cross: Point | null): void {
    this.#cross = cross;
    if (cross && this.open) this.#atRegion = false;
    this.#scroll.follow();
    this.#reveal();
    this.#draw();
  }

  #name(): void {
    const answer = this.#answer;
    const name = this.#format.name;
    this.#grid.setAttribute("aria-label", name ? `Values, ${name}` : "Values");
    this.#about.textContent = answer
      ? [
          this.#look?.format === "dequantized" ? name : "",
          /\d/.test(answer.layout) ? `unfolded from ${answer.layout}` : "",
        ]
          .filter(Boolean)
          .join(", ")
      : "";
  }

  get #plane(): { rows: number; cols: number } {
    const answer = this.#answer;
    if (!answer || !hasValues(answer)) return { rows: 0, cols: 0 };
    const plane = answeredPlane(answer);
    return { rows: planeRows(plane), cols: planeCols(plane) };
  }

  get #headWidth(): number {
    const longest = Math.max(String(this.#plane.rows).length, this.#corner.length);
    return Math.max(36, longest * LETTER + 14);
  }

  /** Letters or numbers of the axes: down, then across. */
  get #corner(): string {
    const [down, across] = this.#answer?.axes ?? [null, null];
    const names = [this.#axisName(down), this.#axisName(across)];
    return names.filter(Boolean).join("\\");
  }

  #axisName(axis: number | null): string {
    return axis === null ? "" : (this.#answer?.axisNames[axis] ?? String(axis));
  }

  #reveal(): void {
    if (!this.open) return;
    this.#scroll.plane = this.#plane;
    if (this.#atRegion && this.#region) {
      const [row, col] = this.#region;
      this.#scroll.reveal({ row, col }, true);
    } else if (this.#cross) this.#scroll.reveal(this.#cross);
  }

  #draw(): void {
    if (!this.open || !this.#answer) {
      this.#grid.replaceChildren();
      return;
    }
    const plane = this.#plane;
    this.#scroll.plane = plane;
    this.#scroll.size();
    const [first, view] = [this.#scroll.first, this.#scroll.view];
    const rows = Math.min(view.rows, plane.rows - first.row);
    const cols = Math.min(view.cols, plane.cols - first.col);
    this.#grid.setAttribute("aria-rowcount", String(plane.rows));
    this.#grid.setAttribute("aria-colcount", String(plane.cols));
    const { colWidth } = this.#scroll;
    this.#grid.style.gridTemplateColumns = `${this.#headWidth}px repeat(${Math.max(0, cols)}, ${colWidth}px)`;
    const heads = Array.from({ length: cols }, (_, col) => header("columnheader", first.col + col));
    const corner = div("tvmdbg-values-head tvmdbg-muted", this.#corner);
    const [down, across] = this.#answer.axes.map((axis) => this.#axisName(axis));
    corner.title = `rows: axis ${down || "none"}, columns: axis ${across || "none"}`;
    const cells: HTMLElement[] = [corner, ...heads];
    for (let row = first.row; row < first.row + rows; row += 1) {
      cells.push(header("rowheader", row));
      for (let col = first.col; col < first.col + cols; col += 1) cells.push(this.#cell(row, col));
    }
    this.#grid.replaceChildren(...cells);
    if (rows > 0 && cols > 0 && !this.#covers(first, rows, cols)) this.#ask(first, view);
  }

  #cell(row: number, col: number): HTMLElement {
    const text = this.#text(row, col);
    const here = this.#cross?.row === row && this.#cross.col === col;
    const answer = this.#answer!;
    // Hex digits and bits do not show it themselves.
    const special = text !== null && (/nan|inf/i.test(text) || specialAt(answer, row, col));
    const padding = isPadding(answer, indexAt(answeredPlane(answer), { row, col }));
    const classes = [special && "tvmdbg-values-special", padding && "tvmdbg-values-padding"];
    const bits = text !== null && this.#look?.format === "bits";
    return element(
      "div",
      {
        role: "gridcell",
        class: classes.filter(Boolean).join(" ") || undefined,
        title: padding ? "padding" : undefined,
        "aria-label": padding ? `padding, ${text ?? ""}` : undefined,
        "aria-selected": here ? "true" : undefined,
        "aria-rowindex": row + 1,
        "aria-colindex": col + 1,
        "data-row": row,
        "data-col": col,
      },
      bits
        ? bitsNode(text, this.#values?.fields ?? [])
        : text === null
          ? WAITING
          : screenText(text),
    );
  }

  #text(row: number, col: number): string | null {
    const values = this.#values;
    if (!values) return null;
    const [down, across] = [row - values.row, col - values.col];
    if (down < 0 || across < 0 || down >= values.rows || across >= values.cols) return null;
    return values.text[down * values.cols + across] ?? null;
  }

  #covers(first: Point, rows: number, cols: number): boolean {
    const last = this.#text(first.row + rows - 1, first.col + cols - 1);
    return this.#text(first.row, first.col) !== null && last !== null;
  }

  #ask(first: Point, view: { rows: number; cols: number }): void {
    const [answer, look] = [this.#answer, this.#look];
    if (!answer || !look) return;
    const plane = this.#plane;
    const rows = Math.min(ROWS, plane.rows);
    const cols = Math.min(COLS, plane.cols);
    const about = (start: number, seen: number, wanted: number, all: number) =>
      Math.max(0, Math.min(all - wanted, start - Math.floor((wanted - seen) / 2)));
    const row = about(first.row, view.rows, rows, plane.rows);
    const col = about(first.col, view.cols, cols, plane.cols);
    const wanted = `${row}:${col}`;
    if (wanted === this.#request) return;
    this.#request = wanted;
    const done = () => {
      if (this.#request === wanted) this.#request = "";
    };
    this.#asked.ask(
      { ...viewOf(answer), ...look, row, col, rows, cols },
      (values) => {
        done();
        this.#values = values;
        this.#failure.clear();
        this.#format.explain(values.fields);
        const longest = largest(values.text.map((text) => screenText(text).length));
        const gaps = look.format === "bits" ? 2 : 0;
        this.#scroll.widen(Math.ceil((longest + gaps) * LETTER) + 14);
        this.#reveal();
        this.#draw();
      },
      (error) => {
        this.#failure.tell("values", error);
        for (const cell of this.#grid.querySelectorAll("[role=gridcell]")) {
          if (cell.textContent === WAITING) cell.textContent = "";
        }
        done();
      },
    );
  }

  #press(event: PointerEvent): void {
    const cell =
      event.target instanceof HTMLElement ? event.target.closest("[role=gridcell]") : null;
    if (!(cell instanceof HTMLElement) || event.button !== 0) return;
    event.preventDefault();
    this.host.leave();
    this.host.panels.cross.mark({
      row: Number(cell.dataset.row),
      col: Number(cell.dataset.col),
    });
  }
}

/** True if the picture has a single, non-finite value here. */
function specialAt({ tile }: TensorAnswer, row: number, col: number): boolean {
  const cell = tile && tile.rowStep * tile.colStep === 1 ? cellOf(tile, row, col) : null;
  return cell !== null && specialOf(tile!.flags[cell]!) !== null;
}

function header(role: "columnheader" | "rowheader", index: number): HTMLElement {
  return element("div", { role, class: "tvmdbg-values-head tvmdbg-muted" }, String(index));
}
