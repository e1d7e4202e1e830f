import { element } from "./dom.ts";

/** A live region that says in words what a view shows; not seen, but read by screen readers. */
export class Mirror {
  readonly node = element("div", {
    class: "tvmdbg-mirror",
    role: "status",
    "aria-live": "polite",
    "aria-atomic": "true",
  });

  /** What was told last. */
  #told = "";
  /** What it said as something was asked for that is not told yet. */
  #asked = "";

  /** Says what has happened. */
  say(text: string): void {
    if (this.node.textContent !== text) this.node.textContent = text;
  }

  /** Says what is shown; late, only where nothing has been said since that was told or asked for. */
  tell(text: string, isLate = false): void {
    const { textContent } = this.node;
    if (isLate && textContent !== this.#told && textContent !== this.#asked) return;
    this.#told = this.#asked = text;
    this.say(text);
  }

  /** Something else is to be shown: once it is there, it is told in the place of what is said now. */
  ask(): void {
    this.#asked = this.node.textContent ?? "";
  }
}
