import { notedBoxes } from "../data/noted.ts";
import type { Marks } from "../paint/overlay.ts";
import type { PlacedScene } from "../placed/placed_scene.ts";
import { boxesOf } from "../placed/scene.ts";
import type { GraphView } from "../view.ts";

/** What of a picture is selected, pointed at, found and noted; a selected group alone, not its nodes. */
export function marksOf({ context, folding, hits, model }: GraphView, placed: PlacedScene): Marks {
  const { selected, hovered } = context.session;
  const { scene } = placed;
  const { group } = folding;
  const boxes = (node: number) => Array.from(boxesOf(scene, node)).reverse();
  const own = group < 0 ? -1 : scene.boxOfGroup[group]!;
  return {
    selected: group < 0 ? [...new Set(selected.flatMap(boxes))] : own < 0 ? [] : [own],
    frame: group < 0 ? -1 : scene.frameOfGroup[group]!,
    hovered: hovered === null ? -1 : placed.boxOf(hovered),
    hits: hits.boxes,
    noted: notedBoxes(scene, context.session, model),
  };
}
