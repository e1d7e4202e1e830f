import type { Scene } from "../placed/scene.ts";

/** Edges of one style from one box to another that are drawn; more would be a black area. */
const MOST_BETWEEN = 200;

/** A scene without the edges that are too many between two boxes, and how many those are. */
export function spared(scene: Scene): { scene: Scene; left: number } {
  const between = new Map<number, number>();
  const keep: number[] = [];
  const { edgeSource, edgeTarget, edgeSlot, edgeStyle, edge, count } = scene;
  for (let each = 0; each < edgeSource.length; each++) {
    const key = (edgeSource[each]! * count + edgeTarget[each]!) * 4 + edgeStyle[each]!;
    const drawn = between.get(key) ?? 0;
    between.set(key, drawn + 1);
    if (drawn < MOST_BETWEEN) keep.push(each);
  }
  const left = edgeSource.length - keep.length;
  if (!left) return { scene, left };
  const kept = (column: Int32Array) => Int32Array.from(keep, (each) => column[each]!);
  const edges = {
    edgeSource: kept(edgeSource),
    edgeTarget: kept(edgeTarget),
    edgeSlot: kept(edgeSlot),
    edgeStyle: Uint8Array.from(keep, (each) => edgeStyle[each]!),
    edge: kept(edge),
  };
  return { scene: { ...scene, ...edges }, left };
}
