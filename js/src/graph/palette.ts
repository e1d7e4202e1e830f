import { channels, heatFill, inkOn, kindFill, ramp, type Theme } from "../shared/theme.ts";

const HEAT_STEPS = 64;
const TINT = 0.16;

/** The colours of one theme, mixed once: fills of op kinds and of times, and the ink that is legible on each. */
export class Palette {
  readonly theme: Theme;
  readonly #tints = new Map<string, string>();
  readonly #heat: string[];
  readonly #heatInk: string[];
  /** Lines between boxes. */
  readonly edge: string;
  /** Fill and ink of a box that is set back. */
  readonly plain: string;
  #hatch: CanvasPattern | null = null;

  constructor(theme: Theme) {
    this.theme = theme;
    this.#heat = Array.from({ length: HEAT_STEPS + 1 }, (_, i) => heatFill(theme, i / HEAT_STEPS));
    this.#heatInk = this.#heat.map(inkOn);
    this.edge = mix(theme.background, theme.text, 0.55);
    this.plain = mix(theme.background, theme.text, 0.03);
  }

  /** A light fill of the kind's colour, on which the theme's text is legible. */
  tint(opKind: string): string {
    let tint = this.#tints.get(opKind);
    if (!tint) {
      tint = mix(this.theme.background, kindFill(this.theme, opKind), TINT);
      this.#tints.set(opKind, tint);
    }
    return tint;
  }

  heat(share: number): string {
    return this.#heat[step(share)]!;
  }

  heatInk(share: number): string {
    return this.#heatInk[step(share)]!;
  }

  /** The fill of a verdict on values; that of lines where there is none. */
  verdict(verdict: number): string {
    const { sound, doubtful, faulty } = this.theme.health;
    return [this.plain, sound, doubtful, faulty][verdict] ?? this.theme.line;
  }

  /** Diagonal lines: a time that is not known. */
  hatch(context: CanvasRenderingContext2D): CanvasPattern | string {
    if (this.#hatch) return this.#hatch;
    const tile = document.createElement("canvas");
    [tile.width, tile.height] = [8, 8];
    const ink = tile.getContext("2d")!;
    ink.strokeStyle = mix(this.theme.background, this.theme.text, 0.16);
    ink.lineWidth = 1.2;
    ink.beginPath();
    for (const start of [-8, 0, 8]) {
      ink.moveTo(start, 8);
      ink.lineTo(start + 8, 0);
    }
    ink.stroke();
    this.#hatch = context.createPattern(tile, "repeat");
    return this.#hatch ?? this.plain;
  }
}

function step(share: number): number {
  return Math.round(Math.min(1, Math.max(0, share)) * HEAT_STEPS);
}

/** A colour on the way from one to the other. */
function mix(from: string, to: string, share: number): string {
  const hex = (color: string) => `rgb(${channels(color).join(", ")})`;
  return ramp([hex(from), hex(to)], share);
}
