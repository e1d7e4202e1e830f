import { Groups, Links } from "../../src/graph/data/links.ts";
import { layout } from "../../src/graph/layout/layout.ts";
import { PlacedScene } from "../../src/graph/layout/placed_scene.ts";
import { buildScene } from "../../src/graph/layout/scene.ts";
import type { Direction } from "../../src/graph/layout/types.ts";
import type { GraphColumns } from "../../src/shared/client/answers.ts";
import { finished } from "../../src/shared/many.ts";
import { WORDS } from "./fixture.ts";

/** The graph laid out as the view does. */
export function place(
  graph: GraphColumns,
  direction: Direction = "down",
  open: Uint8Array | null = null,
  words = WORDS,
): PlacedScene {
  const groups = new Groups(graph);
  const options = { fold: true, groups, open, only: null, words };
  const scene = buildScene(new Links(graph), options);
  const placed = layout({
    count: scene.count,
    width: scene.width,
    height: scene.height,
    source: scene.edgeSource,
    target: scene.edgeTarget,
    sourceSlot: scene.edgeSlot,
    direction,
    frameOf: scene.frameOf,
    frames: { parent: scene.frames.parent, minWidth: new Float64Array(scene.frames.parent.length) },
  });
  return finished(PlacedScene.steps(scene, placed));
}
