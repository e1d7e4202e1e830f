import * as icons from "../../shared/drawing/icons.ts";
import { counted } from "../../shared/format.ts";
import { button, captioned, div, element, select, span } from "../../shell/dom.ts";
import { barTitle, chartTools, type Tool, Toolbar, tool } from "../../shell/toolbar.ts";
import type { Hits } from "../data/hits.ts";
import type { GraphHost } from "../parts.ts";
import { SearchField } from "./search_field.ts";

/** Toolbar of a graph: search, colors, and the view's tools, whose keys are `tools`. */
export class GraphToolbar {
  readonly node: HTMLElement;
  readonly search: SearchField;
  readonly tools: readonly Tool[];
  readonly part = div("tvmdbg-graph-part tvmdbg-row tvmdbg-gap-8 tvmdbg-fixed tvmdbg-line-below");
  readonly #bar: Toolbar;
  readonly #shows: Tool;
  readonly #title = span("tvmdbg-muted tvmdbg-graph-title tvmdbg-clip");
  readonly #hits = element("span", { class: "tvmdbg-graph-hits", "aria-live": "polite" });
  readonly #partText = element("span", { role: "status" });
  readonly #everything: HTMLButtonElement;
  readonly #color: HTMLSelectElement;
  #names = "";
  readonly #view: GraphHost;

  constructor(view: GraphHost) {
    this.#view = view;
    const { chosen, commands, menus, model, navigation, root, stage } = view;
    const { options, signal } = view.context;
    this.search = new SearchField(view, () => this.#placeSearch());
    this.#color = select("color by (c)", [], "", (value) => chosen.colorWith(value));
    this.#everything = button("exit isolation", "exit isolation: show the whole graph (a)", () =>
      view.navigator.everything(),
    );
    this.part.hidden = true;
    this.part.append(this.#partText, this.#everything);
    const isSearched = () => !hits.textContent;
    const hits = this.#hits;
    const previousHit = tool(
      ["Shift+n"],
      "previous hit",
      "previous hit",
      () => void commands.nextHit(-1),
      { icon: icons.PREVIOUS, isHidden: isSearched },
    );
    const nextHit = tool(["n"], "next hit", "next hit", () => void commands.nextHit(1), {
      icon: icons.NEXT,
      isHidden: isSearched,
    });
    const back = tool(
      ["Alt+ArrowLeft"],
      "back",
      "back to what was shown before",
      () => navigation.go(-1),
      { icon: icons.BACK, isOff: () => !navigation.can(-1) },
    );
    const forward = tool(["Alt+ArrowRight"], "forward", "forward again", () => navigation.go(1), {
      icon: icons.FORWARD,
      isOff: () => !navigation.can(1),
    });
    const direction = tool(
      [],
      "direction",
      "direction of the graph: down or right",
      () => options.set("direction", chosen.direction === "down" ? "right" : "down"),
      { icon: () => (chosen.direction === "down" ? icons.DOWN : icons.RIGHT) },
    );
    const fold = tool(
      ["p"],
      "hide params",
      "hide params: show only their number in each consumer",
      () => chosen.toggleFold(),
      { icon: icons.HIDDEN, isOn: () => chosen.fold },
    );
    const menu = (
      keys: readonly string[],
      label: string,
      does: string,
      icon: icons.Icon,
      open: (control: HTMLElement) => void,
    ) => {
      const made = tool(keys, label, does, () => open(this.#bar.nodeOf(made)), {
        icon,
        opensMenu: true,
      });
      return made;
    };
    const blocks = menu(
      [],
      "blocks",
      "blocks: expand, collapse, wrap into columns",
      icons.BLOCKS,
      (control) => menus.groups(control),
    );
    const shows = menu(
      ["Shift+h"],
      "kinds",
      "show or hide kinds of nodes",
      icons.FILTER,
      (control) => menus.shows(control),
    );
    const marks = menu(["m"], "saved views", "saved views", icons.BOOKMARK, (control) =>
      menus.marks(control),
    );
    const saves = menu(["i"], "export", "export a picture of the graph", icons.SAVE, (control) =>
      menus.saves.open(control),
    );
    const slowest = tool(["s"], "slowest", "go to the slowest node", () => commands.slowest(), {
      icon: icons.CLOCK,
      isOff: () => !model.times.known && "the run has no times",
    });
    const details = tool(["d"], "details", "show the details", () => view.showDetails(), {
      icon: icons.DETAILS,
      isOn: () => view.detailsOpen,
    });
    const chart = chartTools(
      {
        zoom: (factor) => stage.zoom(1 / factor),
        copy: () => view.code.copy(),
      },
      { all: () => commands.fitAll(), isAll: () => false },
      "the whole graph",
      "the node",
      { in: ["+", "="], out: ["-"] },
    );
    this.#shows = shows;
    const color = captioned("color by", this.#color);
    const history = { tools: [back, forward] };
    const hit = { tools: [previousHit, nextHit] };
    const search = span(
      "tvmdbg-graph-search tvmdbg-inline tvmdbg-one-control",
      this.search.input,
      this.search.panel,
      this.#hits,
    );
    const title = view.context.title ?? barTitle("Graph");
    this.#bar = new Toolbar(
      root,
      "graph",
      [
        ...[title, history, this.#title, search, hit, color],
        ...[direction, fold, blocks, shows, marks],
        ...[chart.zoom, chart.fit, slowest, details, saves, chart.copy],
      ],
      {
        always: [direction, fold, shows, marks, saves, chart.copy],
        sometimes: [slowest, chart.zoom, history, blocks, details, color, chart.fit],
      },
      signal,
    );
    this.node = this.#bar.node;
    this.tools = [back, forward, fold, marks, saves, slowest, details, ...chart.all];
  }

  openShows(): void {
    this.#bar.nodeOf(this.#shows).click();
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
    const { appearance, chosen, hits, model, navigator } = this.#view;
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
    this.#hits.textContent = hits.text(this.#view.node);
    this.#hits.hidden = !this.#hits.textContent;
    this.#partText.textContent = navigator.banner();
    this.part.hidden = !this.#partText.textContent;
    this.#everything.hidden = !navigator.isPart;
    this.#bar.refresh();
  }
}
