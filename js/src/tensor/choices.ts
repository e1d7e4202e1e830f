import * as icons from "../shared/drawing/icons.ts";
import { element, iconButton } from "../shell/dom.ts";
import { TensorPart } from "./parts.ts";
import type { TensorHost } from "./state.ts";

/** Space around the popover, CSS px. */
const APART = 4;

/** All controls of the view: above the picture where there is room, else in a popover below their button. */
export class Choices extends TensorPart {
  readonly node: HTMLElement;
  readonly button = iconButton(
    icons.CONTROLS,
    "controls",
    "View, axes, layout and colors",
    () => {},
  );

  constructor(host: TensorHost, ...controls: readonly HTMLElement[]) {
    super(host);
    this.node = element(
      "div",
      { class: "tvmdbg-tensor-choices", role: "group", "aria-label": "Controls", popover: "auto" },
      ...controls,
    );
    this.button.classList.add("tvmdbg-tensor-choices-button");
    this.button.popoverTargetElement = this.node;
    this.node.addEventListener("toggle", () => this.#place());
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Escape") host.leave();
    });
    // What it belongs to moves away.
    addEventListener(
      "scroll",
      ({ target }) => !this.node.contains(target as Node) && this.close(),
      {
        signal: host.signal,
        capture: true,
      },
    );
  }

  close(): void {
    if (this.#open) this.node.hidePopover();
  }

  /** Stays below its button when the view is resized, for as long as there is a button. */
  resized(): void {
    if (this.button.checkVisibility()) this.#place();
    else this.close();
  }

  get #open(): boolean {
    return this.node.matches(":popover-open");
  }

  /** Below the button, as far as the window has room. */
  #place(): void {
    if (!this.#open) return;
    const { style, offsetWidth, offsetHeight } = this.node;
    const { right, bottom } = this.button.getBoundingClientRect();
    const within = (at: number, size: number, room: number) =>
      Math.max(APART, Math.min(at, room - size - APART));
    style.left = `${within(right - offsetWidth, offsetWidth, innerWidth)}px`;
    style.top = `${within(bottom + APART, offsetHeight, innerHeight)}px`;
  }
}
