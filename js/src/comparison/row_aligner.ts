import type { Replaceable } from "../graph/parts.ts";
import { PlacedScene } from "../graph/placed/placed_scene.ts";
import { finished } from "../shared/stretches.ts";
import { aligned } from "./align.ts";
import type { ComparisonData, Side } from "./data.ts";
import { OTHER } from "./data.ts";

/** Graphs of more boxes are not aligned: it would take a while at each change. */
const MOST_BOXES = 20_000;

/** Places both graphs so that what stands for each other stands at the same height, as often as one is laid out anew. */
export class RowAligner {
  readonly #data: ComparisonData;
  /** By side: as it was laid out by itself. */
  readonly #own: [PlacedScene | null, PlacedScene | null] = [null, null];
  readonly #views: [Replaceable | null, Replaceable | null] = [null, null];

  #isAligned = false;

  constructor(data: ComparisonData) {
    this.#data = data;
  }

  /** What one side shows of a layout; the other side is placed beside it. */
  place(side: Side, placed: PlacedScene, view: Replaceable): PlacedScene {
    this.#own[side] = placed;
    this.#views[side] = view;
    const [a, b] = this.#own;
    if (!a || !b || !canAlign(a, b)) {
      if (this.#isAligned) this.#views[OTHER[side]]?.replace(this.#own[OTHER[side]]!);
      this.#isAligned = false;
      return placed;
    }
    this.#isAligned = true;
    const layouts = aligned([a.layout, b.layout], this.#pairs(a, b));
    const both = [a, b].map(({ scene }, at) => finished(PlacedScene.steps(scene, layouts[at]!)));
    this.#views[OTHER[side]]!.replace(both[OTHER[side]]!);
    return both[side]!;
  }

  /** Boxes that show nodes that stand for each other, from the first on. */
  #pairs(a: PlacedScene, b: PlacedScene): [number, number][] {
    const pairs: [number, number][] = [];
    for (let box = 0; box < a.scene.count; box++) {
      const partner = this.#data.partner(0, a.scene.node[box]!);
      const other = partner === null ? -1 : b.boxOf(partner);
      if (other >= 0) pairs.push([box, other]);
    }
    return pairs;
  }
}

function canAlign(a: PlacedScene, b: PlacedScene): boolean {
  const isOne = a.columns === 1 && b.columns === 1;
  const isSmall = a.scene.count + b.scene.count <= MOST_BOXES;
  return isOne && isSmall && a.layout.direction === b.layout.direction;
}
