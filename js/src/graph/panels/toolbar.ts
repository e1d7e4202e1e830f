import * as icons from "../../shared/drawing/icons.ts";
import { counted } from "../../shared/format.ts";
import { button, captioned, div, element, select, span } from "../../shell/dom.ts";
import { runKey } from "../../shell/keys.ts";
import { barTitle, chartTools, type Tool, Toolbar, tool } from "../../shell/toolbar.ts";
import type { Hits } from "../data/hits.ts";
import { type GraphHost, GraphPart, type MenuName } from "../parts.ts";
import { SearchField } from "./search_field.ts";

/** Toolbar of a graph: search, colors, and the view's tools, whose keys are `tools`. */
export class GraphToolbar extends GraphPart {
  readonly node: HTMLElement;
  readonly search = new SearchField(this.view);
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

  constructor(view: GraphHost) {
    super(view);
    const { chosen, commands, menus, model, navigation, root } = view;
    const { options, signal } = view.context;
    this.#color = select("color by (c)", [], "", (value) => chosen.colorWith(value));
    this.#everything = button("exit isolation", "exit isolation: show the whole graph (a)", () =>
      runKey(root, "a"),
    );
    this.part.hidden = true;
    this.part.append(this.#partText, this.#everything);
    const isHidden = () => !this.#hits.textContent;
    const hit = (by: number, key: string, label: string, icon: icons.Icon) =>
      tool([key], label, label, () => void commands.nextHit(by), { icon, isHidden });
    const step = (by: number, key: string, label: string, does: string, icon: icons.Icon) => {
      const isOff = () => !navigation.can(by);
      return tool([key], label, does, () => navigation.go(by), { icon, isOff });
    };
    const back = step(-1, "Alt+ArrowLeft", "back", "back to what was shown before", icons.BACK);
    const forward = step(1, "Alt+ArrowRight", "forward", "forward again", icons.FORWARD);
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
      name: MenuName,
      icon: icons.Icon,
      keys: string[],
      label: string,
      does = label,
    ) => {
      const open = () => menus[name](this.#bar.nodeOf(made));
      const made: Tool = tool(keys, label, does, open, { icon, opensMenu: true });
      return made;
    };
    const folds = "blocks: expand, collapse, wrap into columns";
    const blocks = menu("groups", icons.BLOCKS, [], "blocks", folds);
    const kinds = "show or hide kinds of nodes";
    const shows = menu("shows", icons.FILTER, ["Shift+h"], "kinds", kinds);
    const marks = menu("marks", icons.BOOKMARK, ["m"], "saved views");
    const picture = "export a picture of the graph";
    const saves = menu("saves", icons.SAVE, ["i"], "export", picture);
    const slowest = tool(["s"], "slowest", "go to the slowest node", () => commands.slowest(), {
      icon: icons.CLOCK,
      isOff: () => !model.times.known && "the run has no times",
    });
    const details = tool(["d"], "details", "show the details", () => view.showDetails(), {
      icon: icons.DETAILS,
      isOn: () => view.detailsOpen,
    });
    const chart = chartTools(commands, commands, "the whole graph", "the node", {
      in: ["+", "="],
      out: ["-"],
    });
    this.#shows = shows;
    const color = captioned("color by", this.#color);
    const history = { tools: [back, forward] };
    const hits = {
      tools: [
        hit(-1, "Shift+n", "previous hit", icons.PREVIOUS),
        hit(1, "n", "next hit", icons.NEXT),
      ],
    };
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
        ...[title, history, this.#title, search, hits, color],
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

  show(): void {
    const { appearance, chosen, hits, model, navigator } = this.view;
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
    this.#hits.textContent = hits.text(this.view.node);
    this.#hits.hidden = !this.#hits.textContent;
    this.#partText.textContent = navigator.banner();
    this.part.hidden = !this.#partText.textContent;
    this.#everything.hidden = !navigator.isPart;
    this.#bar.refresh();
  }
}
