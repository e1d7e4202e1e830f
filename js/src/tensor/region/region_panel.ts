import { errorText } from "../../shared/client/message.ts";
import type {
  ExactNumber,
  RegionAnswer,
  TensorAnswer,
} from "../../shared/client/tensor_questions.ts";
import * as icons from "../../shared/drawing/icons.ts";
import { integer } from "../../shared/format.ts";
import { aboutText, numberText } from "../../shared/number_text.ts";
import { element, iconButton } from "../../shared/ui/dom.ts";
import { beyondText } from "../colors/adapted_words.ts";
import { SmallHistogram } from "../distribution/small_histogram.ts";
import { muted, number, part, piece } from "../parts.ts";
import { placeText } from "../saving/code_text.ts";
import type { Region } from "../state.ts";
import { numbersOf, sizeWords, sourceWords, specialWords } from "./region_words.ts";

interface Events {
  copy(): void;
  /** Brings the region into view. */
  zoomTo(): void;
  clear(): void;
}

/** What the marked region holds: counts, bounds, mean and a small histogram. */
export class RegionPanel {
  readonly node = element("section", {
    class: "tvmdbg-tensor-region",
    "aria-label": "Marked region",
    hidden: true,
  });
  readonly #place = element("code", {});
  readonly #size = muted();
  readonly #facts = part("region-facts");
  readonly #bars: SmallHistogram;
  #dtype = "";

  constructor(root: HTMLElement, events: Events, signal: AbortSignal) {
    this.#bars = new SmallHistogram(root, signal);
    this.node.append(
      part(
        "region-bar",
        element("strong", {}, "Region"),
        this.#size,
        iconButton(icons.CODE, "copy", "Copy Python code for the region (y)", () => events.copy()),
        iconButton(icons.FIT, "zoom to", "Zoom to the region", () => events.zoomTo()),
        iconButton(icons.CLOSE, "clear", "Clear the region (Esc)", () => events.clear()),
      ),
      this.#place,
      this.#facts,
    );
  }

  inspect() {
    return this.#bars.inspect();
  }

  hide(): void {
    this.node.hidden = true;
  }

  /** The numbers of the region before stay, dimmed, until the new ones come. */
  wait(answer: TensorAnswer, region: Region): void {
    this.node.hidden = false;
    this.node.dataset.ready = "false";
    this.#dtype = answer.valueDtype;
    this.#place.textContent = placeText(answer, region);
    this.#size.textContent = sizeWords(region);
  }

  show(found: RegionAnswer): void {
    this.node.dataset.ready = "true";
    const numbers = numbersOf(found);
    const source = sourceWords(found);
    const special = specialWords(numbers);
    const beyond = beyondText(found, AUTO);
    const isBool = this.#dtype === "bool";
    this.#bars.show(found, this.#dtype);
    this.#facts.replaceChildren(
      part(
        "region-numbers",
        fact("min", numbers.minimum, this.#dtype),
        fact("max", numbers.maximum, this.#dtype),
        element("span", {}, muted("mean"), computed(numbers.mean)),
        special === "all finite" ? muted(special) : piece("loud", special),
        numbers.zero ? muted(`${integer(numbers.zero)} ${isBool ? "False" : "zero"}`) : null,
      ),
      beyond && muted(beyond),
      this.#bars.node,
      source && muted(source),
    );
  }

  fail(error: unknown): void {
    this.node.dataset.ready = "true";
    this.#facts.replaceChildren(
      element(
        "div",
        { class: "tvmdbg-error" },
        `The region could not be read: ${errorText(error)}`,
      ),
    );
  }
}

const AUTO = { scale: "auto", map: "auto", range: "auto" } as const;

/** A number in its own dtype, short. */
function fact(name: string, { text, value }: ExactNumber, dtype: string): HTMLElement {
  const shown = value === null ? text : aboutText(value, dtype);
  return element("span", {}, muted(name), number(shown, text));
}

/** One that was computed, with six digits. */
function computed({ text, value }: ExactNumber): HTMLElement {
  return number(text, value === null ? text : numberText(value));
}
