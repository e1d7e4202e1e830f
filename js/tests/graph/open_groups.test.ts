import { expect, it } from "vitest";
import recorded from "../../../tests/data/groups/open.json";
import { openStates } from "../../src/graph/data/groups.ts";
import type { GraphColumns } from "../../src/shared/client/run_client.ts";

interface Recorded {
  groupParent: number[];
  nodeGroup: number[];
  kinds: number[];
  edgeSource: number[];
  headNode: number[];
  shown: number[] | null;
  open: number[];
}

const cases: Recorded[] = recorded;

// tests/make/open_groups.py wrote it; Python is held to the same file.
it.each(cases)("opens groups by itself as recorded, case %#", (each) => {
  const graph = {
    groupParent: Int32Array.from(each.groupParent),
    nodeGroup: Int32Array.from(each.nodeGroup),
    kinds: Uint8Array.from(each.kinds),
    edgeSource: Int32Array.from(each.edgeSource),
    headNode: Int32Array.from(each.headNode),
  } as unknown as GraphColumns;
  const shown = each.shown && Uint8Array.from(each.shown);
  const states = openStates(graph, shown);
  expect(Array.from(states[0]!)).toEqual(each.open);
  expect(Array.from(states.at(-1)!)).toEqual(each.open.map(() => 0));
});
