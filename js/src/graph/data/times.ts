import { type GraphColumns, NodeKind } from "../../shared/client/answers.ts";
import type { TimelineColumns } from "../../shared/client/timeline_columns.ts";
import { duration, integer, isShort, timeShare } from "../../shared/format.ts";

/** Unit with a time: a node, or several nodes that one call of a delegate runs. */
export interface TimedUnit {
  readonly nodes: readonly number[];
  readonly name: string;
  readonly ns: number;
  readonly share: number;
}

/** Times of the nodes, alone and in calls of several, as shares of the run; NaN if unknown. */
export class NodeTimes {
  readonly ns: Float64Array;
  /** Times for colors: of nodes without a time of their own that of their call. */
  readonly shown: Float64Array;
  readonly total: number;
  readonly largest: number;
  /** Unit of the times, ns: a time of 0 is less than it. */
  readonly rounding: number;
  readonly slowest: number;
  readonly timeline: TimelineColumns | null;
  readonly #kinds: Uint8Array;
  readonly #graph: GraphColumns;
  readonly #rank = new Map<number, number>();
  readonly #called: readonly TimedUnit[];
  #ranked: readonly TimedUnit[] | null = null;
  #top: readonly TimedUnit[] = [];

  constructor(graph: GraphColumns, timeline: TimelineColumns | null) {
    const { nodeNs, kinds, nodeCall, callNs } = graph;
    this.ns = nodeNs;
    this.#kinds = kinds;
    this.#graph = graph;
    this.timeline = timeline;
    this.rounding = graph.timeRounding?.[0] ?? 0;
    this.shown = nodeCall
      ? nodeNs.map((ns, node) => (Number.isNaN(ns) ? (callNs![nodeCall[node]!] ?? ns) : ns))
      : nodeNs;
    // The remainder of a call is the time of no operator.
    this.#called = callsOf(graph).filter(({ ns }, row) => ns > 0 && !graph.callLeft?.[row]);
    let [sum, most] = [0, 0];
    for (const { ns } of this.#called) most = Math.max(most, ns);
    for (let node = 0; node < nodeNs.length; node++) {
      const ns = nodeNs[node]!;
      if (!(ns > 0)) continue;
      sum += ns;
      if (ns > most && kinds[node] !== NodeKind.PARAMETER) most = ns;
    }
    this.total = graph.timeTotal?.[0] ?? sum;
    this.slowest = slowestOf(this.shown, kinds);
    this.largest = most;
  }

  get known(): boolean {
    return this.largest > 0;
  }

  get ranked(): readonly TimedUnit[] {
    if (!this.#ranked) {
      this.#ranked = this.#units(0);
      for (const [row, { nodes, name }] of this.#ranked.entries()) {
        if (!name) this.#rank.set(nodes[0]!, row + 1);
      }
    }
    return this.#ranked;
  }

  /** The first of `ranked`, without ranking all. */
  top(count: number): readonly TimedUnit[] {
    if (this.#ranked || this.#top.length >= count)
      return (this.#ranked ?? this.#top).slice(0, count);
    // Sorted by the engine: a comparison in script is slow for a million nodes.
    const times = this.ns.slice();
    for (let node = 0; node < times.length; node++) {
      const isRanked = times[node]! > 0 && this.#kinds[node] !== NodeKind.PARAMETER;
      times[node] = isRanked ? -times[node]! : 0;
    }
    this.#top = this.#units(-(times.sort()[count - 1] ?? 0), count).slice(0, count);
    return this.#top;
  }

  /** Units with at least a time, longest first; with just that time not all of them. */
  #units(least: number, most = Number.POSITIVE_INFINITY): TimedUnit[] {
    const { nodeShare } = this.#graph;
    const units = this.#called.filter(({ ns }) => ns >= least);
    let equal = 0;
    for (let node = 0; node < this.ns.length; node++) {
      const ns = this.ns[node]!;
      if (!(ns > 0 && ns >= least) || this.#kinds[node] === NodeKind.PARAMETER) continue;
      if (ns === least && ++equal > most) continue;
      units.push({ nodes: [node], name: "", ns, share: nodeShare?.[node] ?? Number.NaN });
    }
    return units.sort(
      (a, b) =>
        b.ns - a.ns ||
        (a.nodes[0] ?? 0) - (b.nodes[0] ?? 0) ||
        Number(Boolean(a.name)) - Number(Boolean(b.name)),
    );
  }

  /** `178.8 µs in Method::execute`. */
  get totalText(): string {
    return `${duration(this.total)} ${this.#graph.info?.together || "summed over nodes"}`;
  }

  timeText(ns: number): string {
    return duration(ns, this.rounding);
  }

  brief(ns: number): string {
    return ns > 0 || isShort(ns, this.rounding) ? this.timeText(ns) : "";
  }

  /** A time with its share of the run: `1.2 ms · 3.4 %`. */
  text(ns: number): string {
    return this.brief(ns) && timeShare(ns, ns / this.total, this.rounding);
  }

  /** Time that some nodes took together with others: `4.9 µs for 2 together`; may be empty. */
  together(nodes: ArrayLike<number>): string {
    const { ns, count } = this.shared(nodes);
    return count ? `${this.timeText(ns)} for ${integer(count)} together` : "";
  }

  /** Time and node count of calls that ran some of these nodes beside others; in no sum over nodes. */
  shared(nodes: ArrayLike<number>): { ns: number; count: number } {
    const { callOffsets, callNodes, callNs } = this.#graph;
    const calls = this.#calls(nodes);
    if (!calls.size) return { ns: Number.NaN, count: 0 };
    // There are many boxes of single nodes: their cost must not grow with the graph, or with their call.
    let inside: Set<number> | undefined;
    const outside: Int32Array[] = [];
    let ns = 0;
    for (const call of calls) {
      const members = callNodes!.subarray(callOffsets![call]!, callOffsets![call + 1]!);
      if (members.length <= nodes.length) {
        inside ??= new Set(Array.from(nodes));
        if (members.every((node) => inside!.has(node))) continue;
      }
      outside.push(members);
      ns += callNs![call]!;
    }
    if (!outside.length) return { ns: Number.NaN, count: 0 };
    if (outside.length === 1) return { ns, count: outside[0]!.length };
    const all = new Set<number>();
    for (const call of outside) for (const node of call) all.add(node);
    return { ns, count: all.size };
  }

  #calls(nodes: ArrayLike<number>): Set<number> {
    const { nodeCall } = this.#graph;
    const calls = new Set<number>();
    for (let i = 0; nodeCall && i < nodes.length; i++) {
      if (Number.isNaN(this.ns[nodes[i]!]!)) calls.add(nodeCall[nodes[i]!]!);
    }
    calls.delete(-1);
    return calls;
  }

  /** Sum of the known times of some nodes and of calls that run only these; NaN if none is known. */
  of(nodes: ArrayLike<number>): number {
    const { callOffsets, callNodes, callNs, nodeCount } = this.#graph;
    let [sum, known] = [0, false];
    for (let i = 0; i < nodes.length; i++) {
      const ns = this.ns[nodes[i]!]!;
      if (Number.isNaN(ns)) continue;
      sum += ns * (nodeCount?.[nodes[i]!] ?? 1);
      known = true;
    }
    if (!callNs?.length) return known ? sum : Number.NaN;
    const inside = new Set(Array.from(nodes));
    for (let call = 0; call < callNs.length; call++) {
      const [first, last] = [callOffsets![call]!, callOffsets![call + 1]!];
      if (first === last || last - first > inside.size || Number.isNaN(callNs[call]!)) continue;
      let at = first;
      while (at < last && inside.has(callNodes![at]!)) at++;
      if (at < last) continue;
      sum += callNs[call]!;
      known = true;
    }
    return known ? sum : Number.NaN;
  }

  /** True for nodes of one call, whose time is common to all of them. */
  isCall(nodes: ArrayLike<number>): boolean {
    if (!this.#graph.nodeCall) return false;
    const run = Array.from(nodes).filter((node) => this.#kinds[node]! > NodeKind.PARAMETER);
    const { nodeCall } = this.#graph;
    const isIn = (node: number) => Number.isNaN(this.ns[node]!) && (nodeCall?.[node] ?? -1) >= 0;
    return run.length > 0 && run.every(isIn) && this.#calls(run).size === 1;
  }

  share(node: number): number {
    return this.#graph.nodeShare?.[node] ?? Number.NaN;
  }

  /** Share of the largest time, 0 … 1; NaN if unknown, and for inputs and parameters. */
  heat(node: number): number {
    const given = this.#kinds[node]! <= NodeKind.PARAMETER;
    return this.largest > 0 && !(given && this.shown[node] === 0)
      ? this.shown[node]! / this.largest
      : Number.NaN;
  }

  /** 1 for the slowest; null if the time is unknown or zero, or common to a call. */
  rank(node: number): number | null {
    return this.ranked.length ? (this.#rank.get(node) ?? null) : null;
  }

  /** Number of nodes and known time by op kind, longest first; calls are a kind of their own. */
  kindSums(): { kind: string; nodes: number; ns: number }[] {
    const graph = this.#graph;
    const { codes, unique } = graph.opKinds;
    const byCode: { nodes: number; ns: number }[] = [];
    for (let node = 0; node < this.ns.length; node++) {
      byCode[codes[node]!] ??= { nodes: 0, ns: 0 };
      const sum = byCode[codes[node]!]!;
      const count = graph.nodeCount?.[node] ?? 1;
      sum.nodes += count;
      if (this.ns[node]! > 0) sum.ns += count * this.ns[node]!;
    }
    const sums = new Map<string, { nodes: number; ns: number }>();
    for (const [code, sum] of byCode.entries()) if (sum) sums.set(unique[code]!, sum);
    graph.callNs?.forEach((ns, call) => {
      if (!(ns > 0)) return;
      const kind = graph.callKinds!.at(call);
      const sum = sums.get(kind) ?? { nodes: 0, ns: 0 };
      sums.set(kind, { nodes: sum.nodes, ns: sum.ns + ns });
    });
    for (const [kind, nodes] of nodesOfCalls(graph)) {
      const sum = sums.get(kind);
      if (!sum) continue;
      for (const node of nodes) if (graph.opKinds.at(node) !== kind) sum.nodes += 1;
    }
    return Array.from(sums, ([kind, sum]) => ({ kind, ...sum })).sort(
      (a, b) => b.ns - a.ns || b.nodes - a.nodes,
    );
  }
}

const inCalls = new WeakMap<GraphColumns, Map<string, Set<number>>>();

function nodesOfCalls(graph: GraphColumns): Map<string, Set<number>> {
  const known = inCalls.get(graph);
  if (known) return known;
  const nodesByKind = new Map<string, Set<number>>();
  for (let call = 0; call < (graph.callNs?.length ?? 0); call++) {
    const kind = graph.callKinds!.at(call);
    const nodes = nodesByKind.get(kind) ?? new Set();
    nodesByKind.set(kind, nodes);
    const last = graph.callOffsets![call + 1]!;
    for (let at = graph.callOffsets![call]!; at < last; at++) nodes.add(graph.callNodes![at]!);
  }
  inCalls.set(graph, nodesByKind);
  return nodesByKind;
}

/** The first node of the longest time; the remainder of a call belongs to no node. */
function slowestOf(shown: Float64Array, kinds: Uint8Array): number {
  let slowest = -1;
  for (let node = 0; node < shown.length; node++) {
    if (kinds[node] === NodeKind.PARAMETER) continue;
    if (shown[node]! > (shown[slowest] ?? 0)) slowest = node;
  }
  return slowest;
}

export function isOfKind(graph: GraphColumns, node: number, kind: string): boolean {
  return graph.opKinds.at(node) === kind || !!nodesOfCalls(graph).get(kind)?.has(node);
}

function callsOf({
  callOffsets,
  callNodes,
  callNs,
  callShare,
  callNames,
}: GraphColumns): TimedUnit[] {
  return Array.from(callNs ?? [], (ns, call) => ({
    nodes: Array.from(callNodes!.subarray(callOffsets![call]!, callOffsets![call + 1]!)),
    name: callNames!.at(call),
    ns,
    share: callShare![call]!,
  }));
}
