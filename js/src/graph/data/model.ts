import {
  type FactColumns,
  type GraphColumns,
  NodeKind,
  type TimelineColumns,
} from "../../shared/client/run_client.ts";
import { Labels, type Measure } from "../placed/labels.ts";
import { Facts } from "../query/facts.ts";
import { Describe } from "./describe.ts";
import { Groups } from "./groups.ts";
import { Links } from "./links.ts";
import { Times } from "./times.ts";

/** One graph and what is derived from it once: its links, its times, and the words for its nodes. */
export class GraphModel {
  readonly graph: GraphColumns;
  readonly links: Links;
  readonly groups: Groups;
  readonly times: Times;
  readonly labels: Labels;
  readonly describe: Describe;
  readonly facts: Facts;
  /** How many nodes there are of each kind. */
  readonly counts = new Int32Array(Object.keys(NodeKind).length);
  /** The node that answers what one looks for first, where that is told from outside: -1 for none. */
  opensOn: number | null = null;
  /** Reads what queries may need beyond the graph. */
  fetchFacts: () => Promise<FactColumns | null> = async () => null;
  /** Reads the code of the worker that lays graphs out. */
  fetchLayout: () => Promise<string> = async () => "";

  constructor(graph: GraphColumns, timeline: TimelineColumns | null, measure: Measure) {
    this.graph = graph;
    this.links = new Links(graph);
    this.times = new Times(graph, timeline);
    this.groups = new Groups(graph);
    this.labels = new Labels(graph, this.times, measure, this.groups);
    this.describe = new Describe(this.links, this.labels, this.times);
    this.facts = new Facts(this.links);
    for (let node = 0; node < graph.kinds.length; node++) this.counts[graph.kinds[node]!]! += 1;
  }

  /** The node of the first fault, as far as that is known; -1 where there is none. */
  get fault(): number {
    return this.opensOn === null ? (this.describe.health?.origin ?? -1) : -1;
  }

  /** The node that answers what one looks for first: of the first fault, else the slowest; -1 where neither is known. */
  get answer(): number {
    if (this.opensOn !== null) return this.opensOn;
    return this.fault >= 0 ? this.fault : this.times.slowest;
  }

  /** The node that an id or a name means, or why it means none. */
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
