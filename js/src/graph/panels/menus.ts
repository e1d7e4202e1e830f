import { integer } from "../../shared/format.ts";
import { COPY_KEY } from "../../shell/code_copy.ts";
import { button, div, element, KEEP_KEYS, span } from "../../shell/dom.ts";
import { runKey } from "../../shell/keys.ts";
import { kindQuery } from "../navigator.ts";
import { GraphPart } from "../parts.ts";
import { PictureExport, Popup } from "./export_picture.ts";

const SHOWN = 5;

/** A key of the view with its name in menus, and what it does here if that is less. */
type Action = readonly [label: string, key: string, run?: () => void];

export class Menus extends GraphPart {
  readonly #popup = new Popup(this.view.root);
  readonly #pictures = new PictureExport(this.view, this.#popup);

  get node(): HTMLElement {
    return this.#popup.node;
  }

  actions(at: { x: number; y: number } = this.#belowBox()): void {
    const { node, model, folding } = this.view;
    if (node === null && folding.group < 0) return;
    const items = this.#actions().map((action) => this.#item(...action));
    const { group } = folding;
    const title = group >= 0 ? model.groups.title(group) : model.describe.short(node!);
    this.#popup.open("menu", title, at.x, at.y, items);
  }

  tools(): HTMLElement {
    const { root } = this.view;
    const tool = ([label, key]: Action, does = label) =>
      button(label, `${does} (${key})`, () => runKey(root, key));
    const joined = span(
      "tvmdbg-joined",
      tool(["‹", "["], "previous node in execution order"),
      tool(["›", "]"], "next node in execution order"),
    );
    const tools = this.#actions().slice(0, SHOWN);
    return div("tvmdbg-graph-tools tvmdbg-wrap", joined, ...tools.map((action) => tool(action)));
  }

  saves(control: HTMLElement): void {
    this.#pictures.open(control);
  }

  shows(control: HTMLElement): void {
    const { model, navigator, chosen } = this.view;
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
      this.#item("show all", "a"),
    ]);
  }

  groups(control: HTMLElement): void {
    const { chosen, folding, model, isWrapped } = this.view;
    const { grouped } = chosen;
    const { around } = folding;
    const all = (open: boolean) => {
      const label = `${open ? "expand" : "collapse"} all`;
      if (around < 0) return this.#item(label, open ? "X" : "x");
      return this.#item(label, "", () => {
        this.#popup.close();
        folding.setAll(open);
      });
    };
    const alike = (open: boolean) => {
      const label = `${open ? "expand" : "collapse"} all like ${model.groups.title(around)}`;
      return this.#item(label, open ? "X" : "x");
    };
    const isGrouped = grouped && model.groups.count > 0;
    this.#popup.below(control, "menu", "blocks", [
      ...(isGrouped && around >= 0 ? [alike(true), alike(false)] : []),
      ...(isGrouped ? [all(true), all(false)] : []),
      this.#choice("show blocks", "g", grouped),
      this.#choice("wrap into columns", "w", isWrapped),
    ]);
  }

  marks(control: HTMLElement): void {
    const { navigation } = this.view;
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
    const { model, commands, node, context, folding } = this.view;
    const { around } = folding;
    const isPair = context.session.selected.length === 2;
    const kind = node === null ? "" : model.graph.opKinds.at(node);
    return [
      ["upstream", "u"],
      ["downstream", "j"],
      ["around", "k"],
      [isPair ? "paths between" : "paths from", "b"],
      ...(kind ? [[`hide ${kind}`, "h"] as const] : []),
      around < 0
        ? ["center", "Enter", () => commands.focusNode()]
        : [
            `${folding.isOpen(around) ? "collapse" : "expand"} ${model.groups.title(around)}`,
            "Enter",
          ],
      ["copy code", COPY_KEY],
    ];
  }

  /** An item with the hint at its right: a number, or the key that it is pressed for. */
  #item(label: string, hint: string, run?: () => void): HTMLButtonElement {
    const closes = hint.length > 0 && !/^\d/.test(hint);
    const item = button(label, label, () => {
      if (closes) this.#popup.close();
      if (run) run();
      else runKey(this.view.root, hint);
    });
    item.setAttribute("role", "menuitem");
    item.removeAttribute("title");
    item.append(span("tvmdbg-muted", hint));
    return item;
  }

  #choice(label: string, hint: string, on: boolean, run?: () => void): HTMLButtonElement {
    const item = this.#item(label, hint, run);
    item.setAttribute("role", "menuitemcheckbox");
    item.ariaChecked = String(on);
    return item;
  }

  #belowBox(): { x: number; y: number } {
    const { placed, stage, root, folding } = this.view;
    const [canvas, own] = [stage.canvas.getBoundingClientRect(), root.getBoundingClientRect()];
    const at = { x: canvas.left - own.left, y: canvas.top - own.top };
    const { group } = folding;
    const box = group < 0 ? this.view.box : (placed?.scene.boxOfGroup[group] ?? -1);
    if (!placed || box < 0) return at;
    const { x, y, height } = placed.rectangle(box);
    const { camera } = stage;
    return { x: at.x + camera.screenX(x), y: at.y + camera.screenY(y + height) + 2 };
  }
}
