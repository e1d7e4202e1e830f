import {
  type Bounds,
  type CompoundInput,
  type LayoutProgress,
  type LayoutResult,
  layoutSteps,
  wrap,
} from "./layout/index.ts";

/** A scale at which titles can be read. */
const READABLE = 0.38;
/** Texts beside a graph need so much room: between rows, and across; CSS px. */
const ROW = 11.5;
const BESIDE = 150;
/** Columns of another aspect than the stage's are made anew from this ratio on. */
const UNLIKE = 1.25;

/** What is laid out, and where it is to be shown. */
export interface Asked extends CompoundInput {
  /** In columns; null: where the whole can so be read, and only so. */
  wrapped?: boolean | null;
  /** CSS px. */
  stage?: { width: number; height: number };
}

/** The layout in steps, wrapped into columns where that is asked for or is what makes it readable. */
export function* laidOut(asked: Asked): Generator<LayoutProgress, LayoutResult> {
  const { wrapped = false, stage, ...input } = asked;
  const result = yield* layoutSteps(input);
  if (!stage || wrapped === false || (wrapped === null && isReadable(result, stage))) return result;
  const aspect = stage.width / stage.height;
  let columns = wrap(result, input, aspect);
  // What columns take across is known once they are there: few are as broad as the whole.
  const got = aspectOf(columns.bounds);
  if (got < aspect / UNLIKE || got > aspect * UNLIKE) {
    columns = wrap(result, input, (aspect * aspect) / got);
  }
  return wrapped || scaleIn(columns.bounds, stage) >= READABLE ? columns : result;
}

function isReadable(
  { bounds, layers, direction }: LayoutResult,
  stage: { width: number; height: number },
): boolean {
  const scale = scaleIn(bounds, stage);
  if (scale >= READABLE) return true;
  const row = ((bounds.maxY - bounds.minY) / Math.max(1, layers)) * scale;
  const beside = stage.width - (bounds.maxX - bounds.minX) * scale;
  return direction === "down" && row >= ROW && beside >= BESIDE;
}

function aspectOf({ minX, minY, maxX, maxY }: Bounds): number {
  return Math.max(1, maxX - minX) / Math.max(1, maxY - minY);
}

/** The scale at which the bounds fit. */
function scaleIn(
  { minX, minY, maxX, maxY }: Bounds,
  { width, height }: { width: number; height: number },
): number {
  return Math.min(width / Math.max(1, maxX - minX), height / Math.max(1, maxY - minY));
}
