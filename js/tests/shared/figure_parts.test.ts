import { expect, it } from "vitest";
import { fieldTint } from "../../src/engine/ink.ts";
import { figureTheme, luminance } from "../../src/shared/drawing/theme.ts";

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

it.each([false, true])("keeps text legible on every field color, dark: %s", (dark) => {
  const theme = figureTheme(dark, "sans-serif");
  for (let field = 0; field < 8; field++) {
    for (const color of [theme.text, theme.muted, theme.error]) {
      expect(contrast(color, fieldTint(theme, field))).toBeGreaterThan(4.5);
    }
  }
});
