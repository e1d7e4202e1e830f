import { membersOf } from "../placed/scene.ts";
import type { Picture } from "./picture.ts";

/** The longest known time of a node in a box as a share of the longest there is, 0 … 1. */
export function heatOf({ placed, times }: Pick<Picture, "placed" | "times">, box: number): number {
  let most = 0;
  for (const node of membersOf(placed.scene, box)) {
    if (times.shown[node]! > most) most = times.shown[node]!;
  }
  return most / Math.max(1, times.largest);
}

/** Whether times stand beside what the colors show: they are known, and the colors show nothing else that is measured. */
export function showsTimes({ times, colorBy }: Pick<Picture, "times" | "colorBy">): boolean {
  return times.known && (colorBy === "kind" || colorBy === "time");
}
