import { COPY_KEY } from "../../shared/client/code_copy.ts";
import * as icons from "../../shared/drawing/icons.ts";
import { counted } from "../../shared/format.ts";
import { button, captioned, changeIcon, element, iconButton, select } from "../../shared/ui/dom.ts";
import { helpButton } from "../../shared/ui/keys.ts";
import { Overflow } from "../../shared/ui/overflow.ts";
import { fullScreenButton } from "../../shared/ui/view.ts";
import type { Hits } from "../data/hits.ts";
import type { GraphHost } from "../parts.ts";
import { SearchField } from "./search_field.ts";

export const ZOOM_STEP = 1.4;
const SLOWEST = "go to the slowest node (s)";

export class Toolbar {
  readonly node: HTMLElement;
  readonly search: SearchField;
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
  #isDown = true;
  readonly #view: GraphHost;

  constructor(view: GraphHost) {
    this.#view = view;
    const { chosen, commands, menus, root, stage } = view;
    const { options, signal } = view.context;
    this.search = new SearchField(view, () => this.#placeSearch());
    const pressed = (node: HTMLElement) => node.getAttribute("aria-pressed") !== "true";
    this.#color = select("color by (c)", [], "", (value) => chosen.colorWith(value));
    this.#direction = iconButton(
      icons.DOWN,
      "direction",
      "direction of the graph: down or right",
      () => options.set("direction", chosen.direction === "down" ? "right" : "down"),
    );
    this.#fold = iconButton(
      icons.HIDDEN,
      "hide params",
      "hide params: show only their number in each consumer (p)",
      () => options.set("fold_parameters", pressed(this.#fold)),
    );
    const zoom = element(
      "span",
      { class: "tvmdbg-joined" },
      iconButton(icons.ZOOM_OUT, "zoom out", "zoom out (-)", () => stage.zoom(1 / ZOOM_STEP)),
      iconButton(icons.ZOOM_IN, "zoom in", "zoom in (+)", () => stage.zoom(ZOOM_STEP)),
    );
    const fit = iconButton(icons.FIT, "fit", "fit the whole graph (0)", () => commands.fitAll());
    const copy = `Copy Python code for the node (${COPY_KEY})`;
    const code = iconButton(icons.CODE, "copy Python code", copy, () => view.code.copy());
    this.#details = iconButton(icons.DETAILS, "details", "show the details (d)", () =>
      view.showDetails(pressed(this.#details)),
    );
    this.#slowest = iconButton(icons.CLOCK, "slowest", SLOWEST, () => commands.slowest());
    this.#steps = [
      iconButton(icons.PREVIOUS, "previous hit", "previous hit (Shift+n)", () =>
        commands.nextHit(-1),
      ),
      iconButton(icons.NEXT, "next hit", "next hit (n)", () => commands.nextHit(1)),
    ];
    this.#everything = button("exit isolation", "exit isolation: show the whole graph (a)", () =>
      view.navigator.everything(),
    );
    this.part.append(this.#partText, this.#everything);
    this.#navigation = [
      iconButton(icons.BACK, "back", "back to what was shown before (Alt+←)", () =>
        view.navigation.go(-1),
      ),
      iconButton(icons.FORWARD, "forward", "forward again (Alt+→)", () => view.navigation.go(1)),
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
      (control) => menus.groups(control),
    );
    this.#shows = menu(icons.FILTER, "kinds", "show or hide kinds of nodes (Shift+h)", (control) =>
      menus.shows(control),
    );
    this.#marks = menu(icons.BOOKMARK, "saved views", "saved views (m)", (control) =>
      menus.marks(control),
    );
    this.#saves = menu(icons.SAVE, "export", "export a picture of the graph (i)", (control) =>
      menus.saves.open(control),
    );
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": "graph" },
      view.context.title ?? element("span", { class: "tvmdbg-title" }, "Graph"),
      navigation,
      this.#title,
      element(
        "span",
        { class: "tvmdbg-graph-search tvmdbg-one-control" },
        this.search.input,
        this.search.panel,
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
    this.search.input.focus();
    this.search.input.select();
  }

  showHits(hits: Hits): void {
    this.#hits.title = hits.result.problem || hits.result.notes.join("; ");
    this.search.show(hits);
  }

  #placeSearch(): void {
    const { panel, input } = this.search;
    const [field, bar] = [input.getBoundingClientRect(), this.node.getBoundingClientRect()];
    const most = bar.width - panel.offsetWidth - 6;
    panel.style.left = `${Math.max(6, Math.min(field.left - bar.left, most))}px`;
  }

  show(): void {
    const { appearance, chosen, hits, model, navigation, navigator } = this.#view;
    const { kinds, info } = model.graph;
    const nodes = [info?.held?.[0], counted(kinds.length, "node")];
    this.#title.textContent = this.#title.title = nodes.filter(Boolean).join(" of ");
    const names = [...new Set([...appearance.names, chosen.colorBy])];
    if (names.join("\n") !== this.#names) {
      this.#names = names.join("\n");
      const label = (name: string) => (name === "kind" ? "op kind" : name);
      this.#color.replaceChildren(
        ...names.map((name) => element("option", { value: name }, label(name))),
      );
    }
    this.#color.value = chosen.colorBy;
    const isDown = chosen.direction === "down";
    if (isDown !== this.#isDown) changeIcon(this.#direction, isDown ? icons.DOWN : icons.RIGHT);
    this.#isDown = isDown;
    this.#fold.setAttribute("aria-pressed", String(chosen.fold));
    this.#details.setAttribute("aria-pressed", String(this.#view.detailsOpen));
    this.#slowest.disabled = !model.times.known;
    this.#slowest.title = model.times.known ? SLOWEST : `${SLOWEST}: the run has no times`;
    this.#hits.textContent = hits.text(this.#view.node);
    for (const part of [this.#hits, ...this.#steps]) part.hidden = !this.#hits.textContent;
    this.#partText.textContent = navigator.banner();
    this.part.hidden = !this.#partText.textContent;
    this.#everything.hidden = !navigator.isPart;
    this.#navigation[0].disabled = !navigation.can(-1);
    this.#navigation[1].disabled = !navigation.can(1);
    this.#overflow.fit();
  }
}
