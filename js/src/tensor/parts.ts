import type { RunQuestions, RunReplies } from "../shared/client/answers.ts";
import { errorText, isAbort, NewestWins } from "../shared/client/request.ts";
import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
import { screenText } from "../shared/number_text.ts";
import { shortName } from "../shared/short_name.ts";
import { logicalIndex } from "../shared/unfold.ts";
import { button, div, element, KEEP_KEYS, select, span } from "../shell/dom.ts";
import { indexText } from "./plane.ts";
import type { TensorHost } from "./state.ts";

/** A part of the inspector, with what it shows its results in; its fields may be made with both. */
export class TensorPart<Beside = undefined> {
  constructor(
    protected readonly host: TensorHost,
    protected readonly beside = undefined as Beside,
  ) {}
}

/** Writes a name, shortened in the middle, into a box that it must not overflow. */
export function fitName(box: HTMLElement, name: string, write: (text: string) => void): void {
  const fits = (text: string) => {
    write(text);
    return box.scrollWidth <= box.clientWidth;
  };
  write(box.clientWidth > 0 ? shortName(name, fits) : name);
}

type PartChild = Node | string | null | false;

/** A box of the inspector, styled as `.tvmdbg-tensor-<name>`. */
export function part(name: string, ...children: PartChild[]): HTMLDivElement {
  return div(`tvmdbg-tensor-${name}`, ...children);
}

export function piece(name: string, ...children: PartChild[]): HTMLSpanElement {
  return span(`tvmdbg-tensor-${name}`, ...children);
}

/** A field applied on Enter or when left, after which the view has the keys again; false refuses the text. */
export function field(
  label: string,
  attributes: Record<string, string | number>,
  apply: () => boolean | undefined | Promise<boolean>,
  host: TensorHost,
): HTMLInputElement {
  const input = element("input", {
    type: "text",
    "aria-label": label,
    title: label,
    ...attributes,
    ...KEEP_KEYS,
  });
  input.addEventListener("change", apply);
  input.addEventListener("keydown", async (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (event.key === "Escape" || (await apply()) !== false) host.leave();
  });
  return input;
}

/** A list of choices from which Escape gives the keys back to the view. */
export function list(
  host: TensorHost,
  ...choice: Parameters<typeof select>
): ReturnType<typeof select> {
  const node = select(...choice);
  node.addEventListener("keydown", (event) => {
    if (event.key === "Escape") host.leave();
  });
  return node;
}

/** A shortened number; its tooltip and copies have the full text. */
export function number(text: string, full = text): HTMLSpanElement {
  const node = piece("number tvmdbg-nowrap", screenText(text));
  node.dataset.copy = full;
  if (full !== text) node.title = screenText(full);
  return node;
}

export function muted(...children: PartChild[]): HTMLSpanElement {
  return span("tvmdbg-muted", ...children);
}

export class Failure {
  readonly node = element("div", { class: "tvmdbg-error", role: "alert", hidden: true });

  tell(what: string, error: unknown): void {
    this.node.textContent = `The ${what} could not be read: ${errorText(error)}`;
    this.node.hidden = false;
  }

  clear(): void {
    this.node.hidden = true;
  }
}

/** Asks for what a part shows, once it rests; the newest question wins. */
export class Inquiry<Kind extends keyof RunQuestions & keyof RunReplies> {
  readonly #newest = new NewestWins();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ticket = 0;

  constructor(
    readonly host: TensorHost,
    readonly kind: Kind,
    readonly restMs = 0,
  ) {
    host.signal.addEventListener("abort", () => this.forget());
  }

  /** Ignores the answers to all questions so far. */
  forget(): void {
    clearTimeout(this.#timer);
    this.#ticket += 1;
  }

  ask(
    question: RunQuestions[Kind] & object,
    found: (answer: RunReplies[Kind]) => void,
    failed: (error: unknown) => void,
  ): void {
    clearTimeout(this.#timer);
    const [ticket, { run }] = [this.#ticket, this.host];
    const send = async () => {
      try {
        const answer = await this.#newest.ask(() => run.ask(this.kind, question as never));
        if (ticket === this.#ticket) found(answer);
      } catch (error) {
        if (ticket === this.#ticket && !isAbort(error)) failed(error);
      }
    };
    if (this.restMs) this.#timer = setTimeout(send, this.restMs);
    else void send();
  }
}

/** A link to a value by its stored index, with its index among the shown axes. */
export function placeButton(
  answer: TensorAnswer | null,
  stored: readonly number[] | null,
  title: string,
  host: TensorHost,
  before = "at ",
): HTMLButtonElement | null {
  if (!stored) return null;
  const shown = indexText(answer ? logicalIndex(answer, stored) : stored);
  const unfolded = answer?.layout ? `, stored at ${indexText(stored)}` : "";
  const node = button(`${before}${shown}`, `${title}${unfolded}`, () => host.go(stored, "stored"));
  node.dataset.key = title;
  return node;
}
