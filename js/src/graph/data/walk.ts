import type { PlacedScene } from "../layout/placed_scene.ts";

export type WalkStep = "up" | "down" | "left" | "right";

export class Walk {
  readonly #placed: PlacedScene;
  #from: { box: number; at: number; step: WalkStep } | null = null;

  constructor(placed: PlacedScene) {
    this.#placed = placed;
  }

  producers(box: number): readonly number[] {
    const { edgeSource, edgeTarget } = this.#placed.scene;
    const into = this.#placed.edgesOf(box).filter((edge) => edgeTarget[edge] === box);
    return [...new Set(Array.from(into, (edge) => edgeSource[edge]!))];
  }

  consumers(box: number): readonly number[] {
    const { edgeSource, edgeTarget } = this.#placed.scene;
    const out = this.#placed.edgesOf(box).filter((edge) => edgeSource[edge] === box);
    return [...new Set(Array.from(out, (edge) => edgeTarget[edge]!))];
  }

  ofFrame(frame: number, step: WalkStep): number | null {
    const { frames, frameOf } = this.#placed.scene;
    const { order } = this.#placed.layout;
    const isInside = (box: number) => {
      let at = frameOf[box]!;
      while (at > frame) at = frames.parent[at]!;
      return at === frame;
    };
    const inside = order.filter(isInside);
    if (inside.length === 0) return null;
    if (step === "down") return inside[0]!;
    if (step === "up") {
      for (const box of inside) {
        const before = this.producers(box).filter((other) => !isInside(other));
        if (before.length) return this.#nearest(box, before);
      }
      return null;
    }
    return this.#beside(inside[0]!, step === "left" ? -1 : 1, null);
  }

  /** Target box of a step from `box`, or null. */
  step(box: number, step: WalkStep): number | null {
    const cameFrom = this.#from?.at === box ? this.#from : null;
    let to: number | null;
    if (step === "down" || step === "up") {
      const choices = step === "down" ? this.consumers(box) : this.producers(box);
      const back = cameFrom && cameFrom.step !== step && choices.includes(cameFrom.box);
      to = back ? cameFrom.box : this.#nearest(box, choices);
    } else {
      to = this.#beside(box, step === "left" ? -1 : 1, cameFrom);
    }
    if (to === null) return null;
    const sideways = step === "left" || step === "right";
    if (!sideways) this.#from = { box, at: to, step };
    else if (cameFrom) this.#from = { ...cameFrom, at: to };
    return to;
  }

  #nearest(box: number, choices: readonly number[]): number | null {
    const { x, y, direction } = this.#placed.layout;
    const across = direction === "down" ? x : y;
    const flow = (other: number) => this.#placed.flow(x[other]!, y[other]!);
    let best: number | null = null;
    const distance = (other: number) => [
      Math.abs(flow(other) - flow(box)),
      Math.abs(across[other]! - across[box]!),
    ];
    for (const choice of choices) {
      if (choice === box) continue;
      if (best === null || less(distance(choice), distance(best))) best = choice;
    }
    return best;
  }

  /** The next operand, or the other consumer, of the box left by the last step; else the next in the layer. */
  #beside(
    box: number,
    by: number,
    cameFrom: { box: number; step: WalkStep } | null,
  ): number | null {
    if (cameFrom) {
      const siblings =
        cameFrom.step === "up" ? this.producers(cameFrom.box) : this.consumers(cameFrom.box);
      const next = this.#inPictureOrder(siblings, box, by);
      if (next !== null) return next;
    }
    const { layer, layerStart, order, x, y, direction } = this.#placed.layout;
    const { width, height } = this.#placed.scene;
    const [along, size] = direction === "down" ? [y, height] : [x, width];
    const row = order.subarray(layerStart[layer[box]!]!, layerStart[layer[box]! + 1]!);
    const abreast = row.filter(
      (other) => Math.abs(along[other]! - along[box]!) * 2 < size[other]! + size[box]!,
    );
    const there = this.#inPictureOrder(Array.from(abreast), box, by);
    if (there !== null) return there;
    for (const consumer of this.consumers(box)) {
      const next = this.#inPictureOrder(this.producers(consumer), box, by);
      if (next !== null) return next;
    }
    return null;
  }

  #inPictureOrder(boxes: readonly number[], box: number, by: number): number | null {
    const { x, y, direction } = this.#placed.layout;
    const across = direction === "down" ? x : y;
    const sorted = [...boxes].sort((a, b) => across[a]! - across[b]! || a - b);
    const row = sorted.indexOf(box);
    return row < 0 ? null : (sorted[row + by] ?? null);
  }
}

function less(a: readonly number[], b: readonly number[]): boolean {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value < b[i]!;
  return false;
}
