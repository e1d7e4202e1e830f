import type { Picture } from "./picture.ts";
import type { Placed } from "./placed.ts";

type Timed = Pick<Picture, "placed" | "groups" | "times">;

const longest = new WeakMap<Placed, number>();

/** The known time of what a box stands for as a share of the longest there is, 0 … 1. */
export function heatOf(picture: Timed, box: number): number {
  const { placed } = picture;
  let most = longest.get(placed);
  if (most === undefined) {
    most = 1;
    for (let each = 0; each < placed.scene.count; each++)
      most = Math.max(most, nsOf(picture, each));
    longest.set(placed, most);
  }
  return nsOf(picture, box) / most;
}

function nsOf({ placed, groups, times }: Timed, box: number): number {
  const { group, node } = placed.scene;
  const ns = group[box]! >= 0 ? groups.ns(group[box]!) : times.ns[node[box]!]!;
  return ns > 0 ? ns : 0;
}

/** Whether times stand beside what the colours show: they are known, and the colours show nothing else that is measured. */
export function showsTimes({ times, colorBy }: Pick<Picture, "times" | "colorBy">): boolean {
  return times.known && (colorBy === "kind" || colorBy === "time");
}
