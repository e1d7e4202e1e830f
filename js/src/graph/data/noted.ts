import type { SessionClient } from "../../shared/client/session_client.ts";
import { boxesOf, foldedInto, type Scene } from "../placed/scene.ts";
import type { GraphModel } from "./model.ts";

/** Boxes of the nodes with a note. */
export function notedBoxes(scene: Scene, session: SessionClient, model: GraphModel): number[] {
  return session.notes
    .filter(([node]) => model.has(node))
    .flatMap(([node]) => Array.from(boxesOf(scene, node)));
}

/** What was noted at the node of a box, and at those that are folded into it. */
export function notesAt(scene: Scene, session: SessionClient, box: number): string[] {
  return [scene.node[box]!, ...foldedInto(scene, box)]
    .map((node, i) => [i === 0 ? "note" : `note at #${node}`, session.note(node)] as const)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name}: ${text}`);
}
