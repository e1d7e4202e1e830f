import { describe, expect, it } from "vitest";
import { Slices } from "../../src/timeline/data/slices.ts";
import { stringColumn } from "../shared/string_column.ts";
import { timeline } from "./fixture.ts";

/** A call of nodes 1 and 2 with an event of each of two sets, and an operator of its own. */
function delegate(): Slices {
  const columns = timeline(
    [
      { node: 0, start: 0, duration: 10 },
      { name: "call", start: 20, duration: 50 },
      { name: "fused", start: 30, duration: 10 },
      { name: "stranger", start: 50, duration: 10 },
    ],
    { nodes: 4 },
  );
  return new Slices({
    ...columns,
    setOffsets: Int32Array.of(0, 3, 5),
    setNodes: Int32Array.of(1, 2, 3, 1, 2),
    setNs: Float64Array.of(40, 10),
    abouts: stringColumn(["", "backend\tXnnpack\nmetadata\ta\tb"]),
    slices: {
      ...columns.slices!,
      set: Int32Array.from(columns.slices!.source!, (source) => [-1, 0, 1, -1][source]!),
      about: Int32Array.from(columns.slices!.source!, (source) => [0, 1, 0, 0][source]!),
    },
  });
}

describe("slices of several nodes", () => {
  const slices = delegate();
  const [own, call, fused, stranger] = [0, 1, 2, 3].map((source) => slices.bySource(source));

  it("know their nodes", () => {
    expect([own, call, fused, stranger].map((slice) => slices.nodesOf(slice!))).toEqual([
      [0],
      [1, 2, 3],
      [1, 2],
      [],
    ]);
  });

  it("belong to all of their nodes", () => {
    expect([...slices.sharedBy(1)].sort()).toEqual([call, fused].sort());
    expect([...slices.sharedBy(3)]).toEqual([call]);
    expect([...slices.sharedBy(0)]).toEqual([]);
  });

  it("have the facts of their source", () => {
    expect(slices.aboutOf(call!)).toEqual([
      ["backend", "Xnnpack"],
      ["metadata", "a\tb"],
    ]);
    expect(slices.aboutOf(own!)).toEqual([]);
  });
});
