import { severity, Verdict } from "../../shared/client/health.ts";
import type { HealthColumns } from "../../shared/client/tensor_questions.ts";
import { healthFills, type Theme } from "../../shared/drawing/theme.ts";
import { boundsOf, SPECIAL } from "../picture/color_scale.ts";

export const Special = { NAN: 1, INF: 2 } as const;

/** Width above which columns are not more legible, CSS px. */
const WIDEST = 28;
/** Reach of the pointer around an entry, CSS px. */
const NEAR = 2;

/** Columns of the strip: one entry, or the worst of several if there are more entries than pixels. */
export interface HealthScene {
  count: number;
  /** Width of a column, CSS px. */
  width: number;
  /** First row by column, and the number of rows. */
  start: Int32Array;
  row: Int32Array;
  verdict: Uint8Array;
  /** Non-finite values inside, bits of `Special`. */
  special: Uint8Array;
  /** Largest magnitude on a logarithmic scale from the least (0) to the largest (1) of the run; NaN if unknown. */
  magnitude: Float32Array;
  /** Largest shares; NaN if unknown. */
  zero: Float32Array;
  saturated: Float32Array;
  dead: Float32Array;
}

export function healthScene(health: HealthColumns, width: number): HealthScene {
  const rows = health.node.length;
  const count = Math.max(0, Math.min(rows, Math.floor(width)));
  const scene: HealthScene = {
    count,
    width: count === 0 ? 0 : count < rows ? 1 : Math.min(WIDEST, width / count),
    start: new Int32Array(count + 1),
    row: new Int32Array(count),
    verdict: new Uint8Array(count),
    special: new Uint8Array(count),
    magnitude: new Float32Array(count).fill(Number.NaN),
    zero: new Float32Array(count).fill(Number.NaN),
    saturated: new Float32Array(count).fill(Number.NaN),
    dead: new Float32Array(count).fill(Number.NaN),
  };
  const exponents = Float64Array.from({ length: rows }, (_, row) => exponent(health, row));
  const [least, most] = boundsOf(exponents);
  for (let column = 0; column < count; column++) {
    const start = Math.floor((column * rows) / count);
    const end = Math.floor(((column + 1) * rows) / count);
    scene.start[column + 1] = end;
    scene.row[column] = start;
    for (let row = start; row < end; row++) {
      if (health.rank[row]! < health.rank[scene.row[column]!]!) scene.row[column] = row;
      if (severity(health.verdict[row]!) > severity(scene.verdict[column]!)) {
        scene.verdict[column] = health.verdict[row]!;
      }
      if (health.nan[row]! > 0) scene.special[column]! |= Special.NAN;
      if (health.inf[row]! > 0) scene.special[column]! |= Special.INF;
      const share = most > least ? (exponents[row]! - least) / (most - least) : 0.5;
      if (!Number.isNaN(exponents[row]!)) raise(scene.magnitude, column, share);
      raise(scene.zero, column, health.zero[row]!);
      raise(scene.saturated, column, health.saturated[row]!);
      raise(scene.dead, column, health.dead[row]!);
    }
  }
  return scene;
}

export function columnOf({ count, start }: HealthScene, row: number): number {
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (start[middle]! <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Row at `x`: of thin columns the most suspicious near by; -1 outside. */
export function rowAt(scene: HealthScene, health: HealthColumns, x: number): number {
  const at = Math.floor(x / scene.width);
  if (!(at >= 0 && at < scene.count)) return -1;
  const near = Math.floor(NEAR / scene.width);
  let best = scene.row[at]!;
  for (let column = at - near; column <= at + near; column++) {
    const row = scene.row[column];
    if (row === undefined || !(severity(health.verdict[row]!) > severity(health.verdict[best]!))) {
      continue;
    }
    best = row;
  }
  return best;
}

/** Decimal exponent of the largest finite magnitude; NaN if it is zero or unknown. */
function exponent({ low, high }: HealthColumns, row: number): number {
  const most = Math.max(Math.abs(low[row]!), Math.abs(high[row]!));
  return most > 0 ? Math.log10(most) : Number.NaN;
}

function raise(into: Float32Array, column: number, value: number): void {
  if (!(into[column]! >= value) && !Number.isNaN(value)) into[column] = value;
}

/** Lanes from top to bottom, CSS px: verdict, range, zeros, values at the ends, dead channels. */
const LANES = {
  verdict: [1, 9],
  range: [11, 10],
  zero: [22, 3],
  saturated: [26, 2],
  dead: [28, 2],
} as const;
export const HEIGHT = 31;
/** Least width of important marks. */
const LEAST = 3;

/** Height of a verdict's mark as a share of the lane, from below; color is not the only sign. */
const TALL = [0.12, 0.34, 0.67, 1, 0.67] as const;

export function paintHealth(
  context: CanvasRenderingContext2D,
  scene: HealthScene,
  theme: Theme,
): void {
  for (const verdict of [
    Verdict.NOT_SCANNED,
    Verdict.OK,
    Verdict.UNKNOWN,
    Verdict.SUSPICIOUS,
    Verdict.FAULTY,
  ]) {
    for (let column = 0; column < scene.count; column++) {
      if (scene.verdict[column] === verdict) paintVerdict(context, scene, column, theme);
    }
  }
  const range = (column: number) => scene.magnitude[column]!;
  lane(context, scene, theme.muted, (column) => (range(column) >= 0 ? 0.75 : 0), {
    of: LANES.range,
    tall: (column) => 0.15 + 0.85 * range(column),
  });
  lane(context, scene, theme.muted, (column) => scene.zero[column]!, { of: LANES.zero });
  const seen = (share: number) => (share > 0 ? 0.3 + 0.7 * Math.sqrt(share) : 0);
  lane(context, scene, healthFills(theme).suspicious, (column) => seen(scene.saturated[column]!), {
    of: LANES.saturated,
  });
  lane(context, scene, healthFills(theme).dead, (column) => seen(scene.dead[column]!), {
    of: LANES.dead,
  });
  paintSpecial(context, scene);
}

/** Frames the column of the current entry, with pointers at both ends. */
export function paintCurrent(
  context: CanvasRenderingContext2D,
  scene: HealthScene,
  column: number,
  theme: Theme,
): void {
  const wide = Math.max(LEAST + 2, scene.width);
  const x = left(scene, column, wide);
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5;
  context.strokeRect(x + 0.75, 0.75, wide - 1.5, HEIGHT - 1.5);
}

/** A dot over an entry whose node has a note. */
export function paintNoted(
  context: CanvasRenderingContext2D,
  scene: HealthScene,
  column: number,
  theme: Theme,
): void {
  context.beginPath();
  context.arc((column + 0.5) * scene.width, 3, 2.5, 0, 2 * Math.PI);
  context.fillStyle = theme.accent;
  context.fill();
  context.strokeStyle = theme.background;
  context.lineWidth = 1;
  context.stroke();
}

function paintVerdict(
  context: CanvasRenderingContext2D,
  scene: HealthScene,
  column: number,
  theme: Theme,
): void {
  const verdict = scene.verdict[column]!;
  const [top, high] = LANES.verdict;
  const tall = high * TALL[verdict]!;
  const plain = verdict === Verdict.OK || verdict === Verdict.NOT_SCANNED;
  const wide = plain ? scene.width : Math.max(LEAST, scene.width);
  const gap = gapOf(scene);
  const x = left(scene, column, wide);
  const { OK, suspicious, faulty, unknown } = healthFills(theme);
  context.fillStyle = [theme.line, OK, suspicious, faulty, unknown][verdict]!;
  context.fillRect(x, top + high - tall, wide - gap, tall);
  if (verdict !== Verdict.UNKNOWN || wide < 6) return;
  // A hollow mark: its values are unknown.
  context.fillStyle = theme.background;
  context.fillRect(x + 1.5, top + high - tall + 1.5, wide - gap - 3, tall - 3);
}

/** NaN fills the lane of the range from above, Inf from below, if there is no room for both. */
function paintSpecial(context: CanvasRenderingContext2D, scene: HealthScene): void {
  const [top, high] = LANES.range;
  const wide = Math.max(LEAST, scene.width);
  const gap = gapOf(scene);
  for (let column = 0; column < scene.count; column++) {
    const special = scene.special[column]!;
    if (special === 0) continue;
    const both = special === (Special.NAN | Special.INF);
    const x = left(scene, column, wide);
    if (special & Special.INF) {
      context.fillStyle = SPECIAL.posInf;
      context.fillRect(x, both ? top + high / 2 : top, wide - gap, both ? high / 2 : high);
    }
    if (special & Special.NAN) {
      context.fillStyle = SPECIAL.nan;
      context.fillRect(x, top, wide - gap, both ? high / 2 : high);
    }
  }
}

function lane(
  context: CanvasRenderingContext2D,
  scene: HealthScene,
  color: string,
  alpha: (column: number) => number,
  { of: [top, high], tall }: { of: readonly [number, number]; tall?: (column: number) => number },
): void {
  const gap = gapOf(scene);
  context.fillStyle = color;
  for (let column = 0; column < scene.count; column++) {
    const shown = alpha(column);
    if (!(shown > 0)) continue;
    context.globalAlpha = Math.min(1, shown);
    const size = high * (tall ? tall(column) : 1);
    context.fillRect(column * scene.width, top + high - size, scene.width - gap, size);
  }
  context.globalAlpha = 1;
}

function gapOf({ width }: HealthScene): number {
  return width >= 4 ? 1 : 0;
}

/** Left edge of a mark that may be wider than its column, inside the strip. */
function left(scene: HealthScene, column: number, wide: number): number {
  const middle = (column + 0.5) * scene.width;
  return Math.max(0, Math.min(scene.count * scene.width - wide, middle - wide / 2));
}
