import { COPY_KEY } from "../../shared/client/code_copy.ts";
import * as icons from "../../shared/drawing/icons.ts";
import { button, captioned, changeIcon, element, iconButton, select } from "../../shared/ui/dom.ts";
import { helpButton } from "../../shared/ui/keys.ts";
import { Overflow } from "../../shared/ui/overflow.ts";
import { fullScreenButton } from "../../shared/ui/view.ts";
import type { Hits } from "../data/hits.ts";
import type { Facts } from "../data/query_fields.ts";
import type { Direction } from "../layout/types.ts";
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
  colors: readonly string[];
  fold: boolean;
  direction: Direction;
  details: boolean;
  hits: string;
  timed: boolean;
  part: string;
  isPart: boolean;
  /** Whether there is something to go back to, and forward. */
  back: boolean;
  forward: boolean;
}

export const ZOOM_STEP = 1.4;
const SLOWEST = "go to the slowest node (s)";

export class Toolbar {
  readonly node: HTMLElement;
  readonly #search: SearchField;
  readonly #title = element("span", { class: "tvmdbg-muted tvmdbg-graph-title" });
  readonly #hits = element("span", { class: "tvmdbg-graph-hits", "aria-live": "polite" });
  readonly part = element("div", { class: "tvmdbg-graph-part", hidden: true });
  readonly #partText = element("span", { role: "status" });
  readonly #everything: HTMLButtonElement;
  readonly #groups: HTMLButtonElement;
  readonly #shows: HTMLButtonElement;
  readonly #marks: HTMLButtonElement;
  readonly #saves: HTMLButtonElement;
  readonly #navigation: readonly [HTMLButtonElement, HTMLButtonElement];
  readonly #color: HTMLSelectElement;
  readonly #direction: HTMLButtonElement;
  readonly #steps: HTMLButtonElement[];
  readonly #fold: HTMLButtonElement;
  readonly #slowest: HTMLButtonElement;
  readonly #details: HTMLButtonElement;
  readonly #overflow: Overflow;
  #names = "";
  #state: ToolbarState | null = null;

  constructor(
    facts: Facts,
    actions: ToolbarActions,
    root: HTMLElement,
    title: HTMLElement,
    signal: AbortSignal,
  ) {
    this.#search = new SearchField(facts, actions, () => this.#placeSearch(), signal);
    const pressed = (node: HTMLElement) => node.getAttribute("aria-pressed") !== "true";
    this.#color = select("color by (c)", [], "", (value) => actions.colorBy(value));
    this.#direction = iconButton(
      icons.DOWN,
      "direction",
      "direction of the graph: down or right",
      () => actions.direction(this.#state?.direction === "down" ? "right" : "down"),
    );
    this.#fold = iconButton(
      icons.HIDDEN,
      "hide params",
      "hide params: show only their number in each consumer (p)",
      () => actions.fold(pressed(this.#fold)),
    );
    const zoom = element(
      "span",
      { class: "tvmdbg-joined" },
      iconButton(icons.ZOOM_OUT, "zoom out", "zoom out (-)", () => actions.zoom(1 / ZOOM_STEP)),
      iconButton(icons.ZOOM_IN, "zoom in", "zoom in (+)", () => actions.zoom(ZOOM_STEP)),
    );
    const fit = iconButton(icons.FIT, "fit", "fit the whole graph (0)", actions.fit);
    const copy = `Copy Python code for the node (${COPY_KEY})`;
    const code = iconButton(icons.CODE, "copy Python code", copy, actions.copy);
    this.#details = iconButton(icons.DETAILS, "details", "show the details (d)", () =>
      actions.details(pressed(this.#details)),
    );
    this.#slowest = iconButton(icons.CLOCK, "slowest", SLOWEST, actions.slowest);
    this.#steps = [
      iconButton(icons.PREVIOUS, "previous hit", "previous hit (Shift+n)", () =>
        actions.nextHit(-1),
      ),
      iconButton(icons.NEXT, "next hit", "next hit (n)", () => actions.nextHit(1)),
    ];
    this.#everything = button(
      "exit isolation",
      "exit isolation: show the whole graph (a)",
      actions.everything,
    );
    this.part.append(this.#partText, this.#everything);
    this.#navigation = [
      iconButton(icons.BACK, "back", "back to what was shown before (Alt+←)", () => actions.go(-1)),
      iconButton(icons.FORWARD, "forward", "forward again (Alt+→)", () => actions.go(1)),
    ];
    const help = helpButton(root);
    const color = captioned("color by", this.#color);
    const navigation = element("span", { class: "tvmdbg-joined" }, ...this.#navigation);
    const menu = (
      lines: icons.Icon,
      label: string,
      title: string,
      open: (control: HTMLElement) => void,
    ) => {
      const control = iconButton(lines, label, title, () => open(control));
      control.ariaHasPopup = "true";
      return control;
    };
    this.#groups = menu(
      icons.BLOCKS,
      "blocks",
      "blocks: expand, collapse, wrap into columns",
      actions.groups,
    );
    this.#shows = menu(
      icons.FILTER,
      "kinds",
      "show or hide kinds of nodes (Shift+h)",
      actions.shows,
    );
    this.#marks = menu(icons.BOOKMARK, "saved views", "saved views (m)", actions.marks);
    this.#saves = menu(icons.SAVE, "export", "export a picture of the graph (i)", actions.saves);
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": "graph" },
      title,
      navigation,
      this.#title,
      element(
        "span",
        { class: "tvmdbg-graph-search tvmdbg-one-control" },
        this.#search.input,
        this.#search.panel,
        this.#hits,
        ...this.#steps,
      ),
      color,
      this.#direction,
      this.#fold,
      this.#groups,
      this.#shows,
      this.#marks,
      zoom,
      fit,
      this.#slowest,
      this.#details,
      this.#saves,
      code,
      help,
      fullScreenButton(root),
    );
    this.#overflow = new Overflow(
      this.node,
      {
        always: [this.#direction, this.#fold, this.#shows, this.#marks, this.#saves, code, help],
        sometimes: [this.#slowest, zoom, navigation, this.#groups, this.#details, color, fit],
      },
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

  set found(hits: Hits) {
    this.#hits.title = hits.found.problem || hits.found.notes.join("; ");
    this.#search.show(hits);
  }

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
    if (state.direction !== this.#state?.direction)
      changeIcon(this.#direction, state.direction === "down" ? icons.DOWN : icons.RIGHT);
    this.#state = state;
    this.#fold.setAttribute("aria-pressed", String(state.fold));
    this.#details.setAttribute("aria-pressed", String(state.details));
    this.#slowest.disabled = !state.timed;
    this.#slowest.title = state.timed ? SLOWEST : `${SLOWEST}: the run has no times`;
    this.#hits.textContent = state.hits;
    for (const part of [this.#hits, ...this.#steps]) part.hidden = state.hits === "";
    this.part.hidden = state.part === "";
    this.#partText.textContent = state.part;
    this.#everything.hidden = !state.isPart;
    this.#navigation[0].disabled = !state.back;
    this.#navigation[1].disabled = !state.forward;
    this.#overflow.fit();
  }
}
