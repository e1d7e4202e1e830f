import { TRUST_LABELS, Trust } from "../shared/client/answers.ts";
import { counted } from "../shared/format.ts";
import { shortName } from "../shared/short_name.ts";
import type { Gesture, PointerHandlers, PointerSpot } from "../shell/pointer.ts";
import { notesAt } from "./data/hits.ts";
import { TOOLTIP } from "./data/model.ts";
import type { WalkStep } from "./data/walk.ts";
import { EdgeStyle } from "./layout/scene.ts";
import { groupLines } from "./panels/details_parts.ts";
import { GraphPart, SOURCE } from "./parts.ts";

/** Tooltip of edges: under the pointer, or one after the other by key. */
class EdgeTooltip extends GraphPart {
  #shown = { box: -1, row: -1 };

  at(x: number, y: number): string[] {
    const { stage } = this.view;
    const edge = stage.edgeAt(x, y);
    stage.point(edge);
    return edge < 0 ? [] : this.lines(edge);
  }

  step(by: number): void {
    const { placed, box, mirror, stage, tooltip } = this.view;
    if (!placed || box < 0) return;
    const edges = placed.edgesOf(box);
    if (edges.length === 0) {
      mirror.say("No edge.");
      return;
    }
    const row = this.#shown.box === box ? this.#shown.row + by : by > 0 ? 0 : -1;
    this.#shown = { box, row: (row + edges.length) % edges.length };
    const edge = edges[this.#shown.row]!;
    const lines = this.lines(edge);
    stage.point(edge);
    const shape = stage.camera.screen(placed.rectangle(box));
    const { x, y, width, height } = shape;
    const end = placed.scene.edgeTarget[edge] === box ? y : y + height;
    tooltip.tell(lines, stage.canvas, x + width / 2, end, shape);
    mirror.say(`Edge ${this.#shown.row + 1} of ${edges.length}: ${lines.join(", ")}.`);
  }

  along(from: number, to: number): string {
    const { edgeSource, edgeTarget } = this.view.placed!.scene;
    const edge = this.view
      .placed!.edgesOf(from)
      .find((edge) => edgeSource[edge] === to || edgeTarget[edge] === to);
    return edge === undefined ? "" : `${this.lines(edge).join(", ")}. `;
  }

  /** Producer of an edge's tensor, shape and size, and its reader. */
  lines(edge: number): string[] {
    const { placed, model } = this.view;
    const { scene } = placed!;
    const { graph, links, describe } = model;
    const row = scene.edge[edge]!;
    const name = (box: number) => describe.short(scene.node[box]!);
    if (scene.edgeStyle[edge] === EdgeStyle.BRIDGE) {
      const [source, target] = [scene.edgeSource[edge]!, scene.edgeTarget[edge]!];
      return [
        `from ${name(source)} to ${name(target)} through ${counted(-1 - row, "hidden node")}`,
      ];
    }
    if (row < 0 || scene.edgeStyle[edge] === EdgeStyle.CONTROL) {
      return [`${name(scene.edgeSource[edge]!)} runs before ${name(scene.edgeTarget[edge]!)}`];
    }
    const [source, output] = [graph.edgeSource[row]!, graph.edgeOutput[row]!];
    const readers = links.outOf(source).filter((edge) => graph.edgeOutput[edge] === output).length;
    const more = readers > 1 ? ` and ${readers - 1} more` : "";
    const trust = graph.edgeTrust[row]!;
    const match = trust === Trust.EXACT ? "" : `, match: ${TRUST_LABELS[trust]}`;
    const to = shortName(describe.short(graph.edgeTarget[row]!), TOOLTIP);
    return [
      `from ${shortName(describe.short(source), TOOLTIP)}`,
      describe.output(source, output),
      `to ${to}, operand ${graph.edgePosition[row]}${more}${match}`,
    ];
  }
}

/** Commands of the user, by key, button or pointer. */
export class GraphCommands extends GraphPart implements PointerHandlers {
  readonly edges = new EdgeTooltip(this.view);

  select(node: number | null, output?: number): void {
    const { context, folding } = this.view;
    context.options.set("group", null);
    context.session.select(node, SOURCE, output === undefined ? {} : { output });
    if (node !== null) folding.goTo(node);
  }

  press(): void {
    this.view.root.focus({ preventScroll: true });
    this.leave();
  }

  drag({ x, y }: PointerSpot, { last }: Gesture): void {
    this.pan(x - last.x, y - last.y);
  }

  pinch(factor: number, middle: PointerSpot, by: PointerSpot): void {
    this.pan(by.x, by.y);
    this.zoom(1 / factor, middle.x, middle.y);
  }

  pan(dx: number, dy: number): void {
    const { stage, tooltip } = this.view;
    tooltip.hide();
    stage.camera.pan(dx, dy);
    stage.changed();
  }

  /** A factor above 1 shows more. */
  zoom(factor: number, x?: number, y?: number): void {
    this.view.tooltip.hide();
    this.view.stage.zoom(1 / factor, x, y);
  }

  copy(): void {
    this.view.code.copy();
  }

  click({ x, y }: PointerSpot, event: PointerEvent): void {
    const { stage, placed, context, folding } = this.view;
    const adds = event.ctrlKey || event.metaKey || event.shiftKey;
    const { box, group, button } = stage.thingAt(x, y);
    const node = box < 0 ? null : placed!.scene.node[box]!;
    if (button) {
      if (!folding.justDone) folding.toggle(group);
    } else if (group >= 0) folding.select(group);
    else if (!adds) this.select(node);
    else if (node !== null) {
      context.options.set("group", null);
      context.session.toggle(node, SOURCE);
    }
  }

  doubleClick({ x, y }: PointerSpot): void {
    const { stage, folding } = this.view;
    if (folding.justDone) return;
    const { group } = stage.thingAt(x, y);
    const around = group >= 0 ? group : stage.groupAround(x, y);
    if (around >= 0) folding.toggle(around);
    else this.focusNode();
  }

  hover({ x, y }: PointerSpot): void {
    const { stage, placed, context, model, tooltip } = this.view;
    const { box, group, shape } = stage.thingAt(x, y);
    const node = box < 0 || group >= 0 ? null : placed!.scene.node[box]!;
    context.session.hover(node);
    if (box >= 0) stage.point(-1);
    const lines =
      group >= 0
        ? groupLines(model, group)
        : node === null
          ? this.edges.at(x, y)
          : model.describe.tooltip(node, notesAt(placed!.scene, context.session, box)[0]);
    tooltip.tell(lines, stage.canvas, x, y, shape);
    stage.canvas.classList.toggle("tvmdbg-pointing", lines.length > 0);
  }

  menu({ x, y }: PointerSpot): boolean {
    const { stage, placed, context, menus, root } = this.view;
    const { box } = stage.thingAt(x, y);
    if (box < 0) return false;
    if (!context.session.selected.includes(placed!.scene.node[box]!)) this.selectBox(box);
    const [canvas, own] = [stage.canvas.getBoundingClientRect(), root.getBoundingClientRect()];
    menus.actions({ x: x + canvas.left - own.left, y: y + canvas.top - own.top });
    return true;
  }

  leave(): void {
    const { tooltip, stage, context } = this.view;
    tooltip.leave();
    stage.point(-1);
    context.session.hover(null);
  }

  walk(step: WalkStep): void {
    const { placed, walk, mirror, box: here, folding } = this.view;
    if (!placed || placed.scene.count === 0) return;
    const frame = here < 0 && folding.group >= 0 ? placed.scene.frameOfGroup[folding.group]! : -1;
    const there =
      frame >= 0
        ? walk!.ofFrame(frame, step)
        : here < 0
          ? placed.layout.order[0]!
          : walk!.step(here, step);
    this.view.navigation.step("walk");
    if (there === null) mirror.say(`${NOTHING[step]} ${this.#describeHere()}.`);
    else {
      if (here >= 0) this.view.walked = this.edges.along(here, there);
      this.selectBox(there);
    }
  }

  selectBox(box: number): void {
    const { group, node } = this.view.placed!.scene;
    if (group[box]! >= 0) this.view.folding.select(group[box]!);
    else this.select(node[box]!);
  }

  inOrder(by: number): void {
    const { placed, box: here } = this.view;
    if (!placed || placed.scene.count === 0) return;
    const { count } = placed.scene;
    const next = here < 0 ? (by > 0 ? 0 : count - 1) : here + by;
    if (next < 0 || next >= count) return;
    this.view.navigation.step("walk");
    this.selectBox(next);
  }

  async nextHit(by: number): Promise<void> {
    const { hits, context } = this.view;
    const { ready } = hits;
    await ready;
    if (context.signal.aborted || hits.ready !== ready) return;
    const next = hits.next(this.view.node, by);
    if (next !== null) this.select(next);
  }

  slowest(): void {
    const { model, placed, navigator } = this.view;
    if (!model.times.known) navigator.say("the run has no times");
    // The remainder of a call belongs to no node.
    const node = model.times.ranked
      .filter(({ nodes, ns }) => model.times.shown[nodes[0] ?? -1] === ns)
      .flatMap(({ nodes }) => nodes.slice(0, 1))
      .find((id) => (placed?.boxOf(id) ?? -1) >= 0);
    if (node === undefined) return;
    this.select(node);
    this.focusNode();
  }

  nextOf(verdict: number): void {
    const next = this.view.model.describe.health?.next(verdict, this.view.node ?? -1) ?? -1;
    if (next < 0) return;
    this.select(next);
    this.focusNode();
  }

  focusNode(): void {
    const { box, stage, placing } = this.view;
    if (box < 0) return;
    placing.fits = false;
    stage.centerOn(() => this.view.box);
  }

  all(): void {
    const { stage, chosen, placed, isWrapped, navigation } = this.view;
    if (placed && chosen.wrapped === null && !isWrapped && stage.isThread) this.wrap(true);
    else {
      stage.fitAll();
      navigation.step("fit");
    }
  }

  wrap(on: boolean): void {
    const { chosen, placing, context } = this.view;
    if (chosen.wrapped === on) return;
    placing.fits = on;
    context.options.set("wrapped", on);
  }

  fitSelected(): void {
    const { placed, box, walk, stage } = this.view;
    if (!placed || box < 0) {
      this.all();
      return;
    }
    stage.fit(placed.bounds([box, ...walk!.producers(box), ...walk!.consumers(box)]));
    this.view.navigation.step("fit");
  }

  /** Opens the selected group, or closes the one around the selected node, or else looks at the node. */
  enter(): void {
    if (!this.view.folding.enter()) this.look();
  }

  look(): void {
    const { box, stage, details } = this.view;
    if (box >= 0 && !stage.centered(box)) this.focusNode();
    else {
      this.view.showDetails(true);
      details.focus();
    }
  }

  /** Undoes, one at a time: the highlighted kind, the search, the selection. */
  escape(): void {
    const { context, chosen } = this.view;
    if (this.view.cancel()) return;
    if (this.view.highlighted !== null) this.view.highlight(null);
    else if (chosen.query) context.options.set("search", "");
    else this.select(null);
  }

  #describeHere(): string {
    const { node, model, folding } = this.view;
    if (folding.group >= 0) return model.groups.title(folding.group);
    return node === null ? "the graph" : model.describe.short(node);
  }
}

const NOTHING: Record<WalkStep, string> = {
  up: "No producer of",
  down: "No consumer of",
  left: "Nothing before",
  right: "Nothing after",
};
