import { GroupSource, NodeKind } from "../../shared/client/run_client.ts";
import { counted } from "../../shared/format.ts";
import { verdictLabel, weight } from "../data/health.ts";
import type { GraphModel } from "../data/model.ts";
import { boxesOf, type Scene } from "../placed/scene.ts";

const NAMED = 6;

/** The op kinds inside a group, most frequent first. */
export function kindsIn(
  { groups, graph }: GraphModel,
  group: number,
): [kind: string, count: number][] {
  const counts = new Map<string, number>();
  for (const node of groups.nodes(group)) {
    const kind = graph.opKinds.at(node);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** How many nodes, and how many of them are parameters. */
export function sizeOf({ groups, graph }: GraphModel, group: number): string {
  const nodes = groups.nodes(group);
  const parameters = nodes.filter((node) => graph.kinds[node] === NodeKind.PARAMETER).length;
  return `${counted(nodes.length, "node")}${parameters ? ` with ${counted(parameters, "parameter")}` : ""}`;
}

/** How many nodes have each verdict, worst first; nothing where health was not asked for. */
export function healthIn({ groups, describe }: GraphModel, group: number): string[] {
  if (!describe.health) return [];
  const counts = new Map<number, number>();
  for (const node of groups.nodes(group)) {
    const verdict = describe.health.verdict[node]!;
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => weight(b) - weight(a))
    .map(([verdict, count]) => `${counted(count, "node")} ${verdictLabel(verdict)}`);
}

/** The groups around a node, the innermost first: `in residual block 2 of 3`. */
export function groupPath({ graph }: GraphModel, node: number): string {
  const { nodeGroup, groupParent, groupNames, groupSource } = graph;
  const names: string[] = [];
  for (let group = nodeGroup[node]!; group >= 0; group = groupParent[group]!) {
    const parent = groupParent[group]!;
    if (groupSource[group] === GroupSource.REPEAT) continue;
    let [place, count] = [0, 0];
    for (
      let each = parent + 1;
      parent >= 0 && each < groupParent.length && groupParent[each]! >= parent;
      each++
    ) {
      if (groupParent[each] !== parent) continue;
      count += 1;
      if (each <= group) place += 1;
    }
    names.push(`in ${groupNames.at(group)}${count > 1 ? ` ${place} of ${count}` : ""}`);
  }
  return names.join(", ");
}

/** How long the group's nodes took together, how much of the whole that is, and what they took with others. */
export function timeIn({ labels }: GraphModel, group: number): string {
  return labels.timeOfGroup(group, " of the total time");
}

/** What the group is, as the tooltip says it. */
export function groupLines(model: GraphModel, group: number): string[] {
  const { groups, graph } = model;
  const kinds = kindsIn(model, group)
    .filter(([kind]) => kind !== "parameter")
    .map(([kind, count]) => `${count} ${kind}`);
  const more = kinds.length > NAMED ? [counted(kinds.length - NAMED, "more kind")] : [];
  const identical = groups.ofKind(group).length;
  const isRun = graph.groupSource[group] === GroupSource.REPEAT;
  const lines = [
    groups.title(group),
    `${sizeOf(model, group)}: ${[...kinds.slice(0, NAMED), ...more].join(", ")}`,
    timeIn(model, group),
    identical > 1
      ? `kind ${groups.tag(group)}: ${identical} ${isRun ? "identical runs" : "identical groups"}`
      : "",
    ...healthIn(model, group),
    ...[model.describe.told(model.groups.nodes(group))].filter(Boolean),
  ];
  return lines.filter(Boolean);
}

/** For the live region: the group, whether it is open, and what it reads and is read by. */
export function groupSentence(
  model: GraphModel,
  group: number,
  scene: Scene,
  isTooLarge: boolean,
): string {
  const { groups, graph, describe } = model;
  const isOpen = scene.frameOfGroup[group]! >= 0;
  const inside = new Uint8Array(graph.kinds.length);
  for (const node of groups.nodes(group)) inside[node] = 1;
  const [from, to] = [new Set<string>(), new Set<string>()];
  const named = (node: number) => {
    const box = boxesOf(scene, node)[0];
    const around = box === undefined ? -1 : scene.group[box]!;
    return around >= 0 ? groups.title(around) : describe.short(node);
  };
  for (let edge = 0; edge < graph.edgeSource.length; edge++) {
    const [source, target] = [graph.edgeSource[edge]!, graph.edgeTarget[edge]!];
    if (source < 0 || inside[source] === inside[target]) continue;
    if (inside[source]) to.add(named(target));
    else from.add(named(source));
  }
  const list = (names: Set<string>) => {
    const shown = [...names].slice(0, NAMED).join(", ");
    return names.size > NAMED ? `${shown} and ${names.size - NAMED} more` : shown;
  };
  const identical = groups.ofKind(group).length - 1;
  const parts = [
    `Group ${groups.title(group)}, ${isOpen ? "open" : "closed"}`,
    sizeOf(model, group),
    timeIn(model, group),
    identical > 0
      ? `one of ${counted(identical + 1, "identical group")} of kind ${groups.tag(group)}`
      : "",
    ...healthIn(model, group),
    ...[model.describe.told(model.groups.nodes(group))].filter(Boolean),
    isTooLarge ? "too many nodes to select in other views" : "",
  ].filter(Boolean);
  const reads = from.size ? `; reads ${list(from)}` : "";
  const read = to.size ? `; read by ${list(to)}` : "";
  return `${parts.join(", ")}${reads}${read}. Enter ${isOpen ? "closes" : "opens"} it.`;
}
