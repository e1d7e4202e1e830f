import type { GraphColumns } from "../../shared/client/run_client.ts";
import type { Colors } from "../color/colors.ts";
import type { Groups } from "../data/groups.ts";
import type { BoxHealth } from "../data/health.ts";
import type { Times } from "../data/times.ts";
import type { PlacedScene } from "../placed/placed_scene.ts";
import { COMPACT, CUT_SCALE, FULL_SCALE, TITLE_SCALE } from "../placed/scales.ts";
import type { Camera } from "../stage/camera.ts";
import { marginStart } from "./margin_start.ts";
import type { Palette } from "./palette.ts";

/** All that a frame is drawn from. */
export interface Picture {
  graph: GraphColumns;
  groups: Groups;
  times: Times;
  placed: PlacedScene;
  camera: Camera;
  palette: Palette;
  /** The name of what the colors show, and the colors. */
  colorBy: string;
  colors: Colors;
  /** Null until it is known. */
  health: BoxHealth | null;
  /** What alone keeps its color, as the legend calls it; null for all. */
  highlight: string | null;
  /** Boxes with hits of the search, which alone keep their color; null where nothing is found. */
  hits?: ReadonlyMap<number, number> | null;
  /** Whether nothing in it can be pressed. */
  isStill?: boolean;
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

const LAYER_PX = 2;

/** How large a box is drawn beside one of two lines at scale 1. */
export function boxScale({ camera, placed }: Pick<Picture, "camera" | "placed">): number {
  return camera.scale * (placed.scene.compact ? COMPACT : 1);
}

export function detail({ camera, placed }: Pick<Picture, "camera" | "placed">): Detail {
  const scale = boxScale({ camera, placed });
  if (scale >= FULL_SCALE) return "full";
  const isBeside = camera.scale < CUT_SCALE && marginStart(placed, camera) !== null;
  if (scale >= TITLE_SCALE && !isBeside) return "title";
  const pitch = placed.length / Math.max(1, placed.layout.layers);
  return pitch * camera.scale >= LAYER_PX ? "shape" : "density";
}

/** Which of several boxes is seen where there is room for one: the slowest, the worst, the largest. */
export function prominence({ colors }: Pick<Picture, "colors">, box: number): number {
  return colors.rank(box);
}

/** Whether the box gives way to what the legend sets off, or to what the search found. */
export function isSetBack(
  { colors, highlight, hits }: Pick<Picture, "colors" | "highlight" | "hits">,
  box: number,
): boolean {
  return (highlight !== null && !colors.has(box, highlight)) || (!!hits && !hits.has(box));
}

/** The fill of a box without text. */
export function flatFill(
  picture: Pick<Picture, "colors" | "highlight" | "hits" | "palette">,
  box: number,
): string {
  return isSetBack(picture, box) ? picture.palette.theme.line : picture.colors.flat(box);
}
