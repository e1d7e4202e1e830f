import { notedBoxes } from "../data/noted.ts";
import type { Folding } from "../folding.ts";
import type { OverlayMarks } from "../paint/overlay.ts";
import type { GraphParts } from "../parts.ts";
import type { PlacedScene } from "../placed/placed_scene.ts";
import { boxesOf } from "../placed/scene.ts";

type Marked = Pick<GraphParts, "context" | "hits" | "model"> & { folding: Pick<Folding, "group"> };

/** What of a picture is selected, pointed at, found and noted; a selected group alone, not its nodes. */
export function overlayOf(
  { context, folding, hits, model }: Marked,
  placed: PlacedScene,
): OverlayMarks {
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
