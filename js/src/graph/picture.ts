import type { GraphColumns } from "../shared/run_client.ts";
import { kindFill } from "../shared/theme.ts";
import type { Camera } from "./camera.ts";
import type { BoxHealth } from "./health.ts";
import type { Palette } from "./palette.ts";
import type { Placed } from "./placed.ts";
import type { Times } from "./times.ts";

export const COLOR_BY = ["kind", "time", "health"] as const;
export type ColorBy = (typeof COLOR_BY)[number];

/** All that a frame is drawn from. */
export interface Picture {
  graph: GraphColumns;
  times: Times;
  placed: Placed;
  camera: Camera;
  palette: Palette;
  colorBy: ColorBy;
  /** Null until it is known. */
  health: BoxHealth | null;
  /** The op kind that alone keeps its colour; null for all. */
  highlight: string | null;
}

/** A text on the stage and the box it belongs to (-1: a line's), CSS px. */
export interface LabelRecord {
  text: string;
  node: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** How much of a box is drawn: two lines of text, one, a rectangle, or layers run together. */
export type Detail = "full" | "title" | "shape" | "density";

const FULL_SCALE = 0.85;
/** Below, boxes bear no text. */
export const TITLE_SCALE = 0.38;
const LAYER_PX = 2;

/** From this scale on, lines say what they carry. */
export const EDGE_TEXT_SCALE = 1.15;
/** From this scale on everything of a box can be read; where the view opens if the whole graph would be smaller. */
export const READABLE_SCALE = 1;

export function detail({ camera, placed }: Pick<Picture, "camera" | "placed">): Detail {
  if (camera.scale >= FULL_SCALE) return "full";
  if (camera.scale >= TITLE_SCALE) return "title";
  const pitch = placed.length / Math.max(1, placed.layout.layers);
  return pitch * camera.scale >= LAYER_PX ? "shape" : "density";
}

/** Which of several boxes is seen where there is room for one: the slowest, or the worst. */
export function prominence({ placed, times, colorBy, health }: Picture, box: number): number {
  if (colorBy === "health") return health ? health.weight(box) : 0;
  return times.ns[placed.scene.node[box]!]! || 0;
}

/** The fill of a box without text. */
export function flatFill(picture: Picture, box: number): string {
  const { graph, palette, times, colorBy, highlight, health } = picture;
  const node = picture.placed.scene.node[box]!;
  const opKind = graph.opKinds.at(node);
  if (highlight !== null && opKind !== highlight) return palette.theme.line;
  if (colorBy === "kind") return kindFill(palette.theme, opKind);
  if (colorBy === "health") return palette.verdict(health ? health.verdict(box) : 0);
  const heat = times.heat(node);
  return Number.isNaN(heat) ? palette.theme.line : palette.heat(heat);
}
