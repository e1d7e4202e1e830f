import type { FlowColumns } from "../../shared/client/run_client.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { counted } from "../../shared/format.ts";
import type { Scene } from "../tracks/scene.ts";

/** More arrows of one slice than this are no picture. */
const MOST = 200;

/** Arrows between slices: which slice started which. */
export class Flows {
  readonly #columns: FlowColumns;
  /** Flows of a slice: [first[s], first[s + 1]) of `#flows`; only slices that have some are listed. */
  readonly #bySlice = new Map<number, number[]>();

  constructor(columns: FlowColumns) {
    this.#columns = columns;
    const add = (slice: number, flow: number) => {
      if (slice < 0) return;
      const known = this.#bySlice.get(slice);
      if (known) known.push(flow);
      else this.#bySlice.set(slice, [flow]);
    };
    columns.flowFrom.forEach((slice, flow) => {
      add(slice, flow);
      if (columns.flowTo[flow] !== slice) add(columns.flowTo[flow]!, flow);
    });
  }

  of(slice: number): readonly number[] {
    return this.#bySlice.get(slice) ?? [];
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

  paint(context: CanvasRenderingContext2D, scene: Scene, theme: Theme): void {
    const shown = new Set([...this.of(scene.current), ...this.of(scene.hovered)].slice(0, MOST));
    const { flowFrom, flowTo } = this.#columns;
    for (const flow of shown) {
      const [from, to] = [this.#y(scene, flowFrom[flow]!), this.#y(scene, flowTo[flow]!)];
      if (from === null || to === null) continue;
      const [x1, y1] = [scene.x(scene.slices.endOf(flowFrom[flow]!)), from];
      const [x2, y2] = [scene.x(scene.slices.startOf(flowTo[flow]!)), to];
      const bend = Math.max(12, Math.min(60, Math.abs(x2 - x1) / 2));
      for (const [color, width] of [
        [theme.background, 4],
        [theme.text, 1.5],
      ] as const) {
        context.strokeStyle = context.fillStyle = color;
        context.lineWidth = width;
        context.beginPath();
        context.moveTo(x1, y1);
        context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
        context.stroke();
        context.beginPath();
        context.moveTo(x2, y2);
        context.lineTo(x2 - 8, y2 - 4);
        context.lineTo(x2 - 8, y2 + 4);
        context.fill();
      }
    }
  }

  #y(scene: Scene, slice: number): number | null {
    const row = scene.slices.rows[scene.slices.rowOf(slice)];
    if (!row) return null;
    const { y, height } = scene.rowBox(row);
    return y < -1e5 ? null : y + height / 2;
  }
}
