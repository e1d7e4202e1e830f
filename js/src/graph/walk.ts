import type { Placed } from "./placed.ts";

export type Step = "up" | "down" | "left" | "right";

/** Walks from box to box along edges, by what is above, below and beside on the picture. */
export class Walk {
  readonly #placed: Placed;
  readonly #producers: number[][];
  readonly #consumers: number[][];
  #from: { box: number; at: number; step: Step } | null = null;

  constructor(placed: Placed) {
    this.#placed = placed;
    const { count, edgeSource, edgeTarget } = placed.scene;
    this.#producers = Array.from({ length: count }, () => []);
    this.#consumers = Array.from({ length: count }, () => []);
    for (let edge = 0; edge < edgeSource.length; edge++) {
      const [source, target] = [edgeSource[edge]!, edgeTarget[edge]!];
      if (!this.#producers[target]!.includes(source)) this.#producers[target]!.push(source);
      if (this.#consumers[source]!.at(-1) !== target) this.#consumers[source]!.push(target);
    }
  }

  producers(box: number): readonly number[] {
    return this.#producers[box] ?? [];
  }

  consumers(box: number): readonly number[] {
    return this.#consumers[box] ?? [];
  }

  /** The box that a step from `box` leads to, null where there is none. */
  step(box: number, step: Step): number | null {
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
    const { layer, x, y, direction } = this.#placed.layout;
    const across = direction === "down" ? x : y;
    let best: number | null = null;
    const distance = (other: number) => [
      Math.abs(layer[other]! - layer[box]!),
      Math.abs(across[other]! - across[box]!),
    ];
    for (const choice of choices) {
      if (choice === box) continue;
      if (best === null || less(distance(choice), distance(best))) best = choice;
    }
    return best;
  }

  /** The next operand, or the other consumer, of the box that was left by the last step; else the next in the layer. */
  #beside(box: number, by: number, cameFrom: { box: number; step: Step } | null): number | null {
    if (cameFrom) {
      const siblings =
        cameFrom.step === "up" ? this.producers(cameFrom.box) : this.consumers(cameFrom.box);
      const next = this.#inPictureOrder(siblings, box, by);
      if (next !== null) return next;
    }
    const { layer, layerStart, order } = this.#placed.layout;
    const [start, end] = [layerStart[layer[box]!]!, layerStart[layer[box]! + 1]!];
    const row = order.subarray(start, end).indexOf(box) + by;
    if (row >= 0 && row < end - start) return order[start + row]!;
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
