import { button, element } from "../shared/dom.ts";
import { message } from "../shared/message.ts";

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

  failed(title: string, detail: string, again: () => void): void {
    this.#show(message("error", title, detail), button("retry", "Ask for the tensor again", again));
  }

  #show(...children: Node[]): void {
    this.node.replaceChildren(...children);
    this.node.hidden = false;
  }
}
