import { counted, integer } from "../../shared/format.ts";
import type { Scene } from "../placed/scene.ts";
import type { Condensed } from "./condense/condense.ts";
import type { GraphSheet } from "./sheet.ts";

/** How many groups are closed. */
export function closedNote({ boxed }: GraphSheet, { count, group }: Scene): string {
  const closed = group.reduce((sum, each) => sum + Number(each >= 0), 0);
  if (!closed) return "";
  const drawn = `${counted(boxed.length, "box")} drawn as ${integer(count)}`;
  return `${counted(closed, "closed group")}: ${drawn}; times and shares of groups are sums.`;
}

/** Which edges are not drawn between the boxes that are. */
export function sparedNote({ edgeSource }: Scene, left: number): string {
  if (!left) return "";
  const drawn = edgeSource.length;
  return `${integer(drawn)} of ${counted(drawn + left, "edge")} drawn: of those between the same two boxes only the first.`;
}

/** What stands for the nodes of a condensed graph. */
export function condensedNote({ parts, scene, isCarried }: Condensed): string {
  const drawn = `${counted(scene.count, "box")} drawn as ${counted(parts.length, "group")}`;
  const said = `Condensed: ${drawn} of consecutive nodes, parameters inside; times and shares are sums.`;
  if (!parts.some(({ repeats }) => repeats > 1)) return said;
  return `${said} “× n”: n identical in a row${isCarried ? ", each feeding the next." : "."}`;
}
