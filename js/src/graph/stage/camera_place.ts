import type { PlacedScene } from "../placed/placed_scene.ts";
import type { Camera } from "./camera.ts";

/** Where a camera looks from: beside a node, px of the graph right of and below the middle of its box. */
export interface CameraPlace {
  node: number;
  dx: number;
  dy: number;
  scale: number;
}

export type View = Pick<Camera, "x" | "y" | "scale">;

/** The camera by the node that is nearest to its middle; null where nothing is drawn. */
export function placeOf({ x, y, scale }: View, placed: PlacedScene): CameraPlace | null {
  const node = placed.nearest(x, y);
  const box = node === null ? -1 : placed.boxOf(node);
  if (node === null || box < 0) return null;
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    node,
    dx: round(x - placed.layout.x[box]!),
    dy: round(y - placed.layout.y[box]!),
    scale: Number(scale.toPrecision(4)),
  };
}

/** Where the camera then is; null where the node is not drawn. */
export function viewOf({ node, dx, dy, scale }: CameraPlace, placed: PlacedScene): View | null {
  const box = placed.boxOf(node);
  if (box < 0) return null;
  return { x: placed.layout.x[box]! + dx, y: placed.layout.y[box]! + dy, scale };
}
