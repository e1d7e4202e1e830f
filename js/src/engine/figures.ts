import type { FigureMaker } from "../shared/figure.ts";
import { tuningFigure } from "../tuning/figure.ts";

/** What draws the figure of each view. */
export const figures: Readonly<Record<string, FigureMaker>> = { tuning: tuningFigure };
