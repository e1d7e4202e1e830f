import { COPY_KEY } from "../shared/code_copy.ts";
import { button, element, select } from "../shared/dom.ts";
import { Overflow } from "../shared/overflow.ts";
import type { Direction } from "./layout/types.ts";
import type { Facts } from "./query/facts.ts";
import type { Found } from "./search.ts";
import { type SearchActions, SearchField } from "./search_field.ts";

export interface ToolbarActions extends SearchActions {
  colorBy(name: string): void;
  fold(on: boolean): void;
  direction(to: Direction): void;
  zoom(factor: number): void;
  fit(): void;
  slowest(): void;
  details(on: boolean): void;
  copy(): void;
  everything(): void;
  /** Steps back or forward through what was shown. */
  go(by: number): void;
  /** Opens what is behind a button, below it. */
  groups(control: HTMLElement): void;
  shows(control: HTMLElement): void;
  marks(control: HTMLElement): void;
  saves(control: HTMLElement): void;
}

export interface ToolbarState {
  title: string;
  colorBy: string;
  /** What the graph can be coloured by. */
  colors: readonly string[];
  fold: boolean;
  direction: Direction;
  details: boolean;
  hits: string;
  /** Whether times are known. */
  timed: boolean;
  /** What part of the graph is shown, where it is not all of it; or what could not be done. */
  part: string;
  isPart: boolean;
  /** Whether there is something to go back to, and forward. */
  back: boolean;
  forward: boolean;
}

const ARROWS = { down: "↓", right: "→" } as const;
export const ZOOM_STEP = 1.4;
const SLOWEST = "go to the slowest node (s)";

/** The view's buttons and its search field. */
export class Toolbar {
  readonly node: HTMLElement;
  readonly #search: SearchField;
  readonly #title = element("span", { class: "tvmdbg-muted tvmdbg-graph-title" });
  readonly #hits = element("span", { class: "tvmdbg-graph-hits", "aria-live": "polite" });
  /** What part is shown, and the way out. */
  readonly part = element("div", { class: "tvmdbg-graph-part", hidden: true });
  readonly #partText = element("span", { role: "status" });
  readonly #everything: HTMLButtonElement;
  readonly #groups: HTMLButtonElement;
  readonly #shows: HTMLButtonElement;
  readonly #marks: HTMLButtonElement;
  readonly #saves: HTMLButtonElement;
  readonly #journey: readonly [HTMLButtonElement, HTMLButtonElement];
  readonly #color: HTMLSelectElement;
  readonly #direction: HTMLButtonElement;
  readonly #steps: HTMLButtonElement[];
  readonly #fold: HTMLButtonElement;
  readonly #slowest: HTMLButtonElement;
  readonly #details: HTMLButtonElement;
  readonly #overflow: Overflow;
  #names = "";

  constructor(facts: Facts, actions: ToolbarActions, help: HTMLElement, signal: AbortSignal) {
    this.#search = new SearchField(facts, actions, () => this.#placeSearch(), signal);
    const pressed = (node: HTMLElement) => node.getAttribute("aria-pressed") !== "true";
    this.#color = select("colours (c)", [], "", (value) => actions.colorBy(value));
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
    this.#slowest = button("slowest", SLOWEST, actions.slowest);
    this.#steps = [
      button("‹", "previous hit (Shift+n)", () => actions.nextHit(-1)),
      button("›", "next hit (n)", () => actions.nextHit(1)),
    ];
    this.#everything = button("show all", "show the whole graph (a)", actions.everything);
    this.part.append(this.#partText, this.#everything);
    this.#journey = [
      button("◂", "back to what was shown before (Alt+←)", () => actions.go(-1)),
      button("▸", "forward again (Alt+→)", () => actions.go(1)),
    ];
    const journey = element("span", { class: "tvmdbg-joined" }, ...this.#journey);
    const menu = (label: string, title: string, open: (control: HTMLElement) => void) => {
      const control = button(label, title, () => open(control));
      control.ariaHasPopup = "true";
      return control;
    };
    this.#groups = menu("groups", "open or close groups, fold into columns", actions.groups);
    this.#shows = menu("kinds", "show or hide kinds of nodes (Shift+h)", actions.shows);
    this.#marks = menu("bookmarks", "bookmarks: looks kept under a name (m)", actions.marks);
    this.#saves = menu("save", "save a picture of the graph (i)", actions.saves);
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": "graph" },
      element("span", { class: "tvmdbg-title" }, "Graph"),
      journey,
      this.#title,
      element(
        "span",
        { class: "tvmdbg-graph-search", role: "search" },
        this.#search.input,
        this.#search.panel,
        this.#hits,
        ...this.#steps,
      ),
      this.#color,
      this.#direction,
      this.#fold,
      this.#groups,
      this.#shows,
      this.#marks,
      zoom,
      this.#slowest,
      this.#details,
      this.#saves,
      code,
      help,
    );
    this.#overflow = new Overflow(
      this.node,
      [
        ...[
          code,
          this.#saves,
          this.#marks,
          this.#direction,
          this.#slowest,
          this.#fold,
          this.#shows,
          zoom,
          journey,
        ],
        ...[this.#groups, this.#color, this.#details],
      ],
      signal,
    );
  }

  openShows(): void {
    this.#shows.click();
  }

  openMarks(): void {
    this.#marks.click();
  }

  openSaves(): void {
    this.#saves.click();
  }

  focusSearch(): void {
    this.#search.input.focus();
    this.#search.input.select();
  }

  set query(query: string) {
    this.#search.query = query;
  }

  /** What the search found, or what is wrong with it. */
  set found(found: Found) {
    this.#hits.title = found.problem || found.notes.join("; ");
    this.#search.show(found);
  }

  /** Puts what is below the search field inside the view. */
  #placeSearch(): void {
    const { panel, input } = this.#search;
    const [field, bar] = [input.getBoundingClientRect(), this.node.getBoundingClientRect()];
    const most = bar.width - panel.offsetWidth - 6;
    panel.style.left = `${Math.max(6, Math.min(field.left - bar.left, most))}px`;
  }

  show(state: ToolbarState): void {
    this.#title.textContent = state.title;
    this.#title.title = state.title;
    const names = [...new Set([...state.colors, state.colorBy])];
    if (names.join("\n") !== this.#names) {
      this.#names = names.join("\n");
      const label = (name: string) => (name === "kind" ? "op kind" : name);
      this.#color.replaceChildren(
        ...names.map((name) => element("option", { value: name }, label(name))),
      );
    }
    this.#color.value = state.colorBy;
    this.#direction.textContent = ARROWS[state.direction];
    this.#fold.setAttribute("aria-pressed", String(state.fold));
    this.#details.setAttribute("aria-pressed", String(state.details));
    this.#slowest.disabled = !state.timed;
    this.#slowest.title = state.timed ? SLOWEST : `${SLOWEST}: the run holds no times`;
    this.#hits.textContent = state.hits;
    for (const part of [this.#hits, ...this.#steps]) part.hidden = state.hits === "";
    this.part.hidden = state.part === "";
    this.#partText.textContent = state.part;
    this.#everything.hidden = !state.isPart;
    this.#journey[0].disabled = !state.back;
    this.#journey[1].disabled = !state.forward;
    this.#overflow.fit();
  }
}
