import { describe, expect, it } from "vitest";
import recorded from "../../../tests/data/aligned/aligned.json";
import frames from "../../../tests/data/layout/frames.json";
import framesRandom from "../../../tests/data/layout/frames_random.json";
import network from "../../../tests/data/layout/network.json";
import { aligned } from "../../src/comparison/align.ts";
import { layout } from "../../src/graph/layout/layout.ts";
import { inputOf } from "../graph/layout/graphs.ts";

const GRAPHS: Record<string, { input: object }> = { frames, network, frames_random: framesRandom };

function laidOut(name: string) {
  const { input } = GRAPHS[name] as { input: Record<string, number[]> & { frames: never } };
  const given = input.frames as Record<string, number[]>;
  return layout({
    ...inputOf(input.width!, input.source!, input.target!, input.source_slot!),
    height: Float64Array.from(input.height!),
    frameOf: Int32Array.from(given.of!),
    frames: {
      parent: Int32Array.from(given.parent!),
      minWidth: Float64Array.from(given.min_width!),
    },
  });
}

describe("side-by-side layouts", () => {
  it.each(recorded)("match the recorded alignment, case %#", ({ names, pairs, both }) => {
    const [a, b] = names.map(laidOut);
    const found = aligned([a!, b!], pairs as [number, number][]);
    for (const [side, { y, layerTop, frames: around, routes }] of found.entries()) {
      const expected = both[side]!;
      expect(Array.from(y)).toEqual(expected.y);
      expect(Array.from(layerTop)).toEqual(expected.layer_top);
      expect(Array.from(around.height)).toEqual(expected.height);
      expect(Array.from(routes.points)).toEqual(expected.points);
    }
  });

  it("align matched nodes and leave gaps for unmatched ones", () => {
    const chain = (count: number) => {
      const edges = Array.from({ length: count - 1 }, (_, i) => i);
      return layout(
        inputOf(
          new Array(count).fill(80),
          edges,
          edges.map((i) => i + 1),
        ),
      );
    };
    const [a, b] = aligned(
      [chain(3), chain(5)],
      [
        [0, 0],
        [1, 3],
        [2, 4],
      ],
    );
    expect([a.y[0], a.y[1], a.y[2]]).toEqual([b.y[0], b.y[3], b.y[4]]);
    expect(a.y[1]! - a.y[0]!).toBeGreaterThan(2 * (b.y[1]! - b.y[0]!));
  });
});
