import { describe, expect, it } from "vitest";
import golden from "../../../tests/data/timeline/sums.json";
import { clientOf } from "../../src/shared/client/client.ts";
import type { ColumnHeader } from "../../src/shared/client/columns.ts";
import { timelineOf } from "../../src/shared/client/timeline_client.ts";
import type { TimeRange } from "../../src/timeline/data/aggregate.ts";
import { Operators, sliceFrames } from "../../src/timeline/data/frames.ts";
import { callers, MergedTree, outermost, placesOf } from "../../src/timeline/data/merged_tree.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { fakeModel } from "../fake_model.ts";

interface Packed {
  columns: ColumnHeader[];
  info: unknown;
  buffer: string;
}

interface Case {
  timeline: Packed;
  merged: {
    range: TimeRange | null;
    places: [path: string[], total: number, self: number, count: number][];
  }[];
  callers: Record<string, [path: string[], total: number][]>;
}

const CASES = golden as unknown as Case[];

/** The slices of a timeline as a kernel answers them. */
async function opened({ columns, info, buffer }: Packed, name: number): Promise<Slices> {
  const bytes = Uint8Array.from(atob(buffer), (letter) => letter.charCodeAt(0));
  const { model } = fakeModel({ content_hash: `${name}` }, async (message) => ({
    content: { id: (message as { id: string }).id, result: { columns, info } },
    buffers: [new DataView(bytes.buffer)],
  }));
  const client = clientOf(model, "sums", new AbortController().signal);
  return new Slices((await timelineOf(client))!);
}

describe.each(Array.from(CASES.entries()))("sums over timeline %i", (number, expected) => {
  const slicesOf = () => opened(expected.timeline, number);

  it("match the recorded merged paths, in the same order", async () => {
    const slices = await slicesOf();
    const operators = new Operators(slices);
    const name = (key: number) => slices.names.at(operators.name(key));
    for (const { range, places } of expected.merged) {
      const tree = new MergedTree(sliceFrames(slices, operators, range));
      const found = Array.from(tree.key, (_, place) => [
        tree.path(place).map((each) => name(tree.key[each]!)),
        tree.total[place],
        tree.self[place],
        tree.count[place],
      ]);
      expect(found).toEqual(places);
    }
  });

  it("match the recorded callers of each name", async () => {
    const slices = await slicesOf();
    const operators = new Operators(slices);
    const tree = new MergedTree(sliceFrames(slices, operators, null));
    const name = (key: number) => slices.names.at(operators.name(key));
    for (let key = operators.nodes; key < operators.size; key++) {
      if (operators.name(key) < 0) continue;
      const places = outermost(tree, placesOf(tree, key));
      const up = new MergedTree(callers(tree, places, tree.total));
      const found = Array.from(up.key, (_, place) => [
        up
          .path(place)
          .map((each) => name(up.key[each]!))
          .join(),
        up.total[place],
      ]);
      const known = expected.callers[name(key)!]!.filter(([, total]) => total > 0);
      expect(Object.fromEntries(found.filter(([, total]) => (total as number) > 0))).toEqual(
        Object.fromEntries(known.map(([path, total]) => [path.join(), total])),
      );
    }
  });
});
