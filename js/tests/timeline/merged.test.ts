import { describe, expect, it } from "vitest";
import { type CallFrames, MergedTree } from "../../src/timeline/data/merged_tree.ts";
import { random } from "./fixture.ts";

function randomFrames(seed: number, size: number, keys: number): CallFrames {
  const next = random(seed);
  const parent = Int32Array.from({ length: size }, (_, i) => (i && next(4) ? next(i) : -1));
  // Any order: a frame may stand before the one that holds it.
  const place = Int32Array.from({ length: size }, (_, i) => i);
  for (let i = size - 1; i > 0; i--) {
    const j = next(i + 1);
    [place[i], place[j]] = [place[j]!, place[i]!];
  }
  const moved = new Int32Array(size);
  parent.forEach((outer, frame) => {
    moved[place[frame]!] = outer < 0 ? -1 : place[outer]!;
  });
  return {
    parent: moved,
    key: Int32Array.from({ length: size }, () => next(keys)),
    self: Float64Array.from({ length: size }, () => next(100)),
    count: new Int32Array(size).fill(1),
  };
}

/** Paths as text, each with its sums, by going up from every frame. */
function bruteForce({ parent, key, self, count }: CallFrames) {
  const sums = new Map<string, { self: number; total: number; count: number }>();
  const path = (frame: number): string =>
    frame < 0 ? "" : `${path(parent[frame]!)}/${key[frame]!}`;
  const at = (text: string) => {
    const known = sums.get(text) ?? { self: 0, total: 0, count: 0 };
    sums.set(text, known);
    return known;
  };
  key.forEach((_, frame) => {
    at(path(frame)).self += self[frame]!;
    at(path(frame)).count += count[frame]!;
    for (let outer = frame; outer >= 0; outer = parent[outer]!) {
      at(path(outer)).total += self[frame]!;
    }
  });
  return sums;
}

function told(tree: MergedTree) {
  const path = (place: number) =>
    tree
      .path(place)
      .map((each) => `/${tree.key[each]}`)
      .join("");
  return new Map(
    Array.from(tree.key, (_, at) => [
      path(at),
      { self: tree.self[at]!, total: tree.total[at]!, count: tree.count[at]! },
    ]),
  );
}

describe("MergedTree", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])("sums up every path of random trees (%i)", (seed) => {
    const frames = randomFrames(seed, 10 + seed * 60, 2 + (seed % 4));
    const tree = new MergedTree(frames);
    expect(told(tree)).toEqual(bruteForce(frames));
    expect(tree.whole).toBe(frames.self.reduce((sum, ns) => sum + ns, 0));
  });

  it("puts the heaviest children first, each inside its parent", () => {
    const tree = new MergedTree(randomFrames(42, 500, 5));
    for (let level = 0; level < tree.depths; level++) {
      for (let at = tree.levels[level]! + 1; at < tree.levels[level + 1]!; at++) {
        expect(tree.start[at]!).toBeGreaterThanOrEqual(tree.start[at - 1]! + tree.total[at - 1]!);
        if (tree.parent[at] === tree.parent[at - 1]) {
          expect(tree.total[at]!).toBeLessThanOrEqual(tree.total[at - 1]!);
        }
      }
    }
    for (let at = 0; at < tree.size; at++) {
      const [first, last] = [tree.inside[at]!, tree.inside[at + 1]!];
      let sum = tree.self[at]!;
      for (let inner = first; inner < last; inner++) {
        expect(tree.parent[inner]).toBe(at);
        sum += tree.total[inner]!;
      }
      expect(sum).toBe(tree.total[at]!);
      const outer = tree.parent[at]!;
      if (outer < 0) continue;
      expect(tree.start[at]!).toBeGreaterThanOrEqual(tree.start[outer]!);
      expect(tree.start[at]! + tree.total[at]!).toBeLessThanOrEqual(
        tree.start[outer]! + tree.total[outer]!,
      );
    }
  });

  it("finds a place by level and time", () => {
    const tree = new MergedTree({
      parent: Int32Array.of(-1, 0, 0, -1),
      key: Int32Array.of(7, 8, 9, 7),
      self: Float64Array.of(5, 10, 20, 5),
      count: Int32Array.of(1, 1, 1, 1),
    });
    expect([...tree.total]).toEqual([40, 20, 10]);
    expect(tree.count[0]).toBe(2);
    expect(tree.at(1, 0)).toBe(1);
    expect(tree.key[tree.at(1, 0)]).toBe(9);
    expect(tree.key[tree.at(1, 25)]).toBe(8);
    expect(tree.at(1, 30)).toBe(-1);
    expect(tree.at(2, 0)).toBe(-1);
  });

  it("is empty without frames", () => {
    const none = { parent: new Int32Array(0), key: new Int32Array(0) };
    const tree = new MergedTree({ ...none, self: new Float64Array(0), count: new Int32Array(0) });
    expect([tree.size, tree.whole, tree.depths]).toEqual([0, 0, 0]);
  });

  it("merges many slices of few paths", () => {
    const size = 200_000;
    const next = random(5);
    const parent = Int32Array.from({ length: size }, (_, i) => (i % 4 ? i - 1 : -1));
    const key = Int32Array.from({ length: size }, () => next(8));
    const self = new Float64Array(size).fill(10);
    const count = new Int32Array(size).fill(1);
    const tree = new MergedTree({ parent, key, self, count });
    expect(tree.whole).toBe(size * 10);
    expect(tree.size).toBeLessThanOrEqual(8 + 8 ** 2 + 8 ** 3 + 8 ** 4);
    expect(tree.count.reduce((sum, each) => sum + each, 0)).toBe(size);
  });
});
