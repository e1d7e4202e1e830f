import type { Bookmark, CameraPlace, GraphOptions, History } from "../shared/client/options.ts";
import type { Camera } from "./camera.ts";
import type { Work } from "./data/node_columns.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";

export type { Bookmark, CameraPlace, History } from "../shared/client/options.ts";

export type CameraView = Pick<Camera, "x" | "y" | "scale">;

export function placeOf({ x, y, scale }: CameraView, placed: PlacedScene): CameraPlace | null {
  const node = placed.nearest(x, y);
  const box = node === null ? -1 : placed.boxOf(node);
  if (node === null || box < 0) return null;
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    node,
    dx: round(x - placed.layout.x[box]!),
    dy: round(y - placed.layout.y[box]!),
    scale: Number(scale.toPrecision(4)),
  };
}

export function viewOf(
  { node, dx, dy, scale }: CameraPlace,
  placed: PlacedScene,
): CameraView | null {
  const box = placed.boxOf(node);
  if (box < 0) return null;
  return { x: placed.layout.x[box]! + dx, y: placed.layout.y[box]! + dy, scale };
}

/** Traits that every step has, even unchanged ones. */
const ALWAYS = ["camera", "selected"];
/** As many as in tvmdbg_widgets/widgets/graph_navigation.py. */
const MOST_STEPS = 50;

export function resolved({ steps = [] }: History, at: number): Bookmark {
  return Object.assign({}, ...steps.slice(0, at + 1));
}

/** Traits that differ between two steps, without camera and selection. */
export function changes(before: Bookmark, now: Bookmark): Bookmark {
  const other = Object.entries(now).filter(
    ([name, value]) => !ALWAYS.includes(name) && !same(value, before[name]),
  );
  return Object.fromEntries(other);
}

/** The history with the current position in its present step. */
export function leaving({ steps = [], at = 0 }: History, { camera, selected }: Bookmark): History {
  return { steps: steps.map((step, i) => (i === at ? { ...step, camera, selected } : step)), at };
}

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

/** A column that Python has for the view, by the number to ask with. */
export interface OfferedColumn {
  number: number;
  work: Work | null;
}

/** Options of a live view, and what only its page and Python know. */
export interface GraphState extends GraphOptions {
  /** By name; null for one that is computed once it is chosen. */
  _color_columns: Readonly<Record<string, OfferedColumn | null>>;
  /** True if the computation of the colors was stopped. */
  _color_paused: boolean;
  /** Open groups that were chosen by the room. */
  _opened: readonly number[] | null;
}
