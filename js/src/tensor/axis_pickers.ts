import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
import { button, element, KEEP_KEYS, select } from "../shell/dom.ts";
import { list, muted, piece, TensorPart } from "./parts.ts";
import { axisText, fixedAxes, type Plane, swapped, withAxis, withIndex } from "./plane.ts";
import type { ShownTensor, TensorHost } from "./state.ts";

const MANY = 2;

export class AxisPickers extends TensorPart {
  readonly node = element("div", {
    class: "tvmdbg-tensor-axes",
    role: "group",
    "aria-label": "Axes",
  });
  #built = "";
  #inputs = new Map<number, { slider: HTMLInputElement; number: HTMLInputElement }>();
  #plane: Plane | null = null;
  #names: readonly string[] = [];

  /** Keeps unchanged fields, so that a slider can be dragged while answers come. */
  show(plane: Plane | null, names: readonly string[]): void {
    this.#plane = plane;
    this.#names = names.length === plane?.shape.length ? names : [];
    const key = plane ? `${plane.shape.join()}|${plane.axes.join()}|${this.#names.join()}` : "";
    if (key !== this.#built) {
      this.#built = key;
      this.#inputs.clear();
      this.node.replaceChildren(...(plane ? this.#build(plane) : []));
      this.node.hidden = this.node.childElementCount === 0;
    }
    if (!plane) return;
    for (const [axis, { slider, number }] of this.#inputs) {
      const text = String(plane.index[axis]);
      if (slider.value !== text) slider.value = text;
      if (number.value !== text && document.activeElement !== number) number.value = text;
    }
  }

  #build(plane: Plane): HTMLElement[] {
    const fields: HTMLElement[] = [];
    if (plane.shape.length >= MANY) {
      fields.push(
        element("label", {}, "rows ", this.#axis(plane, "down")),
        button("⇄", "Swap rows and columns (s)", () => {
          this.host.look(swapped);
        }),
        element("label", {}, "columns ", this.#axis(plane, "across")),
      );
    }
    for (const axis of fixedAxes(plane)) {
      const length = plane.shape[axis]!;
      if (length > 1) fields.push(this.#slider(axis, length));
    }
    return fields;
  }

  #axis(plane: Plane, side: "down" | "across"): HTMLSelectElement {
    const choices = plane.shape.map(
      (length, axis) => [String(axis), `${axisText(this.#names, axis)} (${length})`] as const,
    );
    const none = side === "down" ? [["", "none"] as const] : [];
    const chosen = plane.axes[side === "down" ? 0 : 1];
    return select(
      `Axis for ${side === "down" ? "rows" : "columns"}`,
      [...none, ...choices],
      chosen === null ? "" : String(chosen),
      (value) => {
        const axis = value === "" ? null : Number(value);
        this.host.look((plane) => withAxis(plane, side, axis));
      },
    );
  }

  #slider(axis: number, length: number): HTMLElement {
    const name = axisText(this.#names, axis);
    const field = {
      min: 0,
      max: length - 1,
      step: 1,
      value: this.#plane?.index[axis] ?? 0,
      ...KEEP_KEYS,
    };
    const slider = element("input", {
      type: "range",
      "aria-label": `Index along ${name}`,
      ...field,
    });
    const number = element("input", {
      type: "number",
      "aria-label": `Index along ${name} (number)`,
      ...field,
    });
    const set = (input: HTMLInputElement) => {
      const index = Number(input.value);
      if (input.value !== "") this.host.look((plane) => withIndex(plane, axis, index));
    };
    for (const input of [slider, number]) {
      input.addEventListener("input", () => set(input));
      input.addEventListener("keydown", (event) => {
        if (event.key === "Escape" || (event.key === "Enter" && input === number)) {
          event.preventDefault();
          this.host.leave();
        }
      });
    }
    number.addEventListener("blur", () => {
      number.value = String(this.#plane?.index[axis] ?? 0);
    });
    this.#inputs.set(axis, { slider, number });
    return piece("fixed tvmdbg-inline tvmdbg-wrap", name, slider, number, muted(`of ${length}`));
  }
}

const WHY: readonly (readonly [reading: string, words: string])[] = [
  [
    "packed",
    "The file does not say whether several values share a byte (packed) or each has its own (bytes).",
  ],
  ["magnitude", "Heatmap and statistics show one real number per complex value."],
  ["as ", "This type code has had several meanings, and the file does not say which applies."],
];

/** Choice among the readings of a dtype whose bytes are ambiguous. */
export class ReadingPicker extends TensorPart {
  readonly node = element("div", {
    class: "tvmdbg-tensor-reading tvmdbg-row tvmdbg-wrap tvmdbg-gap-10",
    hidden: true,
  });
  #built = "";

  show({ readings, reading }: TensorAnswer): void {
    this.node.hidden = readings.length < 2;
    const built = `${readings.join("\n")}\n\n${reading}`;
    if (built === this.#built) return;
    this.#built = built;
    const words = WHY.find(([prefix]) => readings.some((name) => name.startsWith(prefix)))?.[1];
    const picker = list(
      this.host,
      "How to read the stored bytes",
      readings.map((reading) => [reading, reading] as const),
      reading ?? readings[0] ?? "",
      (chosen) => this.host.read(chosen),
    );
    this.node.replaceChildren(element("label", {}, "read as ", picker), muted(words ?? ""));
  }
}

export class AlongPicker extends TensorPart {
  readonly node = element("span", {});

  constructor(
    host: TensorHost,
    readonly words: string,
    readonly title: string,
  ) {
    super(host);
  }

  /** Keeps the keyboard while the choices change. */
  show({ answer, along }: ShownTensor, axes: readonly number[]): void {
    const held = this.node.contains(document.activeElement);
    const choice = list(
      this.host,
      this.title,
      axes.map((axis) => {
        const name = axisText(answer!.axisNames, axis);
        return [String(axis), `${name} (${answer!.viewShape[axis]})`] as const;
      }),
      String(along),
      (axis) => this.host.along(Number(axis)),
    );
    this.node.replaceChildren(...(axes.length ? [element("label", {}, this.words, choice)] : []));
    if (held) choice.focus({ preventScroll: true });
  }
}
