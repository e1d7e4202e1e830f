import { element } from "../shared/dom.ts";
import { hinted, message, retry } from "../shared/message.ts";

/** Says in the place of a tensor why it is not there. */
export class Trouble {
  readonly node = element("div", { class: "tvmdbg-tensor-trouble", hidden: true });

  get shown(): boolean {
    return !this.node.hidden;
  }

  hide(): void {
    this.node.hidden = true;
  }

  empty(title: string, detail: string): void {
    this.#show(message("empty", title, detail));
  }

  failed(title: string, error: unknown, hint: string, again: () => void): void {
    const more = retry(error, "Ask for the tensor again", again);
    this.#show(message("error", title, hinted(error, hint)), ...(more ? [more] : []));
  }

  #show(...children: Node[]): void {
    this.node.replaceChildren(...children);
    this.node.hidden = false;
  }
}
