import { Trust } from "../../shared/client/answers.ts";
import { Fault } from "../../shared/client/health.ts";
import type { HealthAnswer } from "../../shared/client/tensor_questions.ts";
import { clean, plain } from "../../shared/drawing/svg_marks.ts";
import { counted, duration, integer } from "../../shared/format.ts";
import { append, largest, smallest } from "../../shared/many.ts";
import { ClassColors } from "../data/coloring.ts";
import type { BoxColors } from "../data/colors.ts";
import { BoxHealth, countsByWeight, MARKS, verdictLabel } from "../data/health.ts";
import { idOf, nodesIn } from "../data/links.ts";
import { NumberColors } from "../data/number_colors.ts";
import { EdgeStyle, foldedInto, type GraphScene, membersOf } from "../layout/scene.ts";
import { titleOf } from "../paint/frames.ts";
import { Palette } from "../paint/palette.ts";
import type { GraphSheet } from "./sheet.ts";

const STYLES = ["data", "ambiguous", "control", "bridge"];

const hex = (color: string | null) => color && plain(color);
const known = (value: number) => (Number.isNaN(value) ? null : value);

export function describeGraph(sheet: GraphSheet): Record<string, unknown> {
  const { times } = sheet.model;
  const { request, gathered } = sheet;
  const { color_by, fold_parameters, direction, focus, hops, isolate, hidden, search, selected } =
    request.options;
  const chosen = { color_by, fold_parameters, direction, focus, hops, isolate, hidden, search };
  return {
    view: "graph",
    title: request.title,
    ...chosen,
    hits: gathered.hits.length,
    selected,
    total_ns: times.known ? times.total : null,
    total_text: times.known ? duration(times.total) : "unknown",
    slowest: times.known ? idOf(sheet.model.graph, times.slowest) : null,
    ...(request.options.many ? {} : describeNodes(sheet, sheet.flat)),
    legend: times.kindSums().map(({ kind, nodes, ns }) => ({
      kind,
      nodes,
      time_ns: ns,
      share: times.total ? ns / times.total : null,
    })),
    ...healthOf(sheet),
  };
}

function describeNodes(sheet: GraphSheet, scene: GraphScene) {
  return {
    nodes: nodesOf(sheet, scene),
    edges: edgesOf(scene),
    left_out: sheet.boxed.length - scene.count,
    ...colorsOf(sheet, scene),
  };
}

/** Facts of the drawing: boxes and frames, edges by box indices; colors in the light and the dark theme. */
export function describeScene(sheet: GraphSheet, scene: GraphScene): Record<string, unknown> {
  const { groups, graph } = sheet.model;
  const looks = [false, true].map((dark) => {
    const theme = sheet.theme(dark);
    return { palette: new Palette(theme), colors: sheet.colors(scene, theme) };
  });
  const health = sheet.health && new BoxHealth(sheet.health, scene);
  const { colorBy } = sheet;
  const boxes = Array.from({ length: scene.count }, (_, box) => {
    const group = scene.group[box]!;
    const isGroup = group >= 0;
    const text = scene.text(box);
    const fills = looks.map(({ colors }) => {
      if (isGroup && colorBy === "kind") return null;
      return hex(colors.face(box));
    });
    return {
      node: idOf(graph, scene.node[box]!),
      group: isGroup ? group : null,
      nodes: nodesIn(graph, membersOf(scene, box)),
      title: isGroup ? text.title : sheet.words.title(scene.node[box]!),
      second: looks[0]!.colors.words(box) ?? text.shape,
      folded: nodesIn(graph, foldedInto(scene, box)),
      frame: scene.frameOf[box]!,
      fill: fills[0] === null ? null : fills,
      tag: isGroup ? groups.tag(group) : "",
      fault: colorBy === "health" || !health ? Fault.NONE : health.fault[box]!,
    };
  });
  const frames = Array.from(scene.frames.group, (group, frame) => ({
    group,
    parent: scene.frames.parent[frame]!,
    header: titleOf(sheet.model, group),
    tag: groups.tag(group),
    color: looks.map(({ palette }) => palette.group(groups.kind[group]!)),
  }));
  const lines = Array.from(scene.edgeSource, (source, edge) => [
    source,
    scene.edgeTarget[edge]!,
    scene.edgeSlot[edge]!,
  ]);
  const condensed = sheet.isCondensed && { condensed: { boxes: sheet.whole.boxes } };
  return { boxes, frames, lines, ...condensed };
}

function nodesOf(sheet: GraphSheet, scene: GraphScene) {
  const { graph, labels, times } = sheet.model;
  const colors = sheet.colors(
    scene,
    sheet.request.theme === "dark" ? sheet.theme(true) : sheet.theme(false),
  );
  const isColumn = isOfColumn(sheet, colors);
  const health = sheet.colorBy === "health" && sheet.health && new BoxHealth(sheet.health, scene);
  return Array.from({ length: scene.count }, (_, box) => {
    const node = scene.node[box]!;
    const { mark, badge } = scene.text(box);
    return {
      id: node,
      label: labels.title(node),
      name: graph.names.at(node),
      kind: graph.opKinds.at(node),
      mark,
      shape_text: labels.shape(node),
      time_text: labels.time(node),
      time_ns: known(times.ns[node]!),
      share: known(times.share(node)),
      folded: Array.from(foldedInto(scene, box)),
      badge,
      dangling: scene.dangling[box]!,
      ...(isColumn && { color: { text: colors.meaning(box), fill: hex(colors.face(box)) } }),
      ...(health && {
        health: { verdict: verdictLabel(health.verdict(box)), text: health.brief(box) },
      }),
    };
  });
}

function edgesOf(scene: GraphScene) {
  return Array.from(scene.edgeSource, (source, edge) => {
    const style = scene.edgeStyle[edge]!;
    return {
      source: scene.node[source]!,
      target: scene.node[scene.edgeTarget[edge]!]!,
      ...(style === EdgeStyle.BRIDGE
        ? { through: -1 - scene.edge[edge]! }
        : { output: Math.floor(scene.edgeSlot[edge]! / STYLES.length) }),
      style: STYLES[style],
    };
  });
}

function isOfColumn(
  { colorBy }: GraphSheet,
  colors: BoxColors,
): colors is NumberColors | ClassColors {
  return colorBy !== "time" && (colors instanceof NumberColors || colors instanceof ClassColors);
}

function colorsOf(sheet: GraphSheet, scene: GraphScene) {
  const colors = sheet.colors(scene, sheet.theme(false));
  if (!isOfColumn(sheet, colors)) return {};
  if (colors instanceof ClassColors) {
    const classes = colors.rows.map(({ label, nodes }) => ({ label, nodes }));
    return { colors: { name: colors.column.name, classes, unknown: colors.unknown } };
  }
  const { column, scale, counts, together } = colors;
  return {
    colors: {
      name: column.name,
      unit: column.unit,
      scale: column.scale,
      together,
      low: counts.known ? scale.low : null,
      high: counts.known ? scale.high : null,
      below: counts.under,
      above: counts.over,
      unknown: counts.unknown,
    },
  };
}

function healthOf({ colorBy, health }: GraphSheet) {
  if (colorBy !== "health" || !health) return {};
  const { answer, verdict } = health;
  const counts = countsByWeight(verdict);
  const first = answer.firstNonfinite;
  return {
    health: {
      complete: answer.state === "done",
      counts: Object.fromEntries(counts.map(([count, nodes]) => [verdictLabel(count), nodes])),
      first_nonfinite: first < 0 ? null : [answer.node[first]!, answer.output[first]!],
    },
  };
}

const MOST_LINES = 150;
const MOST_READ = 200;
export const MOST_SLOWEST = 8;
/** Letters of a line, and of a name in it. */
const MOST_LETTERS = 2000;
const MOST_OF_NAME = 200;

export function totals({ model }: GraphSheet): string {
  const { graph, times } = model;
  const took = times.known ? times.totalText : "no times known";
  return [graph.info?.held?.join(", "), graph.info?.roles, took].filter(Boolean).join("; ");
}

export function graphText(sheet: GraphSheet, scene: GraphScene): string {
  const lines = head(sheet);
  const colors = sheet.colors(scene, sheet.theme(false));
  const health = sheet.health && new BoxHealth(sheet.health, scene);
  const shown = Math.min(scene.count, MOST_LINES);
  let isClosed = false;
  for (let box = 0; box < shown; box++) {
    const isGroup = scene.group[box]! >= 0;
    isClosed ||= isGroup;
    const facts = isGroup ? groupFacts(sheet, scene, box) : nodeFacts(sheet, scene, box);
    if (colors instanceof NumberColors || colors instanceof ClassColors) {
      if (sheet.colorBy !== "time") facts.push(colored(colors, colors.meaning(box)));
    }
    if (health) append(facts, healthFacts(sheet, health, box));
    lines.push(`  ${facts.filter(Boolean).join("; ")}`);
  }
  const more = sheet.boxes - shown;
  if (more > 0 && !isClosed) lines.push(`  … and ${integer(more)} more`);
  if (more > 0) append(lines, slowest(sheet));
  return lines.map(line).join("\n");
}

export function slowest(sheet: GraphSheet): string[] {
  const { graph, labels, times } = sheet.model;
  const slowest = times.top(MOST_SLOWEST).map(({ name, nodes, ns }) => {
    if (name) return `  ${cut(name)}; ${times.text(ns)}`;
    const node = nodes[0]!;
    return `  #${idOf(graph, node)} ${cut(labels.title(node))} (${cut(graph.names.at(node))}); ${labels.time(node)}`;
  });
  return slowest.length ? ["slowest operators:", ...slowest] : [];
}

function head(sheet: GraphSheet): string[] {
  const { request, gathered } = sheet;
  const judged = sheet.colorBy === "health" ? healthText(gathered.health) : "";
  return [`${request.title}: ${totals(sheet)}`, gathered.part, judged].filter(Boolean);
}

/** Number of entries by verdict: `1 faulty, 40 OK`. */
function healthText(health: HealthAnswer | null): string {
  const counts = countsByWeight(health?.verdict ?? new Uint8Array(0));
  const words = counts.map(([verdict, count]) => `${integer(count)} ${verdictLabel(verdict)}`);
  return words.join(", ") || "no tensors";
}

function groupFacts(sheet: GraphSheet, scene: GraphScene, box: number): string[] {
  const { graph } = sheet.model;
  const nodes = membersOf(scene, box);
  const [first, last] = [smallest(nodes), largest(nodes)].map((row) => idOf(graph, row));
  const title = titleOf(sheet.model, scene.group[box]!);
  const ends = `${counted(nodesIn(graph, nodes), "node")} #${first} … #${last}`;
  const badge = foldedBadge(sheet, scene, box);
  return [cut(title), badge ? `${ends}, ${badge}` : ends];
}

function nodeFacts(sheet: GraphSheet, scene: GraphScene, box: number): string[] {
  const { graph, labels } = sheet.model;
  const node = scene.node[box]!;
  const entry = graph.entryOffsets[node]!;
  const dtype = entry < graph.entryOffsets[node + 1]! ? graph.dtypes.at(entry) : "";
  return [
    `#${idOf(graph, node)} ${cut(labels.title(node))}${reads(sheet, scene, box)}`,
    `${dtype} ${labels.shape(node)}`.trim(),
    labels.time(node),
    labels.mark(node),
    foldedBadge(sheet, scene, box),
  ];
}

function foldedBadge({ model }: GraphSheet, scene: GraphScene, box: number): string {
  const count = nodesIn(model.graph, foldedInto(scene, box));
  return count ? counted(count, "param") : "";
}

function healthFacts(sheet: GraphSheet, health: BoxHealth, box: number): string[] {
  if (sheet.colorBy !== "health") {
    const fault = box === health.warned ? 0 : health.fault[box] || -1;
    return [MARKS[fault] ?? ""];
  }
  const [label, brief] = [verdictLabel(health.verdict(box)), health.brief(box)];
  return [brief === label ? label : `${label}: ${brief}`];
}

function colored({ column }: NumberColors | ClassColors, words: string): string {
  return words === `${column.name} unknown` ? words : `${column.name}: ${words}`;
}

function reads({ model }: GraphSheet, scene: GraphScene, box: number): string {
  const { graph, links } = model;
  const inside = new Set(foldedInto(scene, box));
  const edges = links.into(scene.node[box]!).filter((edge) => !inside.has(graph.edgeSource[edge]!));
  const lines = edges.slice(0, MOST_READ).map((edge) => {
    const [source, output] = [graph.edgeSource[edge]!, graph.edgeOutput[edge]!];
    const name = source < 0 ? "nothing in the graph" : `#${idOf(graph, source)}`;
    const unsure = graph.edgeTrust[edge] === Trust.AMBIGUOUS ? "?" : "";
    return `${name}${output ? `:${output}` : ""}${unsure}`;
  });
  if (edges.length > MOST_READ) lines.push(`and ${integer(edges.length - MOST_READ)} more`);
  return lines.length ? ` <- ${lines.join(", ")}` : "";
}

function line(text: string): string {
  return cut(text, MOST_LETTERS);
}

function cut(text: string, most = MOST_OF_NAME): string {
  const whole = clean(text);
  return whole.length <= most ? whole : `${whole.slice(0, most - 1)}…`;
}
