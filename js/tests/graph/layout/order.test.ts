import { describe, expect, it } from "vitest";
import cycles from "../../../../tests/data/layout/cycles.json";
import networkAnswer from "../../../../tests/data/layout/network.json";
import randomAnswer from "../../../../tests/data/layout/random.json";
import { layout } from "../../../src/graph/layout/layout.ts";
import type { LayoutInput } from "../../../src/graph/layout/types.ts";
import { inputOf, network, random, scattered } from "./graphs.ts";
import { judge } from "./quality.ts";

function shuffled(count: number, seed: number): number[] {
  const next = random(seed);
  const all = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}

const total = (inputs: LayoutInput[], field: "crossings" | "bends" | "ink") =>
  inputs.reduce((sum, input) => sum + judge(input, layout(input))[field], 0);

describe("order", () => {
  it.each([1, 2, 3])("draws a tree with shuffled edges without crossings, seed %i", (seed) => {
    const count = 127;
    const name = shuffled(count, seed);
    const edges = shuffled(count - 1, seed + 10);
    const source = edges.map((e) => name[e >> 1]!);
    const target = edges.map((e) => name[e + 1]!);
    const input = inputOf(new Array(count).fill(80), source, target);
    expect(judge(input, layout(input)).crossings).toBe(0);
  });

  it.each([4, 5, 6])("draws shuffled ladders without crossings, seed %i", (seed) => {
    const source: number[] = [];
    const target: number[] = [];
    for (let step = 0; step < 30; step++) {
      for (let rail = 0; rail < 4; rail++) {
        source.push(4 * step + rail);
        target.push(4 * step + 4 + rail);
        if (rail < 3 && step % 3 === rail) {
          source.push(4 * step + rail);
          target.push(4 * step + 5 + rail);
        }
      }
    }
    const edges = shuffled(source.length, seed);
    const input = inputOf(
      new Array(124).fill(80),
      edges.map((e) => source[e]!),
      edges.map((e) => target[e]!),
    );
    expect(judge(input, layout(input)).crossings).toBe(0);
  });

  it("routes edges with at most six points despite a mask read by every block", () => {
    const input = network(210, 5);
    const result = layout(input);
    const bends = input.source.map(
      (_, e) => result.routes.offsets[e + 1]! - result.routes.offsets[e]!,
    );
    expect(Math.max(...bends)).toBeLessThanOrEqual(6);
  });

  it("does not exceed the recorded crossings and bends", () => {
    const networks = [1, 2, 3, 4].map((seed) => network(1000, seed));
    expect(total(networks, "crossings")).toBeLessThanOrEqual(783);
    expect(total(networks, "bends")).toBeLessThanOrEqual(920);
    const any = [1, 2, 3, 4].map((seed) => scattered(150, 220, seed));
    expect(total(any, "crossings")).toBeLessThanOrEqual(1007);
  });

  it.each([
    ["cycles", cycles],
    ["network", networkAnswer],
    ["random", randomAnswer],
  ])("matches the recorded layout: %s", (_, { input, ...answer }) => {
    const result = layout({
      ...inputOf(input.width, input.source, input.target, input.source_slot),
      height: Float64Array.from(input.height),
    });
    expect([...result.x]).toEqual(answer.x);
    expect([...result.y]).toEqual(answer.y);
    expect([...result.routes.points]).toEqual(answer.points);
  });
});
