import { integer } from "../../shared/format.ts";
import { COPY_KEY } from "../../shell/code_copy.ts";
import { button, div, element, KEEP_KEYS, span } from "../../shell/dom.ts";
import { kindQuery } from "../navigator.ts";
import type { GraphHost } from "../parts.ts";
import { PictureExport, Popup } from "./export_picture.ts";

const SHOWN = 5;

/** An action on the selected node, with its key. */
interface Action {
  label: string;
  key: string;
  run: () => void;
}

export class Menus {
  readonly #view: GraphHost;
  readonly #popup: Popup;
  readonly saves: PictureExport;

  constructor(view: GraphHost) {
    this.#view = view;
    this.#popup = new Popup(view.root);
    this.saves = new PictureExport(view, this.#popup);
  }

  get node(): HTMLElement {
    return this.#popup.node;
  }

  actions(at: { x: number; y: number } = this.#belowBox()): void {
    const { node, model, folding } = this.#view;
    if (node === null && folding.group < 0) return;
    const items = this.#actions().map(({ label, key, run }) => this.#item(label, key, run));
    const { group } = folding;
    const title = group >= 0 ? model.groups.title(group) : model.describe.short(node!);
    this.#popup.open("menu", title, at.x, at.y, items);
  }

  tools(): HTMLElement {
    const { commands } = this.#view;
    const buttons = this.#actions()
      .slice(0, SHOWN)
      .map(({ label, key, run }) => button(label, `${label} (${key})`, run));
    const steps = [
      button("‹", "previous node in execution order ([)", () => commands.inOrder(-1)),
      button("›", "next node in execution order (])", () => commands.inOrder(1)),
    ];
    const joined = span("tvmdbg-joined", ...steps);
    return div("tvmdbg-graph-tools tvmdbg-wrap", joined, ...buttons);
  }

  shows(control: HTMLElement): void {
    const { model, navigator, chosen } = this.#view;
    const counts = new Map<string, number>();
    const { codes, unique } = model.graph.opKinds;
    for (const code of codes) counts.set(unique[code]!, (counts.get(unique[code]!) ?? 0) + 1);
    const kinds = [...counts].sort(([, a], [, b]) => b - a);
    const rows = new Map(kinds.map(([kind, count]) => [kindQuery(kind), [kind, integer(count)]]));
    for (const query of chosen.hidden) if (!rows.has(query)) rows.set(query, [query, ""]);
    const items = Array.from(rows, ([query, [label, count]]) => {
      const isShown = () => !chosen.hidden.includes(query);
      const item = this.#choice(label!, count!, isShown(), () => {
        navigator.toggle(query);
        item.ariaChecked = String(isShown());
      });
      return item;
    });
    this.#popup.below(control, "menu", "visible kinds of nodes", [
      ...items,
      this.#item("show all", "a", () => {
        this.#popup.close();
        navigator.everything();
      }),
    ]);
  }

  groups(control: HTMLElement): void {
    const { chosen, context, folding, model, commands, isWrapped } = this.#view;
    const { grouped } = chosen;
    const { around } = folding;
    const all = (open: boolean) => {
      const run = () => folding.setAll(open);
      const label = `${open ? "expand" : "collapse"} all`;
      return around < 0
        ? this.#item(label, open ? "X" : "x", run)
        : this.#item(label, "", () => {
            this.#popup.close();
            run();
          });
    };
    const alike = (open: boolean) => {
      const label = `${open ? "expand" : "collapse"} all like ${model.groups.title(around)}`;
      return this.#item(label, open ? "X" : "x", () => folding.setKind(open));
    };
    const isGrouped = grouped && model.groups.count > 0;
    this.#popup.below(control, "menu", "blocks", [
      ...(isGrouped && around >= 0 ? [alike(true), alike(false)] : []),
      ...(isGrouped ? [all(true), all(false)] : []),
      this.#choice("show blocks", "g", grouped, () => context.options.set("grouped", !grouped)),
      this.#choice("wrap into columns", "w", isWrapped, () => commands.wrap(!isWrapped)),
    ]);
  }

  marks(control: HTMLElement): void {
    const { navigation } = this.#view;
    const name = element("input", {
      ...{ type: "text", maxlength: 200, placeholder: "name of this view" },
      ...{ "aria-label": "name of the view to save", ...KEEP_KEYS },
    });
    const keep = () => {
      if (!name.value.trim()) return;
      navigation.keep(name.value.trim());
      this.marks(control);
    };
    name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      keep();
    });
    const rows = navigation.names.map((bookmark) =>
      span(
        "tvmdbg-joined",
        button(bookmark, `go to ${bookmark}`, () => {
          this.#popup.close();
          navigation.recall(bookmark);
        }),
        button("×", `delete ${bookmark}`, () => {
          navigation.forget(bookmark);
          this.marks(control);
        }),
      ),
    );
    const field = span("tvmdbg-joined", name, button("save", "save this view", keep));
    this.#popup.below(control, "dialog", "saved views", [field, ...rows]);
  }

  #actions(): Action[] {
    const { navigator, model, commands, node, context, code, folding } = this.#view;
    const { around } = folding;
    const isPair = context.session.selected.length === 2;
    const kind = node === null ? "" : model.graph.opKinds.at(node);
    return [
      { label: "upstream", key: "u", run: () => navigator.isolate("upstream") },
      { label: "downstream", key: "j", run: () => navigator.isolate("downstream") },
      { label: "around", key: "k", run: () => navigator.around(1) },
      { label: isPair ? "paths between" : "paths from", key: "b", run: () => navigator.path() },
      ...(kind ? [{ label: `hide ${kind}`, key: "h", run: () => navigator.hideKind() }] : []),
      around < 0
        ? { label: "center", key: "Enter", run: () => commands.focusNode() }
        : {
            label: `${folding.isOpen(around) ? "collapse" : "expand"} ${model.groups.title(around)}`,
            key: "Enter",
            run: () => folding.toggle(around),
          },
      { label: "copy code", key: COPY_KEY, run: () => code.copy() },
    ];
  }

  #item(label: string, hint: string, run: () => void): HTMLButtonElement {
    const closes = hint.length > 0 && !/^\d/.test(hint);
    const item = button(label, label, () => {
      if (closes) this.#popup.close();
      run();
    });
    item.setAttribute("role", "menuitem");
    item.removeAttribute("title");
    item.append(span("tvmdbg-muted", hint));
    return item;
  }

  #choice(label: string, hint: string, on: boolean, run: () => void): HTMLButtonElement {
    const item = this.#item(label, hint, run);
    item.setAttribute("role", "menuitemcheckbox");
    item.ariaChecked = String(on);
    return item;
  }

  #belowBox(): { x: number; y: number } {
    const { placed, stage, root, folding } = this.#view;
    const [canvas, own] = [stage.canvas.getBoundingClientRect(), root.getBoundingClientRect()];
    const at = { x: canvas.left - own.left, y: canvas.top - own.top };
    const { group } = folding;
    const box = group < 0 ? this.#view.box : (placed?.scene.boxOfGroup[group] ?? -1);
    if (!placed || box < 0) return at;
    const { x, y, height } = placed.rectangle(box);
    const { camera } = stage;
    return { x: at.x + camera.screenX(x), y: at.y + camera.screenY(y + height) + 2 };
  }
}
