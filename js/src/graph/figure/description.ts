import { Trust } from "../../shared/client/answers.ts";
import { Fault } from "../../shared/client/health.ts";
import { clean, plain } from "../../shared/drawing/svg_marks.ts";
import { counted, duration, integer } from "../../shared/format.ts";
import { append, largest, smallest } from "../../shared/many.ts";
import { ClassColors } from "../data/coloring.ts";
import type { BoxColors } from "../data/colors.ts";
import { BoxHealth, countsByWeight, verdictLabel, verdictSign, weight } from "../data/health.ts";
import { NumberColors } from "../data/number_colors.ts";
import { EdgeStyle, foldedInto, type GraphScene, membersOf } from "../layout/scene.ts";
import { titleOf } from "../paint/frames.ts";
import { Palette } from "../paint/palette.ts";
import {
  type CondensedGraph,
  type CondensedPart,
  countText,
  repeatText,
  timeText,
} from "./condense.ts";
import { faultWords, kindSums } from "./figure_legend.ts";
import type { GraphSheet } from "./sheet.ts";

const STYLES = ["data", "ambiguous", "control", "bridge"];

const hex = (color: string | null) => color && plain(color);
const known = (value: number) => (Number.isNaN(value) ? null : value);

export function describeGraph(sheet: GraphSheet): Record<string, unknown> {
  const { times } = sheet.model;
  const scene = sheet.flat;
  return {
    total_ns: times.known ? times.total : null,
    total_text: times.known ? duration(times.total) : "unknown",
    slowest: times.known ? times.slowest : null,
    nodes: nodesOf(sheet, scene),
    edges: edgesOf(scene),
    left_out: sheet.boxed.length - scene.count,
    legend: kindSums(sheet).map(({ kind, nodes, ns }) => ({
      kind,
      nodes,
      time_ns: ns,
      share: times.total ? ns / times.total : null,
    })),
    ...colorsOf(sheet, scene),
    ...healthOf(sheet),
  };
}

/** Facts of the drawing: boxes and frames, edges by box indices; colors in the light and the dark theme. */
export function describeScene(sheet: GraphSheet, scene: GraphScene): Record<string, unknown> {
  const { groups } = sheet.model;
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
      node: scene.node[box]!,
      group: isGroup ? group : null,
      nodes: membersOf(scene, box).length,
      title: isGroup ? text.title : sheet.words.title(scene.node[box]!),
      second: looks[0]!.colors.words(box) ?? text.shape,
      folded: foldedInto(scene, box).length,
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
  return { boxes, frames, lines };
}

export function describeCondensed({
  parts,
  edges,
  scene,
}: CondensedGraph): Record<string, unknown> {
  return {
    condensed: {
      boxes: scene.count,
      groups: parts.map((part) => ({
        label: part.title,
        nodes: part.nodes,
        parameters: part.inside.length,
        repeats: part.repeats,
        frame: part.run < 0 ? null : part.run,
        time_ns: known(part.ns),
        time_text: timeText(part),
        unknown: part.unknown,
        share: known(part.share),
        result: part.result,
      })),
      edges: edges.map(({ source, target, edge }) => ({
        source,
        target,
        style: STYLES[scene.edgeStyle[edge]!],
      })),
    },
  };
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
      low: scale.low,
      high: scale.high,
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
  const more = sheet.boxed.length - shown;
  if (more > 0 && !isClosed) lines.push(`  … and ${integer(more)} more`);
  if (more > 0) append(lines, slowest(sheet));
  return lines.map(line).join("\n");
}

export function condensedText(
  sheet: GraphSheet,
  condensedGraph: CondensedGraph,
  scene: GraphScene,
): string {
  const { parts } = condensedGraph;
  const boxes = counted(condensedGraph.scene.count, "box");
  const lines = [...head(sheet), `condensed: ${boxes} as ${counted(parts.length, "group")}`];
  const colors = sheet.colors(scene, sheet.theme(false));
  const health = sheet.health && new BoxHealth(sheet.health, scene);
  for (const [box, part] of parts.entries()) {
    const facts = [
      countText(part),
      `${cut(part.title)} ${repeatText(part)}`.trim(),
      timeText(part),
      part.inside.length ? counted(part.inside.length, "param") : "",
    ];
    if (colors instanceof NumberColors || colors instanceof ClassColors) {
      if (sheet.colorBy !== "time") facts.push(colored(colors, colors.meaning(box)));
    }
    if (sheet.colorBy === "health") facts.push(worstOf(sheet, part));
    else if (health) facts.push(faultWords(health.fault[box]!));
    lines.push(`  ${[...facts, part.result].filter(Boolean).join("; ")}`);
  }
  return [...lines, ...slowest(sheet)].map(line).join("\n");
}

export function slowest(sheet: GraphSheet): string[] {
  const { graph, labels, times } = sheet.model;
  const slowest = times.ranked.slice(0, MOST_SLOWEST).map(({ name, nodes, ns }) => {
    if (name) return `  ${cut(name)}; ${times.text(ns)}`;
    const node = nodes[0]!;
    return `  #${node} ${cut(labels.title(node))} (${cut(graph.names.at(node))}); ${labels.time(node)}`;
  });
  return slowest.length ? ["slowest operators:", ...slowest] : [];
}

function head(sheet: GraphSheet): string[] {
  const { title, part, health } = sheet.request.data;
  const judged = sheet.colorBy === "health" ? health : "";
  return [`${title}: ${totals(sheet)}`, part, judged].filter(Boolean);
}

function groupFacts(sheet: GraphSheet, scene: GraphScene, box: number): string[] {
  const nodes = membersOf(scene, box);
  const title = titleOf(sheet.model, scene.group[box]!);
  const ends = `${counted(nodes.length, "node")} #${smallest(nodes)} … #${largest(nodes)}`;
  const badge = foldedBadge(scene, box);
  return [cut(title), badge ? `${ends}, ${badge}` : ends];
}

function nodeFacts(sheet: GraphSheet, scene: GraphScene, box: number): string[] {
  const { graph, labels } = sheet.model;
  const node = scene.node[box]!;
  const entry = graph.entryOffsets[node]!;
  const dtype = entry < graph.entryOffsets[node + 1]! ? graph.dtypes.at(entry) : "";
  return [
    `#${node} ${cut(labels.title(node))}${reads(sheet, scene, box)}`,
    `${dtype} ${labels.shape(node)}`.trim(),
    labels.time(node),
    labels.mark(node),
    foldedBadge(scene, box),
  ];
}

function foldedBadge(scene: GraphScene, box: number): string {
  const count = foldedInto(scene, box).length;
  return count ? counted(count, "param") : "";
}

function healthFacts(sheet: GraphSheet, health: BoxHealth, box: number): string[] {
  if (sheet.colorBy !== "health") return [faultWords(health.fault[box] ?? Fault.NONE)];
  const [label, brief] = [verdictLabel(health.verdict(box)), health.brief(box)];
  return [brief === label ? label : `${label}: ${brief}`];
}

function worstOf({ health }: GraphSheet, { nodes, inside }: CondensedPart): string {
  if (!health) return "";
  const counts = new Map<number, number>();
  for (const node of [...nodes, ...inside]) {
    const verdict = health.verdict[node]!;
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  }
  const worst = [...counts.keys()].reduce((one, two) => (weight(two) > weight(one) ? two : one));
  return `${verdictSign(worst)} ${integer(counts.get(worst)!)} ${verdictLabel(worst)}`.trim();
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
    const name = source < 0 ? "nothing in the graph" : `#${source}`;
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
