import type { TuningData } from "../data/data.ts";
import type { Scene } from "./scene.ts";

/** The trial so many places on among those in the foreground; without an end, the last one there is. */
export function trialAt(scene: Scene, by: number): number | undefined {
  const { count } = scene.data;
  const direction = by < 0 ? -1 : 1;
  const isEnd = !Number.isFinite(by);
  const onward = isEnd ? -direction : direction;
  let at = isEnd ? (by < 0 ? -1 : count) : scene.trial;
  for (at += onward; at >= 0 && at < count; at += onward) if (scene.isShown(at)) return at;
  return undefined;
}

/** The next trial that was better than all before it of the task; after the last one, the first. */
export function nextImprovement({ data, task, trial }: Scene): number | undefined {
  const of = task >= 0 ? task : data.task[trial];
  const rows = of === undefined ? [] : [...data.curve(of)];
  return rows.find((row) => row > trial) ?? rows[0];
}

/** The next failed trial in the foreground; after the last one, the first. */
export function nextFailure(scene: Scene): number | undefined {
  const { data, trial } = scene;
  for (let i = 1; i <= data.count; i++) {
    const row = (trial + i + data.count) % data.count;
    if (data.error[row] && scene.isShown(row)) return row;
  }
  return undefined;
}

/** The best trial of a task, or without one (-1) of the task that takes most time; -1 where none is valid. */
export function bestTrial({ info: { tasks } }: TuningData, task: number): number {
  const time = (at: number) => tasks[at]!.weight * (tasks[at]!.best ?? -1);
  const slowest = tasks.reduce(
    (most, { index }) => (time(index) > (most < 0 ? -1 : time(most)) ? index : most),
    -1,
  );
  const of = task < 0 ? slowest : task;
  return of < 0 ? -1 : (tasks[of]!.bestTrial ?? -1);
}
