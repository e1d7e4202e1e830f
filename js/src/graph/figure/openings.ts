import { largest } from "../../shared/many.ts";
import type { GraphSheet } from "./sheet.ts";

/** Some groups closed: with fewer boxes, what is inside tells more; with more, a condensed graph does. */
const FEWEST = 8;
const MOST = 90;

/** Which groups are open, one a group; null where none are drawn. */
export interface Opening {
  open: Uint8Array | null;
  /** How many boxes the graph takes so. */
  boxes: number;
}

/**
 * The groups that are to be open, then ever fewer depths of them. Where nobody has chosen, all of them are, since nobody
 * can open one in a figure.
 */
export function* openings(sheet: GraphSheet): Generator<Opening> {
  const { groups, graph } = sheet.model;
  const { grouped, open_groups: chosen } = sheet.request.options;
  const { length } = sheet.boxed;
  if (!grouped || groups.count === 0) {
    yield { open: null, boxes: length };
    return;
  }
  const first = new Uint8Array(groups.count).fill(chosen ? 0 : 1);
  for (const group of chosen ?? []) first[group] = 1;
  const depth = new Int32Array(groups.count);
  for (let group = 0; group < groups.count; group++) {
    const parent = graph.groupParent[group]!;
    depth[group] = parent < 0 ? 0 : depth[parent]! + 1;
  }
  let before = "";
  for (let most = largest(depth) + 1; most >= 0; most--) {
    const open = first.map((is, group) => (depth[group]! < most ? is : 0));
    const boxes = boxesWith(sheet, open);
    const isOdd = boxes < length && !chosen && !(boxes >= FEWEST && boxes <= MOST);
    const closed = groups
      .closedBy(open)
      .map((by) => (by < 0 ? 0 : 1))
      .join("");
    if (closed === before) continue;
    before = closed;
    if (!isOdd) yield { open, boxes };
  }
}

function boxesWith({ model, boxed }: GraphSheet, open: Uint8Array): number {
  const closedBy = model.groups.closedBy(open);
  const closed = new Set<number>();
  let boxes = 0;
  for (const node of boxed) {
    const group = model.graph.nodeGroup[node]!;
    const by = group < 0 ? -1 : closedBy[group]!;
    if (by < 0) boxes += 1;
    else closed.add(by);
  }
  return boxes + closed.size;
}
