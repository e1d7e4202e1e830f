import { TRUST_LABELS, Trust } from "../../shared/client/run_client.ts";
import { counted } from "../../shared/format.ts";
import type { Picture } from "../paint/picture.ts";
import { EdgeStyle } from "../placed/scene.ts";
import type { GraphView } from "../view.ts";

/** So near to a line the pointer is on it, CSS px. */
const REACH = 5;
/** Edges looked at below the pointer, and readers that are named. */
const MOST = 3000;
const NAMED = 6;

/** The drawn edge at a point of the stage, -1 where there is none. */
export function edgeAt({ placed, camera }: Picture, x: number, y: number): number {
  const { offsets, points } = placed.layout.routes;
  const [atX, atY] = [camera.worldX(x), camera.worldY(y)];
  const reach = REACH / camera.scale;
  const view = { minX: atX - reach, maxX: atX + reach, minY: atY - reach, maxY: atY + reach };
  let [found, least, looked] = [-1, reach, 0];
  placed.eachEdge(view, (edge) => {
    if (looked++ > MOST) return;
    const start = offsets[edge]!;
    const isStub = placed.isStub[edge];
    const [first, end] = isStub ? [start, start + 4] : placed.pointsInView(edge, view);
    for (let i = first; i + 1 < end; i++) {
      if (isStub && i === start + 1) continue;
      const away = distance(atX, atY, points, i);
      if (away < least) [found, least] = [edge, away];
    }
  });
  return found;
}

/** From a point to the stretch that begins at the point `i` of a stroke. */
function distance(x: number, y: number, points: ArrayLike<number>, i: number): number {
  const [fromX, fromY] = [points[2 * i]!, points[2 * i + 1]!];
  const [wide, high] = [points[2 * i + 2]! - fromX, points[2 * i + 3]! - fromY];
  const along = ((x - fromX) * wide + (y - fromY) * high) / (wide * wide + high * high || 1);
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(x - fromX - share * wide, y - fromY - share * high);
}

/** Says what an edge carries: under the pointer, and one after the other by key. */
export class EdgeTooltip {
  readonly #view: GraphView;
  /** Which edge of the selected box was told last. */
  #told = { box: -1, row: -1 };

  constructor(view: GraphView) {
    this.#view = view;
  }

  /** What the edge at a point carries; empty where there is none. */
  at(x: number, y: number): string[] {
    const { stage } = this.#view;
    const edge = stage.edgeAt(x, y);
    stage.point(edge);
    return edge < 0 ? [] : this.lines(edge);
  }

  /** Tells of the next edge of the selected box, beside it and to screen readers. */
  step(by: number): void {
    const { placed, box, mirror, stage, tooltip } = this.#view;
    if (!placed || box < 0) return;
    const edges = placed.edgesOf(box);
    if (edges.length === 0) {
      mirror.say("No edge.");
      return;
    }
    const row = this.#told.box === box ? this.#told.row + by : by > 0 ? 0 : -1;
    this.#told = { box, row: (row + edges.length) % edges.length };
    const edge = edges[this.#told.row]!;
    const lines = this.lines(edge);
    stage.point(edge);
    const { x, y, width, height } = placed.rectangle(box);
    const { camera } = stage;
    tooltip.show(
      lines.join("\n"),
      camera.screenX(x + width / 2),
      camera.screenY(placed.scene.edgeTarget[edge] === box ? y : y + height),
      stage.node,
    );
    mirror.say(`Edge ${this.#told.row + 1} of ${edges.length}: ${lines.join(", ")}.`);
  }

  /** What is walked along from a box to the next one; empty where no edge is between them. */
  along(from: number, to: number): string {
    const { placed, model } = this.#view;
    const { edgeSource, edgeTarget, edge: rows } = placed!.scene;
    const edge = placed!
      .edgesOf(from)
      .find((each) => edgeSource[each] === to || edgeTarget[each] === to);
    if (edge === undefined) return "";
    const row = rows[edge]!;
    if (row < 0) return `${this.lines(edge).join(", ")}. `;
    const { edgeSource: source, edgeOutput: output } = model.graph;
    return `On the edge from ${model.describe.output(source[row]!, output[row]!)}. `;
  }

  /** Shape, size and place of the tensor, who makes it, and all that read it. */
  lines(edge: number): string[] {
    const { placed, model } = this.#view;
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
    const readers = Array.from(links.outOf(source)).filter(
      (each) => graph.edgeOutput[each] === output,
    );
    const said = readers
      .slice(0, NAMED)
      .map(
        (each) => `${describe.short(graph.edgeTarget[each]!)} operand ${graph.edgePosition[each]}`,
      );
    const more = readers.length - said.length;
    const trust = graph.edgeTrust[row]!;
    return [
      `from ${describe.short(source)}`,
      describe.output(source, output),
      ...said.map((each) => `to ${each}`),
      ...(more > 0 ? [`and ${more} more`] : []),
      ...(trust === Trust.EXACT ? [] : [`matched ${TRUST_LABELS[trust]}`]),
    ];
  }
}
