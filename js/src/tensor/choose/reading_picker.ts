import type { TensorAnswer } from "../../shared/client/tensor_questions.ts";
import { element } from "../../shared/ui/dom.ts";
import { list, muted } from "../parts.ts";
import type { InspectorCommands } from "../state.ts";

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
  readonly #commands: Pick<InspectorCommands, "read" | "leave">;
  #built = "";

  constructor(commands: Pick<InspectorCommands, "read" | "leave">) {
    this.#commands = commands;
  }

  show({ readings, reading }: TensorAnswer): void {
    this.node.hidden = readings.length < 2;
    const built = `${readings.join("\n")}\n\n${reading}`;
    if (built === this.#built) return;
    this.#built = built;
    const words = WHY.find(([each]) => readings.some((name) => name.startsWith(each)))?.[1];
    const picker = list(
      this.#commands.leave,
      "How to read the stored bytes",
      readings.map((each) => [each, each] as const),
      reading ?? readings[0] ?? "",
      (chosen) => this.#commands.read(chosen),
    );
    this.node.replaceChildren(element("label", {}, "read as ", picker), muted(words ?? ""));
  }
}
