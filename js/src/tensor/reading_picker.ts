import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
import { element } from "../shared/ui/dom.ts";
import { list, muted } from "./parts.ts";
import type { Acts } from "./state.ts";

const WHY: readonly (readonly [reading: string, words: string])[] = [
  [
    "packed",
    "The file does not say whether several values share a byte (packed) or each has its own (bytes).",
  ],
  ["magnitude", "Heatmap and statistics show one real number per complex value."],
  ["as ", "This type code has had several meanings, and the file does not say which applies."],
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
      "How to read the stored bytes",
      readings.map((each) => [each, each] as const),
      reading ?? readings[0] ?? "",
      (chosen) => this.#acts.read(chosen),
    );
    this.node.replaceChildren(element("label", {}, "read as ", picker), muted(words ?? ""));
  }
}
