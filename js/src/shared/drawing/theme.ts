import {
  diverging,
  group,
  health,
  heat,
  opKinds,
  schemes,
  sequential,
} from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { Pen } from "./canvas.ts";

export interface Theme extends ThemeColors {
  dark: boolean;
  font: string;
}

const COLORS = [
  "background",
  "surface",
  "text",
  "muted",
  "line",
  "accent",
  "warning",
  "error",
] as const;
type ThemeColors = Record<(typeof COLORS)[number], string>;

export function readTheme(root: HTMLElement): Theme {
  const style = getComputedStyle(root);
  const read = (name: string) => style.getPropertyValue(`--tvmdbg-${name}`).trim();
  const colors = Object.fromEntries(COLORS.map((name) => [name, read(name)]));
  const dark = luminance(colors.background!) < 0.4;
  return { dark, ...(colors as ThemeColors), font: style.fontFamily };
}

export function figureTheme(dark: boolean, font: string): Theme {
  return { dark, ...schemes[schemeOf(dark)], font };
}

function schemeOf(dark: boolean): "dark" | "light" {
  return dark ? "dark" : "light";
}

export function healthFills({ dark }: Theme): Record<keyof typeof health.light, string> {
  return health[schemeOf(dark)];
}

export function kindFill({ dark }: Theme, opKind: string): string {
  const kinds: Record<string, string> = opKinds[schemeOf(dark)];
  return kinds[opKind] ?? kinds.other!;
}

export function blockFill({ dark }: Theme, kind: number): string {
  const colors = group.kinds[schemeOf(dark)];
  return colors[kind % colors.length]!;
}

/** Color ramps of times, of other numbers, and of numbers around zero. */
export type Ramp = "heat" | "sequential" | "diverging";

export function rampStops(theme: Theme, name: Ramp): readonly string[] {
  return { heat: heatStops, sequential: sequentialStops, diverging: divergingStops }[name](theme);
}

export function heatStops({ dark }: Theme): readonly string[] {
  return heat[schemeOf(dark)];
}

export function sequentialStops({ dark }: Theme): readonly string[] {
  return dark ? sequential : [...sequential].reverse();
}

export function divergingStops({ dark }: Theme): readonly string[] {
  return diverging[schemeOf(dark)];
}

export function heatFill({ dark }: Theme, share: number): string {
  return ramp(heat[schemeOf(dark)], share);
}

/** Makes `root` the root of a view: with our class, and a dark variant on hosts with a dark background. */
export function applyTheme(root: HTMLElement, signal: AbortSignal): void {
  root.classList.add("tvmdbg");
  const apply = () => root.classList.toggle("tvmdbg-dark", readTheme(root).dark);
  apply();
  onThemeChange(apply, signal);
}

/** Calls back when the host changes its theme, which all known hosts mark by class or attributes of the page. */
export function onThemeChange(listener: () => void, signal: AbortSignal): void {
  const observer = new MutationObserver(listener);
  for (const node of [document.documentElement, document.body]) {
    observer.observe(node, {
      attributes: true,
      attributeFilter: ["class", "style", "data-theme", "data-jp-theme-light"],
    });
  }
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", listener, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
}

/** Black or white, whichever has more contrast to the fill (always above 4.5 : 1). */
export function inkOn(fill: string): string {
  return luminance(fill) > 0.179 ? "#000000" : "#ffffff";
}

export function ramp(stops: readonly string[], share: number): string {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const [from, to] = [channels(stops[low]!), channels(stops[low + 1]!)];
  const mixed = from.map((value, i) => Math.round(value + (to[i]! - value) * (at - low)));
  return `rgb(${mixed.join(", ")})`;
}

/** WCAG relative luminance of a CSS color written as #rgb, #rrggbb or rgb(). */
export function luminance(color: string): number {
  const [red, green, blue] = channels(color).map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

export function channels(color: string): [number, number, number] {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(color)?.[1];
  if (hex) {
    const wide = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
    return [0, 2, 4].map((i) => Number.parseInt(wide.slice(i, i + 2), 16)) as [
      number,
      number,
      number,
    ];
  }
  const parts = color.match(/[\d.]+/g)?.map(Number) ?? [];
  return [parts[0] ?? 255, parts[1] ?? 255, parts[2] ?? 255];
}

/** Size of the badge at the origin of a fault, CSS px. */
export const BADGE = 16;

/** A disc with an exclamation mark. */
export function paintBadge(
  context: Pen,
  x: number,
  y: number,
  radius: number,
  { error, background, font }: Theme,
): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = error;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = background;
  context.stroke();
  if (radius < 6) return;
  context.fillStyle = inkOn(error);
  context.font = `700 ${1.5 * radius}px ${font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText("!", x, y + 0.5);
  context.textAlign = "left";
}
