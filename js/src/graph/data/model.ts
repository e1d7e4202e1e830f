import {
  type FactColumns,
  type GraphColumns,
  NODE_KINDS,
  NodeKind,
} from "../../shared/client/answers.ts";
import { isSuspicious } from "../../shared/client/health.ts";
import type { TimelineColumns } from "../../shared/client/timeline_columns.ts";
import { counted, duration, entryText, nodeTitle, percent } from "../../shared/format.ts";
import { shortName } from "../../shared/short_name.ts";
import { BoxLabels, type LabelMeasure } from "../layout/labels.ts";
import { boxesOf, foldedInto, type GraphScene } from "../layout/scene.ts";
import type { NodeHealth } from "./health.ts";
import { Groups, Links } from "./links.ts";
import { valueText } from "./node_columns.ts";
import { Facts } from "./query_fields.ts";
import { NodeTimes } from "./times.ts";

const NAMED = 4;
/** Letters of a name in a tooltip. */
export const TOOLTIP = 48;

/** Descriptions of nodes for the tooltip and for screen readers. */
export class NodeDescriptions {
  readonly #graph: GraphColumns;
  readonly #links: Links;
  readonly #labels: BoxLabels;
  readonly #times: NodeTimes;
  health: NodeHealth | null = null;
  entryValue: (entry: number) => string = () => "";
  /** Text of the colored value of some nodes; empty if it is redundant. */
  value: (nodes: ArrayLike<number>) => string = () => "";

  constructor(links: Links, labels: BoxLabels, times: NodeTimes) {
    this.#graph = links.graph;
    this.#links = links;
    this.#labels = labels;
    this.#times = times;
  }

  short(node: number, output = 0): string {
    return nodeTitle(this.#labels.title(node), node, output);
  }

  kind(node: number): string {
    const role = this.#graph.roles.at(node);
    if (role) return role;
    const kind = NODE_KINDS[this.#graph.kinds[node]!] ?? "node";
    const opKind = this.#graph.opKinds.at(node);
    return kind === opKind ? kind : `${kind}, ${opKind}`;
  }

  /** Name, the value asked for, and one fact: a fault, a note, or shape and dtype; the rest is in the details. */
  tooltip(node: number, note = ""): string[] {
    const [fault = ""] = this.#wrong(node);
    const value = this.value([node]) || this.#labels.time(node);
    const fact = fault || note || this.output(node, 0);
    return [shortName(this.short(node), TOOLTIP), value, fact];
  }

  sentence(node: number, scene: GraphScene, where = ""): string {
    const { names, entryOffsets, kinds, edgeSource, edgeTarget } = this.#graph;
    const parts = [`Node ${node} of ${kinds.length}`, this.#labels.title(node), this.kind(node)];
    const outputs = entryOffsets[node + 1]! - entryOffsets[node]!;
    for (let output = 0; output < Math.min(outputs, NAMED); output++) {
      parts.push(`output ${output} ${this.#labels.entry(node, output)}`);
    }
    if (outputs > NAMED) parts.push(counted(outputs - NAMED, "more output"));
    if (this.#labels.isHead(node)) parts.push("graph output");
    const ns = this.#times.ns[node]!;
    if (ns > 0) {
      parts.push(duration(ns), `${percent(this.#times.share(node))} of the total`);
      parts.push(`rank ${this.#times.rank(node) ?? "none"}`);
    } else if (kinds[node] === NodeKind.OPERATOR) {
      parts.push(this.#labels.time(node));
    }
    const value = this.value([node]);
    if (value) parts.push(value);
    const wrong = this.#wrong(node);
    if (wrong.length) parts.push(`health ${wrong.join(", ")}`);
    const producers = [...new Set(this.#links.into(node).map((edge) => edgeSource[edge]!))];
    const consumers = [
      ...new Set(Array.from(this.#links.outOf(node), (edge) => edgeTarget[edge]!)),
    ];
    const text = [
      parts.join(", "),
      `${counted(this.#links.into(node).length, "input")}${this.#list(" from ", producers)}`,
      `${counted(consumers.length, "consumer")}${this.#list(": ", consumers)}`,
    ];
    const boxes = boxesOf(scene, node);
    if (boxes.length === 0) text.push("not in the visible part of the graph");
    else if (scene.group[boxes[0]!]! >= 0) {
      text.push(`inside the closed group ${scene.text(boxes[0]!).title}`);
    } else if (scene.node[boxes[0]!] !== node) {
      const hosts = Array.from(boxes, (box) => scene.node[box]!);
      text.push(`${names.at(node)} is hidden in${this.#list(" ", hosts)}`);
    } else if (foldedInto(scene, boxes[0]!).length) {
      text.push(`${counted(foldedInto(scene, boxes[0]!).length, "parameter")} hidden in it`);
    }
    if (where) text.push(where);
    return `${text.join("; ")}.`;
  }

  #list(before: string, nodes: readonly number[]): string {
    if (nodes.length === 0) return "";
    const named = nodes
      .slice(0, NAMED)
      .map((node) => (node < 0 ? "a node that the graph does not have" : this.short(node)));
    const more = nodes.length > NAMED ? ` and ${nodes.length - NAMED} more` : "";
    return `${before}${named.join(", ")}${more}`;
  }

  /** Faults of the node's values. */
  #wrong(node: number): string[] {
    const { health } = this;
    return health && isSuspicious(health.verdict[node]!) ? health.lines(node) : [];
  }

  /** Shape, dtype and size of an output: `float32 1×64×8×8 · 16.0 KiB`. */
  output(node: number, output: number): string {
    const { entryOffsets, entryBytes } = this.#graph;
    const entry = entryOffsets[node]! + output;
    if (entry >= entryOffsets[node + 1]!) return "no output";
    const size = entryBytes[entry]!;
    const parts = [
      (output ? `output ${output}: ` : "") + entryText(this.#graph, node, output),
      size >= 0 ? valueText(size, "B") : "",
      this.entryValue(entry),
    ];
    return parts.filter(Boolean).join(" · ");
  }
}

export class GraphModel {
  readonly links: Links;
  readonly groups: Groups;
  readonly times: NodeTimes;
  readonly labels: BoxLabels;
  readonly describe: NodeDescriptions;
  readonly facts: Facts;
  readonly counts = new Int32Array(Object.keys(NodeKind).length);
  /** Node to open on, set from outside; -1 for none. */
  opensOn: number | null = null;
  fetchFacts: () => Promise<FactColumns | null> = async () => null;
  fetchLayout: () => Promise<string> = async () => "";

  constructor(
    readonly graph: GraphColumns,
    timeline: TimelineColumns | null,
    measure: LabelMeasure,
  ) {
    this.links = new Links(graph);
    this.times = new NodeTimes(graph, timeline);
    this.groups = new Groups(graph);
    this.labels = new BoxLabels(graph, this.times, measure, this.groups);
    this.describe = new NodeDescriptions(this.links, this.labels, this.times);
    this.facts = new Facts(this.links);
    for (let node = 0; node < graph.kinds.length; node++) this.counts[graph.kinds[node]!]! += 1;
  }

  get fault(): number {
    return this.opensOn === null ? (this.describe.health?.opens ?? -1) : -1;
  }

  /** Node to open on: that of the first fault or warning, else the slowest; or -1. */
  get answer(): number {
    if (this.opensOn !== null) return this.opensOn;
    return this.fault >= 0 ? this.fault : this.times.slowest;
  }

  /** The node of an id or a name, or an error. */
  find(focus: string | number | null): { node: number | null; problem: string } {
    const { names, kinds } = this.graph;
    if (focus === null) return { node: null, problem: "" };
    if (typeof focus === "number") {
      return this.has(focus)
        ? { node: focus, problem: "" }
        : { node: null, problem: `focus ${focus}: node ids end at ${kinds.length - 1}` };
    }
    const code = names.unique.indexOf(focus);
    const node = code < 0 ? -1 : names.codes.indexOf(code);
    return node < 0
      ? { node: null, problem: `focus: no node is named ${focus}` }
      : { node, problem: "" };
  }

  has(node: number): boolean {
    return Number.isInteger(node) && node >= 0 && node < this.graph.kinds.length;
  }
}
