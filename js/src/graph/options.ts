import type { Camera } from "./camera.ts";
import type { Wires } from "./data/coloring.ts";
import type { Isolation } from "./data/links.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";

/** Position of the camera relative to a node: px of the graph right of and below the middle of its box. */
export interface CameraPlace {
  node: number;
  dx: number;
  dy: number;
  scale: number;
}

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

export type Bookmark = Record<string, unknown> & {
  camera?: CameraPlace | null | undefined;
  selected?: readonly number[] | undefined;
};

/** The trait `history`: steps as differences to the step before. */
export interface History {
  steps?: readonly Bookmark[];
  at?: number;
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

export interface GraphOptions {
  focus: string | number | null;
  /** Shows only nodes this many edges from the focus (or the selected node). */
  hops: number | null;
  color_by: string;
  color_limits: readonly [low: number, high: number] | null;
  label: string;
  _color_columns: Wires;
  /** True if the computation of the colors was stopped. */
  _color_paused: boolean;
  fold_parameters: boolean;
  direction: "down" | "right";
  height: number;
  search: string;
  isolate: Isolation | null;
  hidden: readonly string[];
  camera: CameraPlace | null;
  history: History;
  bookmarks: Readonly<Record<string, Bookmark>>;
  grouped: boolean;
  /** Open groups; null: chosen automatically by the room and reported in `_opened`. */
  open_groups: readonly number[] | null;
  _opened: readonly number[] | null;
  wrapped: boolean | null;
  group: number | null;
}
