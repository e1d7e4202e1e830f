import { describe, expect, it } from "vitest";
import golden from "../../../tests/data/timeline/sums.json";
import { callers, MergedTree, outermost, placesOf } from "../../src/timeline/data/merged_tree.ts";

type Place = [path: string[], total: number, self: number, count: number];

interface Case {
  merged: { range: readonly [number, number] | null; places: Place[] }[];
  callers: Record<string, [path: string[], total: number][]>;
}

const CASES = golden as unknown as Case[];

/** Places of Python as frames, keyed by the numbers of their names. */
function framesOf(places: readonly Place[]) {
  const names = [...new Set(places.map(([path]) => path.at(-1)!))];
  const at = new Map(places.map(([path], place) => [path.join("\t"), place]));
  return {
    names,
    parent: Int32Array.from(places, ([path]) => at.get(path.slice(0, -1).join("\t")) ?? -1),
    key: Int32Array.from(places, ([path]) => names.indexOf(path.at(-1)!)),
    self: Float64Array.from(places, ([, , self]) => self),
    total: Float64Array.from(places, ([, total]) => total),
    count: Int32Array.from(places, ([, , , count]) => count),
  };
}

describe.each(Array.from(CASES.entries()))("merged timeline %i", (_, expected) => {
  it("keeps Python's totals, also without them", () => {
    for (const { places } of expected.merged) {
      const { total, ...frames } = framesOf(places);
      const [given, summed] = [new MergedTree({ ...frames, total }), new MergedTree(frames)];
      expect([...given.total]).toEqual([...total]);
      summed.total.forEach((ns, place) => {
        expect(ns).toBeCloseTo(total[place]!, 3);
      });
    }
  });

  it("matches the recorded callers of each name", () => {
    const { names, ...frames } = framesOf(expected.merged.find(({ range }) => !range)!.places);
    const tree = new MergedTree(frames);
    names.forEach((name, key) => {
      const places = outermost(tree, placesOf(tree, key));
      const up = new MergedTree(callers(tree, places, tree.total));
      const found = Array.from(up.key, (_, place) => [
        up
          .path(place)
          .map((each) => names[up.key[each]!])
          .join(),
        up.total[place],
      ]);
      const known = expected.callers[name]!.filter(([, total]) => total > 0);
      expect(Object.fromEntries(found.filter(([, total]) => (total as number) > 0))).toEqual(
        Object.fromEntries(known.map(([path, total]) => [path.join(), total])),
      );
    });
  });
});
