import { element } from "../shared/dom.ts";
import type { TensorAnswer } from "../shared/tensor_questions.ts";
import { list, muted } from "./parts.ts";
import type { Acts } from "./state.ts";

const WHY: readonly (readonly [reading: string, words: string])[] = [
  [
    "packed",
    "The file does not say whether several values share a byte (packed) or each has its own (bytes).",
  ],
  ["magnitude", "Complex numbers are shown by one real number each; statistics are of the same."],
  ["as ", "The file's type code has had several meanings; nothing in it says which is meant."],
];

/** For dtypes whose bytes can be read in several ways: which way is shown. */
export class ReadingPicker {
  readonly node = element("div", { class: "tvmdbg-tensor-reading", hidden: true });
  readonly #acts: Pick<Acts, "read" | "leave">;
  #built = "";

  constructor(acts: Pick<Acts, "read" | "leave">) {
    this.#acts = acts;
  }

  show({ readings, reading }: TensorAnswer): void {
    this.node.hidden = readings.length < 2;
    const built = `${readings.join("\n")}\n\n${reading}`;
    if (built === this.#built) return;
    this.#built = built;
    const words = WHY.find(([each]) => readings.some((name) => name.startsWith(each)))?.[1];
    const picker = list(
      this.#acts.leave,
      "How the stored bytes are read",
      readings.map((each) => [each, each] as const),
      reading ?? readings[0] ?? "",
      (chosen) => this.#acts.read(chosen),
    );
    this.node.replaceChildren(element("label", {}, "read as ", picker), muted(words ?? ""));
  }
}
