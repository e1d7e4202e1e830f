import { describe, expect, it } from "vitest";
import { countTrials, ROUND } from "../../src/tuning/data.ts";
import { TrialScene } from "../../src/tuning/scene.ts";
import { logOf, type TrialSpec } from "./log.ts";

function sceneOf(trials: readonly TrialSpec[]): TrialScene {
  const scene = new TrialScene(logOf(trials));
  [scene.width, scene.height] = [640, 320];
  return scene;
}

describe("the place of a trial", () => {
  const scene = sceneOf([
    { cost: 1e-3, time: 0 },
    { cost: 1e-4, time: 10 },
    { error: 6, time: 40 },
  ]);

  it("is higher for a higher cost, on a logarithmic scale", () => {
    const tenth = scene.y(1e-4) - scene.y(1e-3);
    expect(tenth).toBeGreaterThan(0);
    expect(scene.y(1e-5) - scene.y(1e-4)).toBeCloseTo(tenth);
  });

  it("is hit at its exact pixel", () => {
    for (const row of [0, 1]) {
      expect(scene.hit(scene.x(scene.value(row)), scene.y(scene.data.cost[row]!))).toBe(row);
    }
    expect(scene.hit(scene.x(scene.value(2)), scene.laneY)).toBe(2);
    expect(scene.hit(scene.plot.left, scene.strip.bottom)).toBe(-1);
  });

  it("keeps the cost scale when a query matches only failures", () => {
    const costs = [...scene.costs];
    scene.chosen = Uint8Array.of(0, 0, 1);
    scene.changed();
    expect(scene.costs).toEqual(costs);
    scene.chosen = null;
    scene.changed();
  });

  it("is proportional to time on the time axis", () => {
    scene.along = "time";
    expect(scene.x(scene.value(1)) - scene.x(scene.value(0))).toBeCloseTo(
      (scene.x(scene.value(2)) - scene.x(scene.value(0))) / 4,
    );
    expect(scene.between(5, 45)).toEqual([1, 3]);
    scene.along = "trial";
  });

  it("stays visible when the axis changes", () => {
    const four = sceneOf([0, 10, 40, 100].map((time) => ({ cost: 1, time })));
    four.viewport.show(0, 4);
    four.turn("time");
    expect(four.viewport.all).toBe(true);
    const many = sceneOf(Array.from({ length: 100 }, (_, at) => ({ cost: 1, time: at * at })));
    many.viewport.show(20, 30);
    many.turn("time");
    expect([many.viewport.start, many.viewport.end]).toEqual([400, 29 * 29]);
    many.turn("trial");
    expect([many.viewport.start, many.viewport.end]).toEqual([20, 30]);
  });

  it("gives the last visible point of a line", () => {
    const ten = sceneOf(Array.from({ length: 10 }, (_, at) => ({ cost: 10 - at })));
    const rows = Int32Array.of(0, 4, 8);
    expect(ten.lastInView(rows)).toBe(2);
    ten.viewport.show(1, 7);
    expect(ten.lastInView(rows)).toBe(1);
    expect(ten.lastInView(Int32Array.of(9))).toBe(-1);
  });

  it("hits only trials of the current task", () => {
    const two = sceneOf([
      { task: 0, cost: 1 },
      { task: 1, cost: 1 },
    ]);
    two.task = 1;
    two.changed();
    expect(two.hit(two.x(two.value(1)), two.y(1))).toBe(1);
    expect(two.isShown(0)).toBe(false);
  });
});

describe("the error strip", () => {
  const many = Array.from({ length: 3 * ROUND + 10 }, (_, row): TrialSpec => {
    return row >= ROUND && row < ROUND + 16 ? { error: 6 } : { cost: 1 };
  });

  it("counts each round of 64 trials", () => {
    const { bins } = sceneOf(many);
    expect(bins.map(({ trials }) => trials)).toEqual([64, 64, 64, 10]);
    expect(bins.map(({ slots }) => slots[6])).toEqual([0, 16, 0, 0]);
  });

  it("counts every trial once when zoomed out", () => {
    const long = sceneOf(Array.from({ length: 100_000 }, (): TrialSpec => ({ cost: 1 })));
    const { bins } = long;
    expect(bins.length).toBeLessThan(long.width);
    expect(bins.reduce((sum, { trials }) => sum + trials, 0)).toBe(100_000);
  });

  it("counts matches of the query", () => {
    const scene = sceneOf(many);
    scene.chosen = Uint8Array.from(many, ({ error }) => Number(error === 6));
    scene.changed();
    expect(scene.bins.map(({ trials }) => trials)).toEqual([0, 16, 0, 0]);
    expect(scene.bins.map(({ all }) => all)).toEqual([64, 64, 64, 10]);
  });
});

it("counts trials of a range by task", () => {
  const data = logOf([
    { task: 0, cost: 3 },
    { task: 1, error: 4 },
    { task: 0, cost: 2 },
    { task: 1, cost: 5 },
  ]);
  const { trials, failed, best } = countTrials(data, [1, 4], null)!;
  expect([...trials]).toEqual([1, 2]);
  expect([...failed]).toEqual([0, 1]);
  expect([...best]).toEqual([2, 5]);
  expect([...countTrials(data, null, Uint8Array.of(0, 1, 0, 0))!.trials]).toEqual([0, 1]);
  expect(countTrials(data, null, null)).toBeNull();
});
