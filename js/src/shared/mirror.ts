import { element } from "./dom.ts";

/** A live region that says in words what a view shows; not seen, but read by screen readers. */
export class Mirror {
  readonly node = element("div", {
    class: "tvmdbg-mirror",
    role: "status",
    "aria-live": "polite",
    "aria-atomic": "true",
  });

  say(text: string): void {
    if (this.node.textContent !== text) this.node.textContent = text;
  }
}
