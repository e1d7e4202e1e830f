import { element, select } from "../shared/dom.ts";
import type { TensorAnswer } from "../shared/tensor_questions.ts";
import { muted } from "./parts.ts";

/** For values below a byte: how they lie in the file, which the file does not say. */
export class ReadingPicker {
  readonly node = element("div", { class: "tvmdbg-tensor-reading", hidden: true });
  readonly #choose: (reading: string) => void;

  constructor(choose: (reading: string) => void) {
    this.#choose = choose;
  }

  show({ readings, reading }: TensorAnswer): void {
    this.node.hidden = readings.length < 2;
    this.node.replaceChildren(
      element(
        "label",
        {},
        "read as ",
        select(
          "How the file holds values below a byte",
          readings.map((each) => [each, each] as const),
          reading ?? readings[0] ?? "",
          this.#choose,
        ),
      ),
      muted(
        "The file does not say whether several values share a byte (packed) or each has its own (bytes).",
      ),
    );
  }
}
