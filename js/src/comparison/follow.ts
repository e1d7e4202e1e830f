import type { Bounds } from "../graph/layout/types.ts";
import { Camera } from "../graph/stage/camera.ts";
import type { GraphView } from "../graph/view.ts";
import { type ComparisonData, OTHER, type Side } from "./data.ts";

/** Less than so much is no move, CSS px. */
const STILL = 0.5;

/** Moves one graph with the other, so that nodes that stand for each other stand at the same place. */
export class Follow {
  /** The side that is moved by hand. */
  leader: Side = 0;
  readonly #data: ComparisonData;
  readonly #isLinked: () => boolean;
  readonly #views: [GraphView | null, GraphView | null] = [null, null];

  constructor(data: ComparisonData, isLinked: () => boolean) {
    this.#data = data;
    this.#isLinked = isLinked;
  }

  view(side: Side): GraphView | null {
    return this.#views[side];
  }

  /** A side was drawn. */
  drawn(side: Side, view: GraphView): void {
    const isFirst = this.#views[side] === null;
    this.#views[side] = view;
    const lead = this.#views[this.leader];
    if (this.#isLinked() && lead && !lead.stage.isMoved) this.#level();
    if (isFirst || side === this.leader) this.follow();
  }

  /** Both are seen at the scale of the one that has less room. */
  #level(): void {
    const [lead, other] = [this.#views[this.leader], this.#views[OTHER[this.leader]]];
    if (!lead?.placed || !other?.placed) return;
    const { camera } = lead.stage;
    const factor = other.stage.camera.scale / camera.scale;
    if (factor >= 1) return;
    const target = Object.assign(new Camera(), camera);
    target.zoomAt(factor, camera.width / 2, lead.stage.showsAll ? camera.height / 2 : 0);
    lead.stage.along(target);
  }

  follow(): void {
    const lead = this.#views[this.leader];
    const other = this.#views[OTHER[this.leader]];
    if (!this.#isLinked() || !lead?.placed || !other?.placed) return;
    const pair = this.#anchor(lead);
    if (!pair) return;
    const [box, to] = [lead.placed.boxOf(pair[0]), other.placed.boxOf(pair[1])];
    const [camera, moved] = [lead.stage.camera, other.stage.camera];
    if (box < 0 || to < 0 || moved.width <= 1) return;
    const { scale } = camera;
    const [{ x, y }, there] = [lead.placed.layout, other.placed.layout];
    const right = there.x[to]! - (x[box]! - camera.x);
    const down = there.y[to]! - (y[box]! - camera.y);
    const target = Object.assign(new Camera(), moved, { x: right, y: down, scale });
    target.clamp(there.bounds);
    const away = Math.hypot(target.x - moved.x, target.y - moved.y) * scale;
    if (away < STILL && Math.abs(moved.scale / scale - 1) < 1e-6) return;
    other.stage.along(target);
  }

  /** What is held at the same place: the selected node if it is in sight, else what is nearest to the point to hold. */
  #anchor(lead: GraphView): [node: number, partner: number] | null {
    const { camera } = lead.stage;
    const placed = lead.placed!;
    const { node } = lead;
    const box = node === null ? -1 : placed.boxOf(node);
    const seen = box >= 0 && camera.shows(placed.rectangle(box), 0);
    const { x, y } = held(camera, placed.layout);
    for (const each of [seen ? node : null, placed.nearest(x, y)]) {
      const partner = each === null ? null : this.#data.partner(this.leader, each);
      if (each !== null && partner !== null) return [each, partner];
    }
    return null;
  }
}

/**
 * The point of the graph that is held: as far down the stage as the stage is down the graph. So both graphs begin
 * together and end together, whatever their lengths.
 */
function held(
  camera: Camera,
  { bounds, direction }: { bounds: Bounds; direction: "down" | "right" },
): { x: number; y: number } {
  const { minX, minY, maxX, maxY } = camera.view();
  const right = direction === "right";
  return {
    x: along(minX, maxX, bounds.minX, bounds.maxX, right ? bounds.minX : camera.x),
    y: along(minY, maxY, bounds.minY, bounds.maxY, right ? camera.y : bounds.minY),
  };
}

function along(from: number, to: number, low: number, high: number, whole: number): number {
  const hidden = high - low - (to - from);
  if (hidden <= 0) return whole;
  return from + (to - from) * Math.max(0, Math.min(1, (from - low) / hidden));
}
