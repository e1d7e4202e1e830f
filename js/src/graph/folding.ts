import { counted } from "../shared/format.ts";
import { notedBoxes } from "./data/hits.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";
import { boxesOf } from "./layout/scene.ts";
import type { OverlayMarks } from "./paint/painter.ts";
import { type GraphHost, GraphPart, SOURCE } from "./parts.ts";

/** Largest group whose nodes are selected in the other views. */
export const MOST_SELECTED = 2000;
/** Milliseconds after opening or closing a group in which another click counts as a double click. */
const DOUBLE = 350;

export class Folding extends GraphPart {
  #last = 0;
  /** Group to scroll to once it is drawn, or -1. */
  #coming = -1;

  /** The selected group while it is drawn. */
  get group(): number {
    const { chosen, model, placed } = this.view;
    const group = chosen.group ?? -1;
    if (!placed || !model.groups.has(group)) return -1;
    const { boxOfGroup, frameOfGroup } = placed.scene;
    return boxOfGroup[group]! >= 0 || frameOfGroup[group]! >= 0 ? group : -1;
  }

  get around(): number {
    const { node, model, placed } = this.view;
    if (this.group >= 0 || node === null || !placed) return this.group;
    const { frameOfGroup, boxOfGroup } = placed.scene;
    let group = model.graph.nodeGroup[node]!;
    while (group >= 0 && frameOfGroup[group]! < 0 && boxOfGroup[group]! < 0) {
      group = model.graph.groupParent[group]!;
    }
    return group;
  }

  /** Reports automatically opened groups to Python. */
  tellOpened(): void {
    const { chosen, context, placed } = this.view;
    const open = placed?.scene.open;
    if (chosen.openGroups !== null || !open) return;
    context.options.set(
      "_opened",
      Array.from(open.keys()).filter((group) => open[group]),
    );
  }

  isOpen(group: number): boolean {
    return (this.view.placed?.scene.frameOfGroup[group] ?? -1) >= 0;
  }

  select(group: number): void {
    this.view.context.options.set("group", group);
  }

  chosen(): void {
    const { model, stage, placed, chosen } = this.view;
    const { group } = this;
    if (group < 0 && chosen.group !== null) this.#coming = chosen.group;
    if (group >= 0) {
      const nodes = this.isTooLarge(group) ? [] : Array.from(model.groups.nodes(group));
      this.view.context.session.selectMany(nodes, SOURCE);
      const box = placed!.scene.boxOfGroup[group]!;
      if (box >= 0) stage.goTo(box);
    }
    this.view.mark();
    this.view.tell();
  }

  /** After a change of the picture: selects the group just closed or requested, and returns its box to scroll to. */
  placed(): number {
    const coming = this.#coming;
    this.#coming = -1;
    if (coming >= 0 && this.group === coming) this.chosen();
    return this.view.placed!.scene.boxOfGroup[coming] ?? -1;
  }

  isTooLarge(group: number): boolean {
    return this.view.model.groups.nodes(group).length > MOST_SELECTED;
  }

  toggle(group: number): void {
    if (this.isOpen(group)) this.set([group], false, group);
    else this.set([group], true, group);
  }

  /** Scrolls to a node: opens the groups around it, and moves the camera unless it is visible already. */
  goTo(node: number): void {
    const { placed, model, stage, placing } = this.view;
    const box = placed?.boxOf(node) ?? -1;
    if (!placed || box < 0) return;
    const closed = placed.scene.group[box]!;
    if (closed < 0) {
      stage.goTo(box);
      return;
    }
    const around = model.groups.around(node);
    placing.goal = node;
    // A parameter is shown at its readers.
    this.set(around.includes(closed) ? around : [closed], true, -1);
  }

  show(group: number): void {
    const { groupParent } = this.view.model.graph;
    const closed: number[] = [];
    for (let at = groupParent[group]!; at >= 0; at = groupParent[at]!) {
      if (!this.isOpen(at)) closed.push(at);
    }
    if (closed.length) this.set(closed, true, closed.at(-1)!);
    this.select(group);
  }

  find(query: string): void {
    this.view.context.options.set("search", query);
  }

  /** True if the click is the second of a double click that opened or closed a group. */
  get justDone(): boolean {
    return performance.now() - this.#last < DOUBLE;
  }

  /** Opens groups and those around them, or closes them; `anchor` stays in place. */
  set(groups: readonly number[], open: boolean, anchor: number): void {
    const { chosen, context, model, placed } = this.view;
    if (!placed?.scene.open) return;
    const flags = placed.scene.open.slice();
    // The drawn picture may be older than the last request.
    if (chosen.openGroups) flags.fill(0);
    for (const group of chosen.openGroups ?? []) flags[group] = 1;
    this.#last = performance.now();
    if (anchor >= 0 && !open && this.#holds(anchor)) this.select(anchor);
    if (groups.some((group) => Boolean(flags[group]) !== open)) {
      for (const group of groups) flags[group] = open ? 1 : 0;
      this.view.placing.anchor = anchor >= 0 ? anchor : null;
      if (!open) this.#coming = anchor;
      const list = Array.from(flags.keys()).filter((group) => flags[group]);
      context.options.set("open_groups", list);
    }
    const what =
      groups.length === 1 ? model.groups.title(groups[0]!) : counted(groups.length, "group");
    this.view.mirror.say(`${what}: ${open ? "open" : "closed"}.`);
  }

  setKind(open: boolean): void {
    const { around } = this;
    if (around < 0) this.setAll(open);
    else this.set(this.view.model.groups.ofKind(around), open, around);
  }

  setAll(open: boolean): void {
    const { count } = this.view.model.groups;
    if (count === 0) this.view.mirror.say("This graph has no groups.");
    else
      this.set(
        Array.from({ length: count }, (_, group) => group),
        open,
        this.around,
      );
  }

  enter(): boolean {
    const { around } = this;
    if (around < 0) return false;
    this.toggle(around);
    return true;
  }

  #holds(group: number): boolean {
    const { node, model } = this.view;
    return this.group >= 0 || (node !== null && model.groups.nodes(group).includes(node));
  }
}

export function overlayOf(
  { context, folding, hits, model }: GraphHost,
  placed: PlacedScene,
): OverlayMarks {
  const { selected, hovered } = context.session;
  const { scene } = placed;
  const { group } = folding;
  const boxes = (node: number) => Array.from(boxesOf(scene, node)).reverse();
  const own = group < 0 ? -1 : scene.boxOfGroup[group]!;
  return {
    selected: group < 0 ? [...new Set(selected.flatMap(boxes))] : own < 0 ? [] : [own],
    frame: group < 0 ? -1 : scene.frameOfGroup[group]!,
    hovered: hovered === null ? -1 : placed.boxOf(hovered),
    hits: hits.boxes,
    noted: notedBoxes(scene, context.session, model),
  };
}
