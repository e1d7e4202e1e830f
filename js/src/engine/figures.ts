import { structFigure } from "../abi/figure.ts";
import type { FigureMaker } from "../shared/figure.ts";
import { tuningFigure } from "../tuning/figure.ts";

/** What draws the figure of each view. */
export const figures: Readonly<Record<string, FigureMaker>> = {
  struct: structFigure,
  tuning: tuningFigure,
};
