import { counted, integer } from "../shared/format.ts";
import { between, type Isolation } from "./data/links.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";
import { shownNodes } from "./layout/scene.ts";
import { type GraphHost, GraphPart } from "./parts.ts";

export class Navigator extends GraphPart {
  /** First end of a path, until the other end is chosen. */
  #start: number | null = null;
  #result: { placed: PlacedScene | null; text: string } = { placed: null, text: "" };
  /** Message above the graph: an error, or the next step for the user. */
  #notice = "";

  constructor(view: GraphHost) {
    super(view);
    const { options, session, signal } = view.context;
    const done = () => {
      this.#start = null;
      this.#notice = "";
    };
    for (const name of ["isolate", "hidden", "hops"] as const) options.onChange(name, done, signal);
    session.onChange(() => this.#start ?? done(), signal, ["selected"]);
  }

  isolate(kind: "upstream" | "downstream"): void {
    this.#set({ kind, nodes: this.#selected(), hops: null });
  }

  around(by: number): void {
    const { isolation } = this.view.chosen;
    const grows = isolation?.kind === "around";
    const nodes = grows ? isolation.nodes : this.#selected();
    this.#set({ kind: "around", nodes, hops: grows ? Math.max(0, (isolation.hops ?? 1) + by) : 1 });
  }

  path(): void {
    const { links, describe } = this.view.model;
    const selected = this.#selected();
    const end = selected.at(-1);
    const start = selected.length === 2 ? selected[0]! : this.#start; // with a selected group, no two nodes are meant
    if (end === undefined) this.say(NOTHING);
    else if (start === null || start === end) {
      this.#start = end;
      this.say(`paths from ${describe.short(end)}: go to the other end and press b again`);
    } else if (between(links, start, end) < 0) {
      this.#start = null;
      const ends = `${describe.short(start)} and ${describe.short(end)}`;
      this.say(`no path between ${ends}, in either direction`);
    } else this.#set({ kind: "path", nodes: [start, end], hops: null });
  }

  everything(): void {
    const { options } = this.view.context;
    options.set("isolate", null);
    options.set("hops", null);
    options.set("hidden", []);
    this.#notice = "";
    this.view.toolbar.show();
  }

  toggle(query: string): void {
    const { hidden } = this.view.chosen;
    const others = hidden.filter((other) => other !== query);
    const next = others.length < hidden.length ? others : [...hidden, query];
    this.view.context.options.set("hidden", next);
  }

  /** Query for all nodes of the selected node's kind. */
  get kindHere(): string | null {
    const { node, model } = this.view;
    return node === null ? null : kindQuery(model.graph.opKinds.at(node));
  }

  hideKind(): void {
    if (this.kindHere) this.toggle(this.kindHere);
    else this.say(NOTHING);
  }

  get isPart(): boolean {
    const { isolation, hidden, hops } = this.view.chosen;
    return isolation !== null || hidden.length > 0 || hops !== null;
  }

  banner(): string {
    const { placed, isArranging } = this.view;
    if (this.#notice || !placed) return this.#notice;
    if (isArranging) return this.#result.text;
    if (this.#result.placed !== placed) this.#result = { placed, text: this.#describe(placed) };
    return this.#result.text;
  }

  #describe({ scene }: PlacedScene): string {
    if (!this.isPart) return "";
    const { isolation, hidden, hops } = this.view.chosen;
    const part = isolation ? this.#part(isolation) : hops === null ? "" : counted(hops, "hop");
    const [shown, all] = [shownNodes(scene), this.view.model.graph.kinds.length];
    if (shown === all && !isolation) return "";
    const without = hidden.length ? `without ${hidden.join(", ")}` : "";
    const what = [part, without].filter(Boolean).join(", ");
    return `${what}: ${integer(shown)} of ${counted(all, "node")} `;
  }

  #part({ kind, nodes, hops }: Isolation): string {
    const { describe, links } = this.view.model;
    const named = nodes.length > 1 ? counted(nodes.length, "node") : describe.short(nodes[0]!);
    if (kind === "around") return `within ${counted(hops ?? 1, "edge")} of ${named}`;
    if (kind !== "path") return `${kind} of ${named}`;
    const shortest = between(links, nodes[0]!, nodes[1]!);
    return `paths between #${nodes[0]} and #${nodes[1]}, ${counted(shortest, "edge")} or more`;
  }

  #selected(): number[] {
    const { context, model } = this.view;
    return context.session.selected.filter((node) => model.has(node));
  }

  #set(isolation: Isolation): void {
    if (isolation.nodes.length === 0) this.say(NOTHING);
    else this.view.context.options.set("isolate", isolation);
  }

  say(text: string): void {
    this.#notice = text;
    this.view.toolbar.show();
    this.view.mirror.say(text);
  }
}

const NOTHING = "select a node first";

export function kindQuery(opKind: string): string {
  return `kind=${opKind}`;
}
