import type { CameraPlace } from "./camera_place.ts";

/** What is shown and from where; traits of the view by their names. */
export type Bookmark = Record<string, unknown> & {
  camera?: CameraPlace | null | undefined;
  selected?: readonly number[] | undefined;
};

/** The trait `history`: each step told as its difference to the one before. */
export interface History {
  steps?: readonly Bookmark[];
  at?: number;
}

/** What each step tells, also where it is as before. */
const ALWAYS = ["camera", "selected"];
/** tvmdbg_widgets/widgets/graph_navigation.py keeps as many. */
const MOST_STEPS = 50;

/** The whole look of a step. */
export function resolved({ steps = [] }: History, at: number): Bookmark {
  return Object.assign({}, ...steps.slice(0, at + 1));
}

/** What is another in `now` than it was in `before`; of camera and selection apart. */
export function changes(before: Bookmark, now: Bookmark): Bookmark {
  const other = Object.entries(now).filter(
    ([name, value]) => !ALWAYS.includes(name) && !same(value, before[name]),
  );
  return Object.fromEntries(other);
}

/** The history with the place that is left now at its present step. */
export function leaving({ steps = [], at = 0 }: History, { camera, selected }: Bookmark): History {
  return { steps: steps.map((step, i) => (i === at ? { ...step, camera, selected } : step)), at };
}

/** The history with one more step, those that were gone back from left out; `instead` of the present one. */
export function pushed(
  history: History,
  before: Bookmark,
  now: Bookmark,
  instead = false,
): History {
  const { steps: known = [], at = 0 } = history;
  const steps: Bookmark[] = known.length ? [...known.slice(0, at + 1)] : [before];
  const { camera = null, selected = [] } = now;
  const step = { ...changes(before, now), camera, selected };
  if (instead && steps.length > 1) steps[steps.length - 1] = { ...steps.at(-1), ...step };
  else steps.push(step);
  while (steps.length > MOST_STEPS) steps.splice(0, 2, { ...steps[0], ...steps[1] });
  return { steps, at: steps.length - 1 };
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
