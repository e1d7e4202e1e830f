import { expect, it } from "vitest";
import drawings from "../../../tests/data/groups/drawn.json";
import resnet from "../../../tests/data/query/resnet20_cifar.json";
import { Coloring } from "../../src/graph/color/coloring.ts";
import { bridges } from "../../src/graph/data/bridges.ts";
import { Groups } from "../../src/graph/data/groups.ts";
import { BoxHealth, NodeHealth } from "../../src/graph/data/health.ts";
import { type Isolation, isolated } from "../../src/graph/data/isolate.ts";
import { Times } from "../../src/graph/data/times.ts";
import { faultOf } from "../../src/graph/paint/fault_marks.ts";
import { groupFill } from "../../src/graph/paint/group_boxes.ts";
import { Palette } from "../../src/graph/paint/palette.ts";
import type { Picture } from "../../src/graph/paint/picture.ts";
import { Labels } from "../../src/graph/placed/labels.ts";
import { buildScene, foldedInto, membersOf, type Scene } from "../../src/graph/placed/scene.ts";
import { finished } from "../../src/graph/placed/slices.ts";
import { Verdict } from "../../src/shared/client/health.ts";
import type { Theme } from "../../src/shared/drawing/theme.ts";
import { healthOf } from "../shared/health_answer.ts";
import { type Opened, opened } from "../shared/query_answer.ts";

interface Recorded {
  options: {
    color_by: string;
    open_groups: number[];
    fold_parameters?: boolean;
    isolate?: Isolation;
    hidden?: string[];
    /** Faulty nodes, each with the node it came from. */
    faults?: Record<string, number>;
  };
  boxes: object[];
  frames: object[];
  lines: number[][];
}

const { links } = opened((resnet as unknown as { columns: Opened }).columns);
const { graph } = links;
const groups = new Groups(graph);
const times = new Times(graph, null);
const labels = new Labels(graph, times, { title: () => 0, small: () => 0 }, groups);
const SCHEMES = [
  { dark: false, background: "#ffffff", text: "#1f2328", muted: "#59636e", line: "#c3c8ce" },
  { dark: true, background: "#16191d", text: "#e3e7eb", muted: "#a5afba", line: "#444c56" },
];

function hex(color: string | null): string | null {
  if (color === null || color.startsWith("#")) return color;
  const [red, green, blue] = color.match(/\d+/g)!.map(Number);
  return `#${((red! << 16) | (green! << 8) | blue!).toString(16).padStart(6, "0")}`;
}

function sceneOf({ options }: Recorded): Scene {
  const open = new Uint8Array(groups.count);
  for (const group of options.open_groups) open[group] = 1;
  const part = options.isolate ? finished(isolated(links, options.isolate)) : null;
  const hidden = new Uint8Array(graph.kinds.length);
  for (const each of options.hidden ?? []) hidden[Number(each.slice(1))] = 1;
  return buildScene(links, {
    fold: options.fold_parameters ?? true,
    groups,
    open,
    only: options.hidden ? hidden.map((each) => 1 - each) : part,
    bridges: options.hidden ? finished(bridges(links, hidden)) : [],
    words: labels,
  });
}

function healthOfBoxes({ options }: Recorded, scene: Scene): BoxHealth {
  const faulty = Object.entries(options.faults ?? {}).map(([node, source]) => [
    node,
    { verdict: Verdict.FAULTY, source },
  ]);
  const count = graph.kinds.length;
  return new BoxHealth(new NodeHealth(healthOf(count, Object.fromEntries(faulty)), count), scene);
}

/** What is drawn, as a figure describes it. */
function drawn(recorded: Recorded, scene: Scene) {
  const colorBy = recorded.options.color_by;
  const wish = { name: colorBy, wires: {}, limits: null };
  const both = SCHEMES.map((theme) => {
    const palette = new Palette(theme as Theme);
    const colors = new Coloring(graph, times).colors(wish, scene, palette, null);
    return { palette, colors, picture: { palette, colorBy, colors, highlight: null } };
  });
  const { colors } = both[0]!;
  const health = healthOfBoxes(recorded, scene);
  const boxes = Array.from(scene.node, (node, box) => {
    const [group, text] = [scene.group[box]!, scene.text(box)];
    const fills = both.map(({ palette, colors: own, picture }) => {
      const fill = group < 0 ? own.face(box) : groupFill(picture as unknown as Picture, box);
      return fill === palette.plain ? null : hex(fill);
    });
    return {
      node,
      group: group < 0 ? null : group,
      nodes: membersOf(scene, box).length,
      title: text.title,
      second: colors.words(box) ?? text.shape,
      folded: foldedInto(scene, box).length,
      frame: scene.frameOf[box],
      fill: fills[0] === null ? null : fills,
      tag: group < 0 ? "" : groups.tag(group),
      fault: faultOf({ health, colorBy } as Picture, box),
    };
  });
  const frames = Array.from(scene.frames.group, (group, frame) => {
    const time = labels.timeOfGroup(group);
    return {
      group,
      parent: scene.frames.parent[frame],
      header: `${groups.title(group)}${time && ` · ${time}`}`,
      tag: groups.tag(group),
      color: both.map(({ palette }) => palette.group(groups.kind[group]!)),
    };
  });
  const { edgeSource, edgeTarget, edgeSlot } = scene;
  const lines = Array.from(edgeSource, (from, edge) => [from, edgeTarget[edge], edgeSlot[edge]]);
  return { boxes, frames, lines };
}

// tests/make/drawn.py wrote it; figures are held to the same file.
it.each(drawings as unknown as Recorded[])("draws what figures draw, case %#", (recorded) => {
  const { boxes, frames, lines } = recorded;
  expect(drawn(recorded, sceneOf(recorded))).toEqual({ boxes, frames, lines });
});
