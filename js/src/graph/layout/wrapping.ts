import { LEGIBLE_SCALE, scaleIn } from "../camera.ts";
import { layoutSteps } from "./layout.ts";
import type { Bounds, Direction, LayoutInput, LayoutProgress, LayoutResult } from "./types.ts";
import { wrap } from "./wrap.ts";

/** Scale at which titles can be read. */
const READABLE = 0.36;
/** Room for texts beside a graph: between rows, and across; CSS px. */
const ROW = 11.5;
const BESIDE = 150;
/** Scale from which columns are preferred to texts beside. */
const PLENTY = 0.6;
/** Growth that makes columns worthwhile; the second if nothing is readable. */
const GAIN = 1.15;
const BLIND_GAIN = 1.6;
/** Width of the overview with its border, CSS px. */
const OVERVIEW = 59;

/** Input of the layout with the stage it is for. */
export interface LayoutRequest extends LayoutInput {
  /** In columns; null: only if that makes everything readable. */
  wrapped?: boolean | null;
  /** CSS px. */
  stage?: { width: number; height: number };
}

export function* laidOut(request: LayoutRequest): Generator<LayoutProgress, LayoutResult> {
  const { wrapped = false, stage, ...input } = request;
  const result = yield* layoutSteps(input);
  return stage && wrapped !== false ? inColumns(result, input, wrapped, stage) : result;
}

/** Layout in columns if these are easier to read on the stage; null allows unreadable ones. */
export function inColumns(
  result: LayoutResult,
  input: LayoutInput,
  wrapped: true | null,
  stage: { width: number; height: number },
): LayoutResult {
  const whole = scaleIn(result.bounds, stage);
  if (wrapped === null && whole >= LEGIBLE_SCALE) return result;
  const columns = wrap(result, input, stage.width / stage.height);
  const scale = scaleIn(columns.bounds, stage);
  if (scale >= LEGIBLE_SCALE && scale > whole) return columns;
  const gain = scale < READABLE ? BLIND_GAIN : GAIN;
  if (scale < gain * Math.min(1, whole)) return result;
  if (wrapped) return columns;
  if (isCut(columns.bounds, input.direction, stage)) return result;
  if (scale >= PLENTY) return columns;
  return isReadable(result, stage, whole) || scale < READABLE ? result : columns;
}

/** True if columns are wider than the stage at the scale at which a view opens on a node, beside the overview. */
function isCut(
  { minX, minY, maxX, maxY }: Bounds,
  direction: Direction,
  stage: { width: number; height: number },
): boolean {
  const [across, room] =
    direction === "down" ? [maxX - minX, stage.width] : [maxY - minY, stage.height];
  return across > room - OVERVIEW;
}

function isReadable(
  { bounds, layers, direction }: LayoutResult,
  stage: { width: number; height: number },
  scale: number,
): boolean {
  if (scale >= READABLE) return true;
  const row = ((bounds.maxY - bounds.minY) / Math.max(1, layers)) * scale;
  const beside = stage.width - (bounds.maxX - bounds.minX) * scale;
  return direction === "down" && row >= ROW && beside >= BESIDE;
}

type LayoutFunction = typeof laidOut;
type Start = (text: string) => unknown;

const KEY = Symbol.for("tvmdbg.layout");
const page = globalThis as { [KEY]?: LayoutFunction };

let start: Start = async (text) => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
};

/** Sets how a page that allows no script from a Blob starts the one with the layout. */
export function startLayoutBy(other: Start): void {
  start = other;
}

/** The layout for this thread, loaded from this text on first use. */
export async function borrowedLayout(text: string): Promise<LayoutFunction> {
  if (!page[KEY]) await start(text);
  const layout = page[KEY];
  if (!layout) throw new Error("this page does not allow the view to start a worker");
  return layout;
}

export function shareLayout(layout: LayoutFunction): void {
  page[KEY] = layout;
}
