import { hinted, message, retry } from "../shared/client/message.ts";
import { element } from "../shared/ui/dom.ts";

/** Says in the place of a tensor why it is not there. */
export class Trouble {
  readonly node = element("div", { class: "tvmdbg-tensor-trouble", hidden: true });

  #error: unknown = null;

  get shown(): boolean {
    return !this.node.hidden;
  }

  hide(): void {
    this.node.hidden = true;
  }

  empty(title: string, detail: string): void {
    this.#show(message("empty", title, detail));
  }

  /** What is said already stays as it is, so that it is not read out again. */
  failed(title: string, error: unknown, hint: string, again: () => void): void {
    if (this.shown && this.#error === error) return;
    const more = retry(error, "Ask for the tensor again", again);
    this.#show(message("error", title, hinted(error, hint)), ...(more ? [more] : []));
    this.#error = error;
  }

  #show(...children: Node[]): void {
    this.#error = null;
    this.node.replaceChildren(...children);
    this.node.hidden = false;
  }
}
