import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
import { button, element } from "../shared/ui/dom.ts";
import { muted, part, piece } from "./parts.ts";
import type { InspectorCommands, Shown } from "./state.ts";
import { isUnsure, trustWords } from "./trust_words.ts";

/** What is under way for the tensor that is shown. */
export interface Progress {
  /** Every value of the picture is being looked at. */
  refining: boolean;
  /** What the view was told to stop at. */
  stopped: boolean;
}

/** How far the picture can be believed: when it was captured, of how many values it is, and what was assumed. */
export class TrustLine {
  readonly node: HTMLElement;
  readonly #words = element("span", { class: "tvmdbg-tensor-trusted" });
  readonly #sampled = element("strong", { class: "tvmdbg-tensor-sampled", hidden: true });
  readonly #bar = element("progress", { "aria-label": "Scanning all values of the heatmap" });
  readonly #text = muted("scanning all values");
  readonly #progress: HTMLElement;
  readonly #stop: HTMLButtonElement;
  readonly #goOn: HTMLButtonElement;

  constructor({ count }: Pick<InspectorCommands, "count">) {
    this.#stop = button("stop", "Stop scanning all values (k)", () => count(false));
    this.#goOn = button("scan all values", "Scan all values (k)", () => count(true));
    this.#progress = piece("progress", this.#bar, this.#text, this.#stop, this.#goOn);
    this.node = part("trust-line", this.#sampled, this.#words, this.#progress);
  }

  show({ answer }: Shown, { refining, stopped }: Progress): void {
    this.node.hidden = !answer;
    if (!answer) return;
    const sampled = answer.tile !== null && !answer.tile.exact;
    this.#sampled.hidden = !sampled;
    this.#sampled.textContent = "◔ sampled";
    this.#sampled.title = "Drawn from a sample of the values; isolated NaN and Inf may be missing";
    this.#words.replaceChildren(...words(answer, sampled));
    this.#words.title = this.#words.textContent;
    this.#progress.hidden = !sampled || (!refining && !stopped);
    this.#bar.hidden = this.#stop.hidden = this.#text.hidden = !refining;
    this.#goOn.hidden = refining;
  }
}

function words(answer: TensorAnswer, sampled: boolean): (Node | string)[] {
  const [captured, ...more] = trustWords(answer, answer.tile && !sampled);
  const unsure = isUnsure(answer);
  const first = element("span", { class: unsure ? "tvmdbg-warning" : undefined });
  first.textContent = `${unsure ? "⚠ " : ""}${captured}`;
  return [first, ...more.flatMap((part) => [" · ", part])];
}
