import { element, KEEP_KEYS, select } from "../shared/dom.ts";
import { VALUE_FORMATS, type ValueFormat } from "../shared/tensor_questions.ts";
import { part } from "./parts.ts";
import type { Acts, ValueLook } from "./state.ts";

const CHOICES = VALUE_FORMATS.map((each) => [each, each] as const);

/** How single values are written, and by what they are dequantised. */
export class ValueFormatPicker {
  readonly node: HTMLElement;
  readonly #acts: Pick<Acts, "look" | "leave">;
  readonly #format: HTMLSelectElement;
  readonly #scale: HTMLInputElement;
  readonly #zeroPoint: HTMLInputElement;
  readonly #numbers: HTMLElement;
  readonly #legend: HTMLElement;
  #look: ValueLook = { format: "number", scale: 1, zeroPoint: 0 };

  constructor(acts: Pick<Acts, "look" | "leave">) {
    this.#acts = acts;
    this.#format = select("Values as (f)", CHOICES, "number", (format) =>
      acts.look({ format: format as ValueFormat }),
    );
    this.#scale = this.#field("Scale", "any", (scale) => ({ scale }));
    this.#zeroPoint = this.#field("Zero point", "1", (zeroPoint) => ({ zeroPoint }));
    this.#numbers = element(
      "span",
      { class: "tvmdbg-tensor-dequantised", hidden: true },
      "(value − zero point ",
      this.#zeroPoint,
      ") × scale ",
      this.#scale,
    );
    this.#legend = element(
      "span",
      { class: "tvmdbg-bits", hidden: true },
      element("span", { class: "tvmdbg-bits-sign" }, "sign"),
      element("span", { class: "tvmdbg-bits-exponent" }, "exponent"),
      element("span", { class: "tvmdbg-bits-mantissa" }, "mantissa"),
    );
    this.node = part(
      "format",
      element("label", {}, "values as ", this.#format),
      this.#numbers,
      this.#legend,
    );
    this.#format.addEventListener("keydown", (event) => {
      if (event.key === "Escape") acts.leave();
    });
  }

  get name(): string {
    const { format, scale, zeroPoint } = this.#look;
    if (format !== "dequantised") return format === "number" ? "" : format;
    return `dequantised, (value − ${zeroPoint}) × ${scale}`;
  }

  show(look: ValueLook): void {
    this.#look = look;
    this.#format.value = look.format;
    this.#numbers.hidden = look.format !== "dequantised";
    for (const [field, value] of [
      [this.#scale, look.scale],
      [this.#zeroPoint, look.zeroPoint],
    ] as const) {
      if (document.activeElement !== field) field.value = String(value);
    }
  }

  /** Says which bits are which; not of numbers that are no floats. */
  explain(fields: readonly number[]): void {
    this.#legend.hidden = this.#look.format !== "bits" || fields.length !== 3;
  }

  next(): void {
    const at = VALUE_FORMATS.indexOf(this.#look.format);
    this.#acts.look({ format: VALUE_FORMATS[(at + 1) % VALUE_FORMATS.length]! });
  }

  #field(
    label: string,
    step: string,
    change: (value: number) => Partial<ValueLook>,
  ): HTMLInputElement {
    const field = element("input", { type: "number", "aria-label": label, step, ...KEEP_KEYS });
    field.addEventListener("change", () => {
      const value = Number(field.value);
      const usable = field.value !== "" && Number.isFinite(value) && field.checkValidity();
      if (usable) this.#acts.look(change(value));
      else this.show(this.#look);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape" || event.key === "Enter") {
        if (event.key === "Enter") field.dispatchEvent(new Event("change"));
        this.#acts.leave();
      }
    });
    return field;
  }
}
