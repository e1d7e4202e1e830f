import { Fault } from "../../shared/client/health.ts";
import { Trust } from "../../shared/client/run_client.ts";
import { clean } from "../../shared/drawing/xml_text.ts";
import { counted, integer } from "../../shared/format.ts";
import { append, largest, smallest } from "../../shared/many.ts";
import { ClassColors } from "../color/classes.ts";
import { NumberColors } from "../color/numbers.ts";
import { BoxHealth, verdictLabel, verdictSign, weight } from "../data/health.ts";
import { titleOf } from "../paint/frames.ts";
import { foldedInto, membersOf, type Scene } from "../placed/scene.ts";
import { type Condensed, countText, type Part, repeatText, timeText } from "./condense/condense.ts";
import { faultWords } from "./legend.ts";
import type { GraphSheet } from "./sheet.ts";

/** Boxes that are told of, and operands of one. */
const MOST_LINES = 150;
const MOST_READ = 200;
export const MOST_SLOWEST = 8;
/** Letters of a line, and of a name in one. */
const MOST_LETTERS = 2000;
const MOST_OF_NAME = 200;

/** `27 operators, 44 parameters, 1 input; 39.88 ms summed over nodes`. */
export function totals({ model }: GraphSheet): string {
  const { graph, times } = model;
  const took = times.known ? times.totalText : "no times known";
  return [graph.info?.held?.join(", "), graph.info?.roles, took].filter(Boolean).join("; ");
}

/** The graph of a scene as text: a line a box in execution order, what it reads, and its time. */
export function graphText(sheet: GraphSheet, scene: Scene): string {
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
      if (sheet.colorBy !== "time") facts.push(colored(colors, colors.said(box)));
    }
    if (health) append(facts, healthFacts(sheet, health, box));
    lines.push(`  ${facts.filter(Boolean).join("; ")}`);
  }
  const more = sheet.boxed.length - shown;
  if (more > 0 && !isClosed) lines.push(`  … and ${integer(more)} more`);
  if (more > 0) append(lines, slowest(sheet));
  return lines.map(line).join("\n");
}

/** A condensed graph as text: a line a part, and what takes longest. */
export function condensedText(sheet: GraphSheet, found: Condensed, scene: Scene): string {
  const { parts } = found;
  const boxes = counted(found.scene.count, "box");
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
      if (sheet.colorBy !== "time") facts.push(colored(colors, colors.said(box)));
    }
    if (sheet.colorBy === "health") facts.push(worstOf(sheet, part));
    else if (health) facts.push(faultWords(health.fault[box]!));
    lines.push(`  ${[...facts, part.result].filter(Boolean).join("; ")}`);
  }
  return [...lines, ...slowest(sheet)].map(line).join("\n");
}

/** The slowest operators, which stand below a picture that does not show each. */
export function slowest(sheet: GraphSheet): string[] {
  const { graph, labels, times } = sheet.model;
  const told = times.ranked.slice(0, MOST_SLOWEST).map(({ name, nodes, ns }) => {
    if (name) return `  ${cut(name)}; ${times.text(ns)}`;
    const node = nodes[0]!;
    return `  #${node} ${cut(labels.title(node))} (${cut(graph.names.at(node))}); ${labels.time(node)}`;
  });
  return told.length ? ["slowest operators:", ...told] : [];
}

function head(sheet: GraphSheet): string[] {
  const { title, part, health } = sheet.request.data;
  const judged = sheet.colorBy === "health" ? health : "";
  return [`${title}: ${totals(sheet)}`, part, judged].filter(Boolean);
}

function groupFacts(sheet: GraphSheet, scene: Scene, box: number): string[] {
  const nodes = membersOf(scene, box);
  const title = titleOf(sheet.model, scene.group[box]!);
  const ends = `${counted(nodes.length, "node")} #${smallest(nodes)} … #${largest(nodes)}`;
  const { badge } = insideOf(scene, box);
  return [cut(title), badge ? `${ends}, ${badge}` : ends];
}

function nodeFacts(sheet: GraphSheet, scene: Scene, box: number): string[] {
  const { graph, labels } = sheet.model;
  const node = scene.node[box]!;
  const entry = graph.entryOffsets[node]!;
  const dtype = entry < graph.entryOffsets[node + 1]! ? graph.dtypes.at(entry) : "";
  return [
    `#${node} ${cut(labels.title(node))}${reads(sheet, scene, box)}`,
    `${dtype} ${labels.shape(node)}`.trim(),
    labels.time(node),
    labels.mark(node),
    insideOf(scene, box).badge,
  ];
}

function insideOf(scene: Scene, box: number): { badge: string } {
  const count = foldedInto(scene, box).length;
  return { badge: count ? counted(count, "param") : "" };
}

function healthFacts(sheet: GraphSheet, health: BoxHealth, box: number): string[] {
  if (sheet.colorBy !== "health") return [faultWords(health.fault[box] ?? Fault.NONE)];
  const [label, brief] = [verdictLabel(health.verdict(box)), health.brief(box)];
  return [brief === label ? label : `${label}: ${brief}`];
}

/** The worst verdict on nodes that are drawn as one, and of how many it is: `✕ 2 faulty`. */
function worstOf({ health }: GraphSheet, { nodes, inside }: Part): string {
  if (!health) return "";
  const counts = new Map<number, number>();
  for (const node of [...nodes, ...inside]) {
    const verdict = health.verdict[node]!;
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  }
  const worst = [...counts.keys()].reduce((one, two) => (weight(two) > weight(one) ? two : one));
  return `${verdictSign(worst)} ${integer(counts.get(worst)!)} ${verdictLabel(worst)}`.trim();
}

/** `PSNR: 31 dB`, `PSNR unknown`. */
function colored({ column }: NumberColors | ClassColors, words: string): string {
  return words === `${column.name} unknown` ? words : `${column.name}: ${words}`;
}

/** What a node reads, what is drawn inside its box apart. */
function reads({ model }: GraphSheet, scene: Scene, box: number): string {
  const { graph, links } = model;
  const inside = new Set(foldedInto(scene, box));
  const edges = links.into(scene.node[box]!).filter((edge) => !inside.has(graph.edgeSource[edge]!));
  const found = edges.slice(0, MOST_READ).map((edge) => {
    const [source, output] = [graph.edgeSource[edge]!, graph.edgeOutput[edge]!];
    const name = source < 0 ? "nothing in the graph" : `#${source}`;
    const unsure = graph.edgeTrust[edge] === Trust.AMBIGUOUS ? "?" : "";
    return `${name}${output ? `:${output}` : ""}${unsure}`;
  });
  if (edges.length > MOST_READ) found.push(`and ${integer(edges.length - MOST_READ)} more`);
  return found.length ? ` <- ${found.join(", ")}` : "";
}

function line(text: string): string {
  return cut(text, MOST_LETTERS);
}

function cut(text: string, most = MOST_OF_NAME): string {
  const whole = clean(text);
  return whole.length <= most ? whole : `${whole.slice(0, most - 1)}…`;
}
