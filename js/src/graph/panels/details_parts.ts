import { GroupSource, NodeKind } from "../../shared/client/answers.ts";
import { isSuspicious } from "../../shared/client/health.ts";
import { counted, integer } from "../../shared/format.ts";
import { shortName } from "../../shared/short_name.ts";
import { button, div, element, span } from "../../shell/dom.ts";
import { countsByWeight, verdictLabel } from "../data/health.ts";
import { type GraphModel, TOOLTIP } from "../data/model.ts";
import { boxesOf, type GraphScene } from "../layout/scene.ts";
import type { GraphHost } from "../parts.ts";

const MOST_LETTERS = 10_000;

export function named(label: string, value: string, code: GraphHost["code"]): HTMLElement {
  const what = `the ${label}`;
  return div(
    "tvmdbg-graph-named",
    span("tvmdbg-muted", label),
    button("copy", `copy ${what}`, () => code.copyText(value, what)),
    div("tvmdbg-graph-mono", shownOf(value) || "(empty)"),
  );
}

export function graphLink(words: string, title: string, onClick: () => void): HTMLElement {
  const link = button(words, title, onClick);
  link.classList.add("tvmdbg-graph-link");
  return link;
}

export function muted(...children: (Node | string)[]): HTMLElement {
  return element("p", { class: "tvmdbg-muted" }, ...children);
}

export function warning(text: string): HTMLElement {
  return element("p", { class: "tvmdbg-warning" }, `⚠ ${text}`);
}

export function note(...children: (Node | string)[]): HTMLElement {
  return element("p", { class: "tvmdbg-graph-note" }, ...children);
}

export function section(title: string, ...children: (Node | null)[]): HTMLElement {
  return element("section", {}, element("h4", {}, title), ...children);
}

/** Names in a file may have any length; copying takes all of it. */
function shownOf(value: string): string {
  const more = value.length - MOST_LETTERS;
  return more > 0 ? `${value.slice(0, MOST_LETTERS)}… and ${counted(more, "more letter")}` : value;
}

export function listed(what: string, shown: number, count = shown): string {
  return `${what} (${shown < count ? `the first ${integer(shown)} of ` : ""}${integer(count)})`;
}

export function list(items: HTMLElement[], tag: "ul" | "ol" = "ul"): HTMLElement {
  return items.length ? element(tag, {}, ...items) : muted("none");
}

export function table(rows: readonly (readonly [string, string])[]): HTMLElement {
  return element(
    "table",
    {},
    element(
      "tbody",
      {},
      ...rows.map(([name, value]) =>
        element(
          "tr",
          {},
          name ? element("th", { scope: "row" }, name) : element("td"),
          element("td", {}, value.replace(/(\d) (?=[nµm]?s\b)/g, "$1\u00a0")),
        ),
      ),
    ),
  );
}

export function bar(share: number, title: string): HTMLElement {
  const fill = element("div", {});
  fill.style.width = `${(100 * share).toFixed(1)}%`;
  return element("div", { class: "tvmdbg-graph-bar", title }, fill);
}

/** A row of a list: a link, and below it its share as a bar and in words. */
export function shared(link: HTMLElement, share: HTMLElement, words: string): HTMLElement {
  return element("li", {}, link, div("tvmdbg-graph-slow tvmdbg-row", share, words));
}

export function top(rows: HTMLElement[], all: number, tag: "ul" | "ol"): HTMLElement {
  const more = all - rows.length;
  const rest = muted(`and ${integer(more)} more`);
  return element("div", {}, list(rows, tag), more > 0 ? rest : null);
}

type AttributeList = readonly (readonly [name: string, value: string])[];

export interface DelegateFacts {
  title: string;
  parts: (readonly [heading: string, rows: AttributeList])[];
}

const OPERATOR = "delegate_node";
const RAN = [OPERATOR, "runs as", "runs in", "match", "came from", "inserted", "inserted for it"];
const SETTINGS = [
  ...["kernel size", "pooling window", "stride", "padding", "dilation", "groups"],
  ...["group input channels", "group output channels", "output padding", "new size", "axis"],
  ...["perm", "new shape", "offsets", "sizes", "pre paddings", "post paddings", "padding value"],
  ...["alpha", "negative slope", "flags", "fused activation", "bounds", "layout"],
];
const QUANTIZATION = " quantization";
const KERNEL = "kernel";
/** Attributes that its section or the boxes around it already show. */
const REDUNDANT = ["kind", "delegate", "delegate_index", "backend"];
const WORDS: Record<string, string> = { [OPERATOR]: "operator" };

/** Attributes of the delegate's operator, in a readable order, and the others. */
export function delegateOf(attrs: AttributeList): {
  delegate: DelegateFacts | null;
  attrs: AttributeList;
} {
  const left = new Map(attrs);
  if (!left.has(OPERATOR)) return { delegate: null, attrs };
  const title = left.get("delegate") || "delegate";
  const taken = (names: Iterable<string>): AttributeList => {
    const present = [...names].filter((attr) => left.has(attr));
    const rows = present.map(
      (attr) =>
        [WORDS[attr] ?? attr.replace(new RegExp(`${QUANTIZATION}$`), ""), left.get(attr)!] as const,
    );
    for (const attr of present) left.delete(attr);
    return rows;
  };
  const kernel = partsOf(left.get(KERNEL) ?? "");
  for (const attr of [KERNEL, ...REDUNDANT]) left.delete(attr);
  const quantized = [...left.keys()].filter((key) => key.endsWith(QUANTIZATION));
  const parts: DelegateFacts["parts"] = [
    ["", taken(RAN)],
    ["settings", taken(SETTINGS)],
    ["quantization", taken(quantized)],
    ["in the name", kernel],
  ];
  return { delegate: { title, parts: parts.filter(([, rows]) => rows.length) }, attrs: [...left] };
}

/** `F32: 32-bit floats; GEMM: matrix multiplication` by its parts. */
function partsOf(text: string): AttributeList {
  const parts: [string, string][] = [];
  for (const part of text.split("; ")) {
    const [name = "", ...rest] = part.split(": ");
    if (rest.length) parts.push([name, rest.join(": ")]);
    else if (parts.length) parts.at(-1)![1] += `; ${part}`;
  }
  return parts;
}

export function delegateSection({ title, parts }: DelegateFacts): HTMLElement {
  return section(
    title,
    ...parts.flatMap(([heading, rows]) => [
      heading ? element("h5", {}, heading) : null,
      table(rows),
    ]),
  );
}

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

export function sizeOf({ groups, graph }: GraphModel, group: number): string {
  const nodes = groups.nodes(group);
  const parameters = nodes.filter((node) => graph.kinds[node] === NodeKind.PARAMETER).length;
  return `${counted(nodes.length, "node")}${parameters ? ` with ${counted(parameters, "parameter")}` : ""}`;
}

export function healthIn({ groups, describe }: GraphModel, group: number): string[] {
  const { health } = describe;
  if (!health) return [];
  const verdicts = Uint8Array.from(groups.nodes(group), (node) => health.verdict[node]!);
  return countsByWeight(verdicts).map(
    ([verdict, count]) => `${counted(count, "node")} ${verdictLabel(verdict)}`,
  );
}

export function groupPath({ graph }: GraphModel, node: number): string {
  const { nodeGroup, groupParent, groupNames, groupSource } = graph;
  const names: string[] = [];
  for (let group = nodeGroup[node]!; group >= 0; group = groupParent[group]!) {
    const parent = groupParent[group]!;
    if (groupSource[group] === GroupSource.REPEAT) continue;
    let [place, count] = [0, 0];
    for (
      let row = parent + 1;
      parent >= 0 && row < groupParent.length && groupParent[row]! >= parent;
      row++
    ) {
      if (groupParent[row] !== parent) continue;
      count += 1;
      if (row <= group) place += 1;
    }
    names.push(`in ${groupNames.at(group)}${count > 1 ? ` ${place} of ${count}` : ""}`);
  }
  return names.join(", ");
}

export function timeIn({ labels }: GraphModel, group: number): string {
  return labels.timeOfGroup(group, " of the total time");
}

/** Name of a group, the value asked for, and one fact: its faults, else its size. */
export function groupLines(model: GraphModel, group: number): string[] {
  const { groups, describe } = model;
  const nodes = groups.nodes(group);
  const faulty = nodes.filter((node) => isSuspicious(describe.health?.verdict[node] ?? 0)).length;
  const [first = ""] = faulty ? healthIn(model, group) : [];
  const lines = [
    shortName(groups.title(group), TOOLTIP),
    describe.value(nodes) || timeIn(model, group),
    first || sizeOf(model, group),
  ];
  return lines.filter(Boolean);
}

export function groupSentence(
  model: GraphModel,
  group: number,
  scene: GraphScene,
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
    ...[model.describe.value(model.groups.nodes(group))].filter(Boolean),
    isTooLarge ? "too many nodes to select in other views" : "",
  ].filter(Boolean);
  const reads = from.size ? `; reads ${list(from)}` : "";
  const read = to.size ? `; read by ${list(to)}` : "";
  return `${parts.join(", ")}${reads}${read}. Enter ${isOpen ? "closes" : "opens"} it.`;
}

export interface BlockKind {
  name: string;
  blocks: number;
  nodes: number;
  ns: number;
}

/** Share of the nodes above which a group is replaced by its content in the summary. */
const ALL = 0.9;

/** Blocks of a graph by name, outermost ones only, ordered by time, or by number of nodes without times. */
export function composition({ groups, graph }: GraphModel): BlockKind[] {
  const { groupParent, groupStart, groupEnd, groupNames, groupRepeats, kinds } = graph;
  const size = (group: number) => groupEnd[group]! - groupStart[group]!;
  let around = -1;
  for (let group = 0; group < groups.count; group++) {
    const isAll = size(group) > ALL * kinds.length && groups.last[group]! > group + 1;
    if (groupParent[group] === around && isAll && groupRepeats[group]! < 2) around = group;
  }
  const parts = new Map<string, BlockKind>();
  for (let group = 0; group < groups.count; group++) {
    if (groupParent[group] !== around) continue;
    const name = groupNames.at(group);
    const part = parts.get(name) ?? { name, blocks: 0, nodes: 0, ns: 0 };
    part.blocks += groupRepeats[group]!;
    part.nodes += size(group);
    part.ns += groups.ns(group);
    parts.set(name, part);
  }
  return [...parts.values()].sort((a, b) => b.ns - a.ns || b.nodes - a.nodes);
}
