import type { Pen, Rectangle } from "../../shared/drawing/canvas.ts";
import {
  blockFill,
  channels,
  healthFills,
  kindFill,
  type Ramp,
  ramp,
  rampStops,
  type Theme,
} from "../../shared/drawing/theme.ts";

const STEPS = 64;
const TINT = 0.16;
const CLASS_TINT = 0.36;

/** Colors of one theme, mixed once: fills of op kinds and of times, and legible ink for them. */
export class Palette {
  readonly #tints = new Map<string, string>();
  readonly #ramps = new Map<Ramp, string[]>();
  readonly edge: string;
  /** Fill and ink of a faded box. */
  readonly plain: string;
  /** Quiet color of unknown values and of what is left of a whole. */
  readonly hatched: string;
  readonly frame: string;

  constructor(readonly theme: Theme) {
    this.edge = mix(theme.background, theme.text, 0.55);
    this.frame = `rgba(${channels(theme.text).join(", ")}, 0.035)`;
    this.plain = mix(theme.background, theme.text, 0.03);
    this.hatched = mix(theme.background, theme.text, 0.16);
  }

  tint(opKind: string): string {
    let tint = this.#tints.get(opKind);
    if (!tint) {
      tint = mix(this.theme.background, kindFill(this.theme, opKind), TINT);
      this.#tints.set(opKind, tint);
    }
    return tint;
  }

  group(kind: number): string {
    return kind < 0 ? this.theme.line : blockFill(this.theme, kind);
  }

  ramp(name: Ramp, share: number): string {
    const step = Math.round(Math.min(1, Math.max(0, share)) * STEPS);
    let colors = this.#ramps.get(name);
    if (!colors) {
      const stops = rampStops(this.theme, name);
      colors = Array.from({ length: STEPS + 1 }, (_, i) => ramp(stops, i / STEPS));
      this.#ramps.set(name, colors);
    }
    return colors[step]!;
  }

  tinted(color: string): string {
    return mix(this.theme.background, color, CLASS_TINT);
  }

  faded(color: string): string {
    return mix(this.theme.background, color, 0.45);
  }

  verdict(verdict: number): string {
    const { OK, suspicious, faulty } = healthFills(this.theme);
    return [this.plain, OK, suspicious, faulty][verdict] ?? this.hatched;
  }
}

/** Interpolation of two colors. */
function mix(from: string, to: string, share: number): string {
  const hex = (color: string) => `rgb(${channels(color).join(", ")})`;
  return ramp([hex(from), hex(to)], share);
}

/** Thickness and distance of lines, px. */
const LINE = 1.2;
const APART = 5.7;

/** Hatches the current path, whose bounds are `shape`, as the sign of an unknown value. */
export function paintHatch(context: Pen, palette: Palette, shape: Rectangle): void {
  const { x, y, width, height } = shape;
  // A single thick dashed line across the box gives all lines of the hatch.
  const long = width + height;
  context.save();
  context.clip();
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + long / 2, y + long / 2);
  context.strokeStyle = palette.hatched;
  context.lineWidth = 1.5 * long;
  context.setLineDash([LINE, APART - LINE]);
  context.stroke();
  context.setLineDash([]);
  context.restore();
}
