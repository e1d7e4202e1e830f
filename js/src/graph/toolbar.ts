import { COPY_KEY } from "../shared/code_copy.ts";
import { button, element, KEEP_KEYS, select } from "../shared/dom.ts";
import { Overflow } from "../shared/overflow.ts";
import type { Direction } from "./layout/types.ts";
import type { ColorBy } from "./picture.ts";

export interface ToolbarActions {
  search(query: string): void;
  nextHit(by: number): void;
  colorBy(mode: ColorBy): void;
  fold(on: boolean): void;
  direction(to: Direction): void;
  zoom(factor: number): void;
  fit(): void;
  slowest(): void;
  details(on: boolean): void;
  copy(): void;
  everything(): void;
  /** Gives the keyboard back to the graph. */
  leave(): void;
}

export interface ToolbarState {
  title: string;
  colorBy: ColorBy;
  fold: boolean;
  direction: Direction;
  details: boolean;
  hits: string;
  /** Whether times are known. */
  timed: boolean;
  /** What part of the graph is shown, where it is not all of it. */
  part: string;
}

const ARROWS = { down: "↓", right: "→" } as const;
const TYPING_MS = 120;
export const ZOOM_STEP = 1.4;

/** The view's buttons and its search field. */
export class Toolbar {
  readonly node: HTMLElement;
  readonly #search = element("input", {
    type: "search",
    placeholder: "search /",
    title: "words of name, func_name, op kind, dtype or shape: conv2d 64×8",
    "aria-label": "search nodes by name, func_name, op kind, dtype or shape",
    ...KEEP_KEYS,
  });
  readonly #title = element("span", { class: "tvmdbg-muted tvmdbg-graph-title" });
  readonly #hits = element("span", { class: "tvmdbg-graph-hits", "aria-live": "polite" });
  readonly #part = element("span", { class: "tvmdbg-graph-part", hidden: true });
  readonly #partText = element("span");
  readonly #color: HTMLSelectElement;
  readonly #direction: HTMLButtonElement;
  readonly #steps: HTMLButtonElement[];
  readonly #fold: HTMLButtonElement;
  readonly #slowest: HTMLButtonElement;
  readonly #details: HTMLButtonElement;
  readonly #overflow: Overflow;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(actions: ToolbarActions, help: HTMLElement, signal: AbortSignal) {
    const pressed = (node: HTMLElement) => node.getAttribute("aria-pressed") !== "true";
    this.#color = select(
      "colours (c)",
      [
        ["kind", "op kind"],
        ["time", "time"],
        ["health", "health"],
      ],
      "kind",
      (value) => actions.colorBy(value as ColorBy),
    );
    this.#direction = button("", "direction of the graph: down or right", () =>
      actions.direction(this.#direction.textContent === ARROWS.down ? "right" : "down"),
    );
    this.#fold = button("fold", "draw parameters inside their consumers (p)", () =>
      actions.fold(pressed(this.#fold)),
    );
    this.#fold.append(element("span", { class: "tvmdbg-graph-spacious" }, " params"));
    const zoom = element(
      "span",
      { class: "tvmdbg-joined" },
      button("−", "smaller (-)", () => actions.zoom(1 / ZOOM_STEP)),
      button("+", "larger (+)", () => actions.zoom(ZOOM_STEP)),
      button("fit", "fit the whole graph (0)", actions.fit),
    );
    const code = button("code", `Copy Python code for the node (${COPY_KEY})`, actions.copy);
    this.#details = button("details", "show the details (d)", () =>
      actions.details(pressed(this.#details)),
    );
    this.#slowest = button("slowest", "go to the slowest node (s)", actions.slowest);
    this.#steps = [
      button("‹", "previous hit (Shift+n)", () => actions.nextHit(-1)),
      button("›", "next hit (n)", () => actions.nextHit(1)),
    ];
    this.#part.append(
      this.#partText,
      button("show all", "show the whole graph", actions.everything),
    );
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": "graph" },
      element("span", { class: "tvmdbg-title" }, "Graph"),
      this.#title,
      this.#part,
      element(
        "span",
        { class: "tvmdbg-graph-search", role: "search" },
        this.#search,
        this.#hits,
        ...this.#steps,
      ),
      this.#color,
      this.#direction,
      this.#fold,
      zoom,
      this.#slowest,
      this.#details,
      code,
      help,
    );
    this.#overflow = new Overflow(
      this.node,
      [code, this.#direction, this.#slowest, this.#fold, zoom, this.#color, this.#details],
      signal,
    );
    const typed = () => {
      clearTimeout(this.#typing);
      actions.search(this.#search.value);
    };
    const later = () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(typed, TYPING_MS);
    };
    this.#search.addEventListener("input", later, { signal });
    const key = (event: KeyboardEvent) => {
      if (event.key === "Enter") {
        typed();
        actions.nextHit(event.shiftKey ? -1 : 1);
        actions.leave();
      } else if (event.key === "Escape") {
        this.#search.value = "";
        typed();
        actions.leave();
      } else return;
      event.preventDefault();
    };
    this.#search.addEventListener("keydown", key, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.#typing));
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  set query(query: string) {
    if (this.#search.value !== query) this.#search.value = query;
  }

  show(state: ToolbarState): void {
    this.#title.textContent = state.title;
    this.#title.title = state.title;
    this.#color.value = state.colorBy;
    this.#direction.textContent = ARROWS[state.direction];
    this.#fold.setAttribute("aria-pressed", String(state.fold));
    this.#details.setAttribute("aria-pressed", String(state.details));
    this.#slowest.disabled = !state.timed;
    this.#hits.textContent = state.hits;
    for (const part of [this.#hits, ...this.#steps]) part.hidden = state.hits === "";
    this.#part.hidden = state.part === "";
    this.#partText.textContent = this.#partText.title = state.part;
    this.#overflow.fit();
  }
}
