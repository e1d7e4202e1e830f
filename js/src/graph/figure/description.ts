import { Fault, verdictCounts } from "../../shared/client/health.ts";
import { plain } from "../../shared/drawing/svg_marks.ts";
import { duration } from "../../shared/format.ts";
import { ClassColors } from "../color/classes.ts";
import type { Colors } from "../color/colors.ts";
import { NumberColors } from "../color/numbers.ts";
import { BoxHealth, verdictLabel, weight } from "../data/health.ts";
import { titleOf } from "../paint/frames.ts";
import { Palette } from "../paint/palette.ts";
import { EdgeStyle, foldedInto, membersOf, type Scene } from "../placed/scene.ts";
import { type Condensed, timeText } from "./condense/condense.ts";
import { kindSums } from "./legend.ts";
import type { GraphSheet } from "./sheet.ts";

const STYLES = ["data", "ambiguous", "control", "bridge"];

const hex = (color: string | null) => color && plain(color);
const known = (value: number) => (Number.isNaN(value) ? null : value);

/** Facts of what is to be shown: its nodes, and what the colors say of them. */
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

/** Facts of what is drawn: boxes and frames, edges by the places of the boxes; colors in the light theme and the dark one. */
export function describeScene(sheet: GraphSheet, scene: Scene): Record<string, unknown> {
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

/** Facts of a condensed graph. */
export function describeCondensed({ parts, edges, scene }: Condensed): Record<string, unknown> {
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

function nodesOf(sheet: GraphSheet, scene: Scene) {
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
      ...(isColumn && { color: { text: colors.said(box), fill: hex(colors.face(box)) } }),
      ...(health && {
        health: { verdict: verdictLabel(health.verdict(box)), text: health.brief(box) },
      }),
    };
  });
}

function edgesOf(scene: Scene) {
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

/** Whether the colors show a column other than the times, which all figures tell. */
function isOfColumn({ colorBy }: GraphSheet, colors: Colors): colors is NumberColors | ClassColors {
  return colorBy !== "time" && (colors instanceof NumberColors || colors instanceof ClassColors);
}

function colorsOf(sheet: GraphSheet, scene: Scene) {
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
  const counts = verdictCounts(verdict).sort(([a], [b]) => weight(b) - weight(a));
  const first = answer.firstNonfinite;
  return {
    health: {
      complete: answer.state === "done",
      counts: Object.fromEntries(counts.map(([each, nodes]) => [verdictLabel(each), nodes])),
      first_nonfinite: first < 0 ? null : [answer.node[first]!, answer.output[first]!],
    },
  };
}
