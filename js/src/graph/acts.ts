import { notesAt } from "./noted.ts";
import type { GraphView } from "./view.ts";
import type { Step } from "./walk.ts";

const SOURCE = "graph";

/** All that is done to a view of a graph by hand or by key. */
export class Acts {
  readonly #view: GraphView;

  constructor(view: GraphView) {
    this.#view = view;
  }

  select(node: number | null, output?: number): void {
    const { context, placed, stage } = this.#view;
    this.#view.expects(JSON.stringify(node === null ? [] : [node]));
    context.session.select(node, SOURCE, output === undefined ? {} : { output });
    const box = node === null ? -1 : (placed?.boxOf(node) ?? -1);
    if (box >= 0) stage.goTo(box);
  }

  /** Selects what is drawn at a point of the stage; nothing where the point is empty. */
  pick(x: number, y: number, add: boolean): void {
    const { stage, placed, context } = this.#view;
    const box = stage.boxAt(x, y);
    const node = box < 0 ? null : placed!.scene.node[box]!;
    if (!add) this.select(node);
    else if (node !== null) {
      this.#view.expects("toggled");
      context.session.toggle(node, SOURCE);
    }
  }

  hover(x: number, y: number): void {
    const { stage, placed, context, model, tooltip } = this.#view;
    const box = stage.boxAt(x, y);
    const node = box < 0 ? null : placed!.scene.node[box]!;
    context.session.hover(node);
    const text =
      node === null
        ? null
        : [
            model.describe.tooltip(node, placed!.scene),
            ...notesAt(placed!.scene, context.session, box),
          ].join("\n");
    tooltip.show(text, x, y, stage.node);
    stage.canvas.classList.toggle("tvmdbg-pointing", node !== null);
  }

  leave(): void {
    const { tooltip, stage, context } = this.#view;
    tooltip.show(null, 0, 0, stage.node);
    context.session.hover(null);
  }

  /** Steps along an edge, or into the graph where nothing is selected. */
  walk(step: Step): void {
    const { placed, walk, mirror, box: here } = this.#view;
    if (!placed || placed.scene.count === 0) return;
    const there = here < 0 ? placed.layout.order[0]! : walk!.step(here, step);
    if (there === null) mirror.say(`${NOTHING[step]} ${this.#describeHere()}.`);
    else this.select(placed.scene.node[there]!);
  }

  /** The next drawn node in execution order. */
  inOrder(by: number): void {
    const { placed, box: here } = this.#view;
    if (!placed || placed.scene.count === 0) return;
    const { node, count } = placed.scene;
    const next = here < 0 ? (by > 0 ? 0 : count - 1) : here + by;
    if (next >= 0 && next < count) this.select(node[next]!);
  }

  nextHit(by: number): void {
    const next = this.#view.hits.next(this.#view.node, by);
    if (next !== null) this.select(next);
  }

  /** Selects the slowest of the nodes that are shown. */
  slowest(): void {
    const { model, placed } = this.#view;
    const node = model.times.ranked.find((each) => (placed?.boxOf(each) ?? -1) >= 0);
    if (node === undefined) return;
    this.select(node);
    this.focusNode();
  }

  /** Selects the next node of a verdict in execution order. */
  nextOf(verdict: number): void {
    const next = this.#view.model.describe.health?.next(verdict, this.#view.node ?? -1) ?? -1;
    if (next < 0) return;
    this.select(next);
    this.focusNode();
  }

  /** Puts the selected node in the middle, at a scale at which it can be read. */
  focusNode(): void {
    const { box, stage } = this.#view;
    if (box >= 0) stage.goTo(box, true);
  }

  fitAll(): void {
    this.#view.stage.fitAll();
  }

  /** Fits the selected node and its neighbours; the whole graph where nothing is selected. */
  fitSelected(): void {
    const { placed, box, walk, stage } = this.#view;
    if (!placed || box < 0) {
      this.fitAll();
      return;
    }
    stage.fit(placed.bounds([box, ...walk!.producers(box), ...walk!.consumers(box)]));
  }

  /** Centres the selected node; where it is centred already, gives the keyboard to its details. */
  enter(): void {
    const { box, stage, details } = this.#view;
    if (box >= 0 && !stage.centred(box)) this.focusNode();
    else {
      this.#view.showDetails(true);
      details.focus();
    }
  }

  /** Takes back, one at a time: the highlighted kind, the search, the selection. */
  escape(): void {
    const { context, chosen } = this.#view;
    if (this.#view.highlighted !== null) this.#view.highlight(null);
    else if (chosen.query) context.options.set("search", "");
    else this.select(null);
  }

  #describeHere(): string {
    const { node, model } = this.#view;
    return node === null ? "the graph" : model.describe.short(node);
  }
}

const NOTHING: Record<Step, string> = {
  up: "No producer of",
  down: "No consumer of",
  left: "Nothing before",
  right: "Nothing after",
};
