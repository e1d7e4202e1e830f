import type { FlowColumns } from "../../shared/client/run_client.ts";
import { counted } from "../../shared/format.ts";
import { addTo } from "../../shared/many.ts";

/** Arrows between slices: which slice started which. */
export class Flows {
  readonly #columns: FlowColumns;
  /** Flows of a slice: [first[s], first[s + 1]) of `#flows`; only slices that have some are listed. */
  readonly #bySlice = new Map<number, number[]>();

  constructor(columns: FlowColumns) {
    this.#columns = columns;
    const add = (slice: number, flow: number) => {
      if (slice < 0) return;
      addTo(this.#bySlice, slice, flow);
    };
    columns.flowFrom.forEach((slice, flow) => {
      add(slice, flow);
      if (columns.flowTo[flow] !== slice) add(columns.flowTo[flow]!, flow);
    });
  }

  of(slice: number): readonly number[] {
    return this.#bySlice.get(slice) ?? [];
  }

  /** The slices at both ends of a flow; -1 where that is unknown. */
  ends(flow: number): [from: number, to: number] {
    const { flowFrom, flowTo } = this.#columns;
    return [flowFrom[flow]!, flowTo[flow]!];
  }

  /** The slice at the other end of an arrow that leaves (or, `by` < 0, reaches) this one; the next after `last`. */
  follow(slice: number, by: number): number {
    const { flowFrom, flowTo } = this.#columns;
    const [near, far] = by > 0 ? [flowFrom, flowTo] : [flowTo, flowFrom];
    return far[this.of(slice).find((flow) => near[flow] === slice && far[flow]! >= 0) ?? -1] ?? -1;
  }

  /** `2 arrows out, 1 in: launch`. */
  sentence(slice: number): string {
    const flows = this.of(slice);
    if (!flows.length) return "no arrows";
    const out = flows.filter((flow) => this.#columns.flowFrom[flow] === slice).length;
    const names = [...new Set(flows.map((flow) => this.#columns.flowNames.at(flow)))].slice(0, 3);
    return `${counted(out, "arrow")} out, ${flows.length - out} in: ${names.join(", ")}`;
  }
}
