import { describe, expect, it } from "vitest";
import { nextSuspicious, UNREAD, Verdict, verdictCounts } from "../../src/shared/client/health.ts";
import {
  entryLines,
  sentence,
  stateWords,
  suspiciousBeside,
} from "../../src/tensor/distribution/health_pill.ts";
import {
  columnOf,
  healthScene,
  rowAt,
  Special,
} from "../../src/tensor/distribution/health_scene.ts";
import { healthOf } from "../shared/health_answer.ts";

const FAULT = { verdict: Verdict.FAULTY, inf: 59, words: "59 Inf, made here", brief: "59 Inf" };
const DOUBT = { verdict: Verdict.SUSPICIOUS, words: "all zero", brief: "all zero" };

describe("the strip", () => {
  it("gives each of few entries a column of its own", () => {
    const scene = healthScene(healthOf(3, { 1: FAULT }), 900);
    expect([scene.count, scene.width]).toEqual([3, 28]);
    expect(Array.from(scene.verdict)).toEqual([1, 3, 1]);
    expect(Array.from(scene.start)).toEqual([0, 1, 2, 3]);
  });

  it.each([[[0, 333, 49_999, 61_803, 99_999]], [[1, 334, 50_000, 61_804, 99_998]]])(
    "loses no faulty entry of 100,000: %j",
    (rows) => {
      const faulty = Object.fromEntries(rows.map((row) => [row, { ...FAULT, nan: 1 }]));
      const health = healthOf(100_000, faulty);
      for (const width of [350, 771, 1600]) {
        const scene = healthScene(health, width);
        expect(scene.count).toBe(width);
        const columns = Array.from(scene.verdict.keys()).filter((c) => scene.verdict[c] === 3);
        expect(columns).toEqual(rows.map((row) => columnOf(scene, row)));
        expect(columns.map((c) => scene.row[c])).toEqual(rows);
        for (const c of columns) expect(scene.special[c]).toBe(Special.NAN | Special.INF);
      }
    },
  );

  it("shows every entry in exactly one column, at any size", () => {
    for (const rows of [1, 2, 3, 74, 350, 351, 999, 5003]) {
      for (const width of [1, 350, 480.5, 1600]) {
        const scene = healthScene(healthOf(rows), width);
        expect([scene.start[0], scene.start[scene.count]]).toEqual([0, rows]);
        for (let row = 0; row < rows; row += 7) {
          const column = columnOf(scene, row);
          expect(scene.start[column]!).toBeLessThanOrEqual(row);
          expect(scene.start[column + 1]!).toBeGreaterThan(row);
        }
        expect(scene.count * scene.width).toBeLessThanOrEqual(width);
      }
    }
  });

  it("shows the largest shares and magnitudes of merged entries, if any are known", () => {
    const scene = healthScene(
      healthOf(4, {
        0: { zero: 0.25, low: -1000, high: 1 },
        1: { zero: 0.5, dead: 0.75 },
        2: { zero: Number.NaN, low: Number.NaN, high: Number.NaN },
        3: { zero: Number.NaN, low: Number.NaN, high: Number.NaN },
      }),
      2,
    );
    expect(Array.from(scene.zero)).toEqual([0.5, Number.NaN]);
    expect(Array.from(scene.dead)).toEqual([0.75, Number.NaN]);
    expect(Array.from(scene.magnitude)).toEqual([1, Number.NaN]);
  });

  it("picks a faulty entry close to the pointer", () => {
    const health = healthOf(100_000, { 50003: FAULT });
    const scene = healthScene(health, 1000);
    const x = columnOf(scene, 50_003);
    for (const away of [-2, -1, 0, 1, 2]) expect(rowAt(scene, health, x + away + 0.5)).toBe(50_003);
    expect(rowAt(scene, health, x + 4.5)).not.toBe(50_003);
    const few = healthOf(3, { 1: FAULT });
    expect([1, 29, 57, 85].map((at) => rowAt(healthScene(few, 900), few, at))).toEqual([
      0, 1, 2, -1,
    ]);
  });

  it("summarizes the counts, worst first, or that all are OK", () => {
    expect(stateWords(healthOf(9, { 2: FAULT, 4: DOUBT, 5: DOUBT }))).toBe(
      "1 faulty, 2 suspicious",
    );
    const gone = { verdict: Verdict.UNKNOWN, words: "could not be read: gone", brief: UNREAD };
    const raw = { verdict: Verdict.UNKNOWN, words: "complex", brief: "not judged" };
    const some = healthOf(9, { 2: FAULT, 4: gone, 5: gone, 6: raw });
    expect(stateWords(some)).toBe("1 faulty, 1 cannot be judged, 2 of 9 could not be read");
    expect(stateWords(healthOf(2, { 0: gone, 1: gone }))).toBe("2 of 2 could not be read");
    expect(entryLines(some, 4, "relu")[1]).toBe("could not be read: gone");
    expect(stateWords(healthOf(1234))).toBe("all 1,234 OK");
    const half = { 3: { verdict: Verdict.NOT_SCANNED }, 4: { verdict: Verdict.NOT_SCANNED } };
    expect(stateWords(healthOf(5, half, "scanning"))).toBe("3 of 5 …");
    expect(stateWords(healthOf(5, half, "cancelled"))).toBe("3 OK; 3 of 5");
    expect(sentence(healthOf(9, { 2: FAULT }))).toContain("The first with NaN or Inf is node 2.");
    expect(verdictCounts(Uint8Array.of(1, 4, 3, 1, 2))).toEqual([
      [3, 1],
      [2, 1],
      [4, 1],
      [1, 2],
    ]);
  });

  it("explains the verdict of an entry with approximate numbers", () => {
    const health = healthOf(3, { 1: { ...FAULT, zero: 0.5, low: 0, high: 65376.123 } });
    expect(entryLines(health, 1, "conv #1")).toEqual([
      "conv #1",
      "faulty: 59 Inf, made here",
      "0 … ≈ 65376 · 50.0 % zero",
    ]);
    expect(entryLines(health, 0, "data #0")[1]).toBe("OK");
  });

  it("cycles through suspicious entries, worst first", () => {
    const health = healthOf(9, { 2: DOUBT, 5: FAULT, 7: FAULT });
    expect(nextSuspicious(health, -1)).toBe(5);
    expect(nextSuspicious(health, 0)).toBe(5);
    expect([5, 7, 2].map((row) => nextSuspicious(health, row))).toEqual([7, 2, 5]);
    expect(nextSuspicious(healthOf(4), 1)).toBe(-1);
    expect(suspiciousBeside(health, 5, -1)).toBe(2);
    expect(suspiciousBeside(health, 7, 1)).toBe(-1);
  });
});
