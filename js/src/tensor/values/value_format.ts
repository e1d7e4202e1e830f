import { VALUE_FORMATS, type ValueFormat } from "../../shared/client/tensor_questions.ts";
import { screenText } from "../../shared/number_text.ts";
import { element } from "../../shared/ui/dom.ts";
import { following } from "../choose/following.ts";
import { shiftText } from "../descriptions.ts";
import { field, list, part } from "../parts.ts";
import type { InspectorCommands, ValueLook } from "../state.ts";

const NAMES = [
  ["number", "decimal"],
  ["hex", "hex"],
  ["bits", "bits"],
  ["dequantised", "dequantized"],
] as const;

/** How single values are written, and by what they are dequantised. */
export class ValueFormatPicker {
  readonly node: HTMLElement;
  readonly #commands: Pick<InspectorCommands, "look" | "leave">;
  readonly #format: HTMLSelectElement;
  readonly #scale: HTMLInputElement;
  readonly #zeroPoint: HTMLInputElement;
  readonly #numbers: HTMLElement;
  readonly #legend: HTMLElement;
  #look: ValueLook = { format: "number", scale: 1, zeroPoint: 0 };

  constructor(commands: Pick<InspectorCommands, "look" | "leave">) {
    this.#commands = commands;
    this.#format = list(commands.leave, "Values as (f)", NAMES, "number", (format) =>
      commands.look({ format: format as ValueFormat }),
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
  }

  get name(): string {
    const { format, scale, zeroPoint } = this.#look;
    if (format !== "dequantised") return format === "number" ? "" : format;
    return `dequantized, (value ${shiftText(zeroPoint)}) × ${screenText(String(scale))}`;
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
    this.#commands.look({ format: following(VALUE_FORMATS, this.#look.format) });
  }

  #field(
    label: string,
    step: string,
    change: (value: number) => Partial<ValueLook>,
  ): HTMLInputElement {
    const apply = (): undefined => {
      const value = Number(input.value);
      const usable = input.value !== "" && Number.isFinite(value) && input.checkValidity();
      if (usable) this.#commands.look(change(value));
      else this.show(this.#look);
    };
    const input = field(label, { type: "number", step }, apply, this.#commands.leave);
    return input;
  }
}
