import { TRUST_LABELS, Trust } from "../../shared/client/run_client.ts";
import { counted } from "../../shared/format.ts";
import type { GraphParts } from "../parts.ts";
import { EdgeStyle } from "../placed/scene.ts";

/** Readers that are named. */
const NAMED = 6;

/** What it needs of the view. */
type Pointed = Pick<GraphParts, "box" | "mirror" | "model" | "placed" | "stage" | "tooltip">;

/** Says what an edge carries: under the pointer, and one after the other by key. */
export class EdgeTooltip {
  readonly #view: Pointed;
  /** Which edge of the selected box was told last. */
  #told = { box: -1, row: -1 };

  constructor(view: Pointed) {
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
