import { describe, expect, it } from "vitest";
import { POINT, TrialScene } from "../../src/tuning/scene.ts";
import { logOf, type TrialSpec } from "./log.ts";

const CELL = 2;

function sceneOf(trials: readonly TrialSpec[]): TrialScene {
  const scene = new TrialScene(logOf(trials));
  [scene.width, scene.height] = [640, 320];
  return scene;
}

function boxes(numbers: readonly number[]): number[][] {
  return Array.from({ length: numbers.length / 4 }, (_, at) => numbers.slice(4 * at, 4 * at + 4));
}

/** Costs and errors of which nobody knows the order. */
function various(count: number): TrialSpec[] {
  let state = 1;
  const chance = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return Array.from({ length: count }, (): TrialSpec => {
    const [task, time] = [Math.floor(chance() * 3), Math.floor(chance() * 1000)];
    return chance() < 0.1 ? { task, time, error: 6 } : { task, time, cost: 10 ** -(3 * chance()) };
  });
}

describe("marks of trials", () => {
  it("are squares centered on isolated trials", () => {
    const scene = sceneOf([{ cost: 1e-3 }, { cost: 1e-4 }]);
    const { front, cells } = scene.marks(CELL);
    expect(cells).toBe(2);
    boxes(front).forEach(([x, y, width, height], row) => {
      expect([width, height]).toEqual([POINT, POINT]);
      expect(x! + POINT / 2).toBeCloseTo(scene.x(row + 0.5));
      expect(y! + POINT / 2).toBeCloseTo(scene.y(scene.data.cost[row]!));
    });
  });

  it.each(["trial", "time"] as const)(
    "cover the cell of each visible trial, along the %s axis",
    (along) => {
      const scene = sceneOf(various(5000));
      scene.along = along;
      scene.task = 1;
      scene.changed();
      const { first, last } = scene.viewport;
      scene.viewport.show(first + (last - first) * 0.2, first + (last - first) * 0.7);
      const { front, behind } = scene.marks(CELL);
      const { plot, data } = scene;
      const wanted = { front: new Set<string>(), behind: new Set<string>() };
      const cellAt = (x: number, y: number) =>
        `${Math.floor((x - plot.left) / CELL)} ${Math.floor((y - plot.top) / CELL)}`;
      for (let row = 0; row < data.count; row++) {
        const value = scene.value(row);
        if (data.error[row] || value < scene.viewport.start || value > scene.viewport.end) continue;
        const place = cellAt(scene.x(value), scene.y(data.cost[row]!));
        wanted[data.task[row] === 1 ? "front" : "behind"].add(place);
      }
      for (const place of wanted.front) wanted.behind.delete(place);
      const covered = (numbers: readonly number[]) =>
        boxes(numbers).flatMap(([x, y, width, height]) =>
          width === CELL
            ? Array.from({ length: height! / CELL }, (_, at) =>
                cellAt(x! + 0.5, y! + 0.5 + at * CELL),
              )
            : [cellAt(x! + POINT / 2, y! + POINT / 2)],
        );
      expect(covered(front).sort()).toEqual([...wanted.front].sort());
      expect(covered(behind).sort()).toEqual([...wanted.behind].sort());
      expect(boxes(front).length).toBeLessThan(wanted.front.size);
    },
  );

  it("leave out trials that the query does not match", () => {
    const scene = sceneOf([
      { cost: 1 },
      { cost: 2 },
      { task: 1, cost: 3 },
      { cost: 4 },
      { error: 6 },
    ]);
    scene.task = 0;
    scene.chosen = Uint8Array.of(0, 1, 1, 1, 0);
    scene.changed();
    const { front, behind, failures } = scene.marks(CELL);
    expect([front.length, behind.length, failures.length]).toEqual([8, 4, 0]);
  });

  it("show each error once per cell where trials are dense", () => {
    const scene = sceneOf(
      Array.from({ length: 100_000 }, (_, row): TrialSpec => ({ error: row % 2 ? 6 : 4 })),
    );
    const { failures } = scene.marks(CELL);
    const cells = Math.ceil((scene.plot.right - scene.plot.left) / CELL);
    expect(failures.length).toBe(2 * 2 * cells);
  });
});

describe("trials over time", () => {
  const times = [30, 10, Number.NaN, 20, 10];
  const scene = sceneOf(times.map((time) => ({ cost: 1, time })));
  scene.along = "time";

  it("are sorted by time, even if the log is not", () => {
    expect([...scene.axis.rows]).toEqual([1, 4, 3, 0]);
    expect([scene.axis.before(10), scene.axis.upTo(10), scene.axis.upTo(99)]).toEqual([0, 2, 4]);
    expect(scene.hit(scene.x(20), scene.y(1))).toBe(3);
  });

  it("are counted once each, the last one too", () => {
    expect(scene.bins.reduce((sum, { trials }) => sum + trials, 0)).toBe(4);
    expect(scene.bins.at(-1)!.trials).toBe(1);
  });

  it("match a one-by-one count in every bin", () => {
    const many = sceneOf(various(3000));
    many.along = "time";
    many.viewport.show(101, 703);
    for (const [at, { from, to, slots }] of many.bins.entries()) {
      const isLast = at === many.bins.length - 1;
      const rows = [...many.data.time.keys()].filter((row) => {
        const time = many.data.time[row]!;
        return time >= from && (time < to || (isLast && time === to));
      });
      expect(slots[6]).toBe(rows.filter((row) => many.data.error[row]).length);
      expect(slots[0]! + slots[6]!).toBe(rows.length);
    }
  });
});
