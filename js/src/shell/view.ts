import type { AnyModel, RenderProps } from "@anywidget/types";
import { type Client, clientOf } from "../shared/client/client.ts";
import { SessionClient, type SessionState } from "../shared/client/session_client.ts";
import * as icons from "../shared/drawing/icons.ts";
import { applyTheme } from "../shared/drawing/theme.ts";
import { iconButton, letSave } from "./dom.ts";
import type { KeyAction } from "./keys.ts";

/** Learns whether the view itself, which holds these options, has made the change. */
type OptionListener = (isOwn?: boolean) => void;

export interface ViewOptions<T> {
  get<K extends keyof T & string>(name: K): T[K];
  set<K extends keyof T & string>(name: K, value: T[K]): void;
  onChange<K extends keyof T & string>(
    name: K,
    listener: OptionListener,
    signal: AbortSignal,
  ): void;
}

/**
 * Hides the figure of a view while the view is on the page. A cell holds the figure as an output of its own, for a
 * saved notebook. In JupyterLab and Notebook 7 only the one beside the view is hidden: another notebook on the page may
 * hold a copy of the cell, without a view. A style element would violate the policy of pages that allow only known
 * styles.
 */
function hideSavedFigure(id: string, root: HTMLElement, signal: AbortSignal): void {
  const [view, figure] = [`tvmdbg-live-${id}`, `tvmdbg-saved-${id}`].map(CSS.escape);
  root.classList.add(`tvmdbg-live-${id}`);
  const sheet = new CSSStyleSheet();
  const output = ".jp-OutputArea-child:has(> .jp-OutputArea-output";
  sheet.replaceSync(
    `${output} .${view}) ~ ${output} > .${figure}), body:not([data-jp-theme-light]) .${figure} { display: none }`,
  );
  document.adoptedStyleSheets.push(sheet);
  signal.addEventListener("abort", () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
  });
}

/** The element of a view; a saved page has no figure of it to hide. */
export function viewRoot(
  el: HTMLElement,
  figureId: string | undefined,
  signal: AbortSignal,
): HTMLElement {
  const root = document.createElement("div");
  el.append(root);
  signal.addEventListener("abort", () => root.remove());
  applyTheme(root, signal);
  letSave(root, signal);
  if (figureId) hideSavedFigure(figureId, root, signal);
  return root;
}

const LEAST = 480;
/** Height to assume if nothing scrolls and the window is as high as its content. */
const UNKNOWN = 720;
/** Free space above and below a view in the visible part of the notebook, CSS px. */
const AROUND = 16;

/** Options whose height "auto" is that of the notebook's viewport, up to `most`. */
function withAutoHeight<T extends { height: unknown }>(
  root: HTMLElement,
  options: ViewOptions<T>,
  signal: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): ViewOptions<T> {
  const room = new Room(root, most, signal);
  return withHeight(options, room, (height) => (height === "auto" ? room.height : height));
}

/** Options with a height adjusted by `of`, and a `source` of its changes. */
function withHeight<T extends { height: unknown }>(
  options: ViewOptions<T>,
  source: { onChange(listener: () => void, signal: AbortSignal): void },
  of: (height: unknown) => unknown,
): ViewOptions<T> {
  return {
    get: (name) => (name === "height" ? (of(options.get(name)) as never) : options.get(name)),
    set: (name, value) => options.set(name, value),
    onChange: (name, listener, signal) => {
      options.onChange(name, listener, signal);
      if (name === "height") source.onChange(listener, signal);
    },
  };
}

/** The visible part of a notebook. */
class Room {
  readonly #root: HTMLElement;
  readonly #most: number;
  readonly #listeners = new Set<() => void>();
  readonly #observer = new ResizeObserver(() => this.#look());
  #scroller: Element | null = null;
  #height = 0;

  constructor(root: HTMLElement, most: number, signal: AbortSignal) {
    this.#root = root;
    this.#most = most;
    this.#observer.observe(root);
    addEventListener("resize", () => this.#look(), { signal });
    signal.addEventListener("abort", () => this.#observer.disconnect());
  }

  get height(): number {
    if (!this.#height) this.#height = this.#measured();
    return this.#height;
  }

  onChange(listener: () => void, signal: AbortSignal): void {
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener));
  }

  #look(): void {
    const height = this.#measured();
    if (height === this.#height) return;
    this.#height = height;
    for (const listener of this.#listeners) listener();
  }

  #measured(): number {
    const scroller = scrollerOf(this.#root);
    if (scroller !== this.#scroller) {
      if (this.#scroller) this.#observer.unobserve(this.#scroller);
      if (scroller) this.#observer.observe(scroller);
      this.#scroller = scroller;
    }
    const seen = scroller?.clientHeight ?? windowHeight();
    return Math.min(this.#most, Math.max(LEAST, Math.round(seen - AROUND)));
  }
}

/** The innermost scrolling ancestor; null if the window scrolls. */
function scrollerOf(root: HTMLElement): Element | null {
  for (let at = root.parentElement; at && at !== document.body; at = at.parentElement) {
    const { overflowY, maxHeight } = getComputedStyle(at);
    // An output that is cut at its own height is no viewport.
    if (
      /auto|scroll/.test(overflowY) &&
      maxHeight === "none" &&
      at.clientHeight > 0 &&
      at.scrollHeight > at.clientHeight
    )
      return at;
  }
  return null;
}

/** A frame that grows with its content has no height of its own. */
function windowHeight(): number {
  const grows = window !== window.parent && document.body.scrollHeight >= innerHeight - AROUND;
  return grows ? UNKNOWN : innerHeight;
}

const TOGGLE = "tvmdbg:full-screen";
const FILLS = "tvmdbg-fills";
const KEY = "Shift+F";

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

/** Lets a view fill the screen, or the page if the host forbids that; its height is that of the window then. */
export function withFullScreen<T extends { height: unknown }>(
  root: HTMLElement,
  options: ViewOptions<T>,
  signal: AbortSignal,
): ViewOptions<T> {
  const screen = new FullScreen(root, signal);
  return withHeight(options, screen, (height) => (screen.fills ? innerHeight : height));
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
      this.#listeners = this.#listeners.filter((other) => other !== listener);
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

  #left(): void {
    if (this.#filled === "screen" && !this.#onScreen) this.#fill(null);
  }

  /** True if the view, or one inside it, fills the screen. */
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

  /** Escape leaves the full page unless it has something else to close. */
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

export interface ViewContext<T> {
  run: Client;
  session: SessionClient;
  options: ViewOptions<T>;
  signal: AbortSignal;
}

export type Mount<T> = (root: HTMLElement, context: ViewContext<T>) => void | Promise<void>;

export interface ViewState {
  run: string;
  session: string;
  _figure_id?: string;
}

export function modelOptions<T>(model: AnyModel): ViewOptions<T> {
  let isOwn = false;
  return {
    get: (name) => model.get(name) as never,
    set: (name, value) => {
      if (JSON.stringify(model.get(name)) === JSON.stringify(value)) return;
      const outer = isOwn; // a listener may set another option
      isOwn = true;
      try {
        model.set(name, value);
      } finally {
        isOwn = outer;
      }
      model.save_changes();
    },
    onChange: (name, listener, signal) => {
      const changed = () => listener(isOwn);
      model.on(`change:${name}`, changed);
      signal.addEventListener("abort", () => model.off(`change:${name}`, changed));
    },
  };
}

export function sized<T extends { height: unknown }>(
  root: HTMLElement,
  options: ViewOptions<T>,
  signal: AbortSignal,
  most?: number,
): ViewOptions<T> {
  return withFullScreen(root, withAutoHeight(root, options, signal, most), signal);
}

export function widget<T extends { height: unknown }>(mount: Mount<T>, most?: number) {
  return {
    async render({ model, el, host, signal }: RenderProps<ViewState & T>): Promise<void> {
      const run = await host.getModel(model.get("run"));
      const session = await host.getModel<SessionState>(model.get("session"));
      if (signal.aborted) return;
      const root = viewRoot(el, model.get("_figure_id"), signal);
      await mount(root, {
        run: clientOf(run, model.get("run"), signal),
        session: new SessionClient(session),
        options: sized(root, modelOptions<T>(model as unknown as AnyModel), signal, most),
        signal,
      });
    },
  };
}
