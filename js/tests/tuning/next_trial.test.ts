import { describe, expect, it } from "vitest";
import {
  nextFailure,
  nextImprovement,
  shownTrial,
  TrialScene,
  trialAt,
} from "../../src/tuning/scene.ts";
import { logOf, type TrialSpec } from "./log.ts";

const TRIALS: TrialSpec[] = [
  { task: 0, cost: 4e-3 },
  { task: 1, error: 6 },
  { task: 0, cost: 5e-3 },
  { task: 0, cost: 2e-3 },
  { task: 1, cost: 3e-3 },
  { task: 1, error: 4 },
];

function sceneAt(trial: number, task = -1, chosen: number[] | null = null): TrialScene {
  const scene = new TrialScene(logOf(TRIALS));
  scene.trial = trial;
  scene.task = task;
  scene.chosen = chosen && Uint8Array.from(chosen);
  return scene;
}

describe("navigation between trials", () => {
  it("moves among foreground trials and stops at the ends", () => {
    expect(trialAt(sceneAt(0, 0), 1)).toBe(2);
    expect(trialAt(sceneAt(4, 1), -1)).toBe(1);
    expect(trialAt(sceneAt(3, 0), 1)).toBeUndefined();
    expect(trialAt(sceneAt(2, 0, [0, 1, 1, 0, 1, 1]), 1)).toBeUndefined();
    expect(trialAt(sceneAt(2, 1), Number.POSITIVE_INFINITY)).toBe(5);
    expect(trialAt(sceneAt(2, 1), Number.NEGATIVE_INFINITY)).toBe(1);
    expect(trialAt(sceneAt(-1), 1)).toBe(0);
  });

  it("cycles through improvements of the chosen task or of the trial's task", () => {
    expect(nextImprovement(sceneAt(0, 0))).toBe(3);
    expect(nextImprovement(sceneAt(3, 0))).toBe(0);
    expect(nextImprovement(sceneAt(5))).toBe(4);
    expect(nextImprovement(sceneAt(-1))).toBeUndefined();
  });

  it("cycles through foreground failures", () => {
    expect(nextFailure(sceneAt(1))).toBe(5);
    expect(nextFailure(sceneAt(5))).toBe(1);
    expect(nextFailure(sceneAt(-1))).toBe(1);
    expect(nextFailure(sceneAt(3, 0))).toBeUndefined();
    expect(nextFailure(sceneAt(3, -1, [1, 1, 1, 1, 1, 0]))).toBe(1);
  });

  it("shows the chosen trial, else the best of a task, by default of the slowest", () => {
    expect(shownTrial(logOf(TRIALS), 0, null)).toBe(3);
    expect(shownTrial(logOf(TRIALS), -1, null)).toBe(4);
    expect(shownTrial(logOf(TRIALS), 0, 1)).toBe(1);
    expect(shownTrial(logOf(TRIALS), 0, 99)).toBe(3);
    expect(shownTrial(logOf([{ error: 6 }]), -1, null)).toBe(-1);
    expect(shownTrial(logOf([{ error: 6 }]), 0, null)).toBe(-1);
  });
});
