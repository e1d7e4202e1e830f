import * as icons from "../drawing/icons.ts";
import { iconButton } from "./dom.ts";
import type { KeyAction } from "./keys.ts";
import type { ViewOptions } from "./view_options.ts";

const TOGGLE = "tvmdbg:full-screen";
const FILLS = "tvmdbg-fills";
const KEY = "Shift+F";

/** The button in the toolbar of `root` that lets it fill the screen, and takes it back. */
export function fullScreenButton(root: HTMLElement, key = KEY): HTMLButtonElement {
  const title = `full screen (${key})`;
  const node = iconButton(icons.FULL_SCREEN, "full screen", title, () => toggleFullScreen(root));
  node.classList.add("tvmdbg-full-screen");
  node.setAttribute("aria-pressed", "false");
  return node;
}

export function fullScreenAction(root: HTMLElement): KeyAction {
  return { keys: [KEY], does: "enter or leave full screen", run: () => toggleFullScreen(root) };
}

export function toggleFullScreen(root: HTMLElement): void {
  root.dispatchEvent(new CustomEvent(TOGGLE));
}

/** Lets a view fill the screen, or the page where its host forbids that: its height is that of the window then. */
export function withFullScreen<T extends { height: unknown }>(
  root: HTMLElement,
  options: ViewOptions<T>,
  signal: AbortSignal,
): ViewOptions<T> {
  const screen = new FullScreen(root, signal);
  return {
    get: (name) => (screen.fills && name === "height" ? (innerHeight as never) : options.get(name)),
    set: (name, value) => options.set(name, value),
    onChange: (name, listener, signal) => {
      options.onChange(name, listener, signal);
      if (name === "height") screen.onChange(listener, signal);
    },
  };
}

class FullScreen {
  readonly #root: HTMLElement;
  #filled: "screen" | "page" | null = null;
  #listeners: (() => void)[] = [];

  constructor(root: HTMLElement, signal: AbortSignal) {
    this.#root = root;
    root.addEventListener(TOGGLE, () => void this.#toggle(), { signal });
    root.addEventListener("keydown", (event) => this.#escape(event), { signal, capture: true });
    document.addEventListener("fullscreenchange", () => this.#left(), { signal });
    addEventListener("resize", () => this.fills && this.#tell(), { signal });
    signal.addEventListener("abort", () => void this.#leave());
  }

  get fills(): boolean {
    return this.#filled !== null;
  }

  onChange(listener: () => void, signal: AbortSignal): void {
    this.#listeners.push(listener);
    signal.addEventListener("abort", () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    });
  }

  async #toggle(): Promise<void> {
    if (this.fills) return this.#leave();
    const onScreen = await this.#root.requestFullscreen?.().then(
      () => true,
      () => false,
    );
    if (!onScreen) {
      this.#root.popover = "manual";
      this.#root.showPopover?.();
    }
    this.#fill(onScreen ? "screen" : "page");
  }

  async #leave(): Promise<void> {
    if (this.#filled === "screen" && this.#onScreen) await document.exitFullscreen();
    this.#fill(null);
  }

  /** The browser itself leaves full screen on Escape. */
  #left(): void {
    if (this.#filled === "screen" && !this.#onScreen) this.#fill(null);
  }

  /** Whether the view, or one that it holds, is on the whole screen. */
  get #onScreen(): boolean {
    const { fullscreenElement } = this.#root.getRootNode() as Document;
    return this.#root.contains(fullscreenElement);
  }

  #fill(filled: "screen" | "page" | null): void {
    if (filled === null) this.#root.popover = null;
    this.#filled = filled;
    this.#root.classList.toggle(FILLS, this.fills);
    const button = this.#root.querySelector(":scope > .tvmdbg-bar .tvmdbg-full-screen");
    button?.setAttribute("aria-pressed", String(this.fills));
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** A view that fills the page goes back where Escape has nothing else to close. */
  #escape(event: KeyboardEvent): void {
    if (event.key !== "Escape" || this.#filled !== "page") return;
    const target = event.target as HTMLElement;
    const isInner = this.#root.querySelector(`.${FILLS}`) !== null;
    const isOpen = target.querySelector(":scope > .tvmdbg-help:not([hidden])") !== null;
    if (isInner || isOpen || !target.matches(".tvmdbg, .tvmdbg-bar > button")) return;
    event.preventDefault();
    event.stopPropagation();
    void this.#leave();
  }
}
