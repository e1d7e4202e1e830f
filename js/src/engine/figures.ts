import { structFigure } from "../abi/figure.ts";
import { byteMapFigure } from "../bytes/figure.ts";
import { comparisonFigure } from "../comparison/figure/figure.ts";
import { debuggerFigure } from "../debugger/figure.ts";
import { graphFigure } from "../graph/figure/figure.ts";
import { stretchesFigure } from "../graph/figure/stretches.ts";
import { memoryFigure } from "../memory/figure.ts";
import { sequenceFigure } from "../rpc/figure.ts";
import type { FigureMaker } from "../shared/drawing/figure.ts";
import { missingFigure } from "../shared/drawing/missing.ts";
import { tensorFigure } from "../tensor/figure/figure.ts";
import { timelineFigure } from "../timeline/figure/figure.ts";
import { tuningFigure } from "../tuning/figure.ts";

/** What draws the figure of each view. */
export const figures: Readonly<Record<string, FigureMaker>> = {
  bytes: byteMapFigure,
  comparison: comparisonFigure,
  debugger: debuggerFigure,
  graph: graphFigure,
  memory: memoryFigure,
  missing: missingFigure,
  tensor: tensorFigure,
  timeline: timelineFigure,
  sequence: sequenceFigure,
  stretches: stretchesFigure,
  struct: structFigure,
  tuning: tuningFigure,
};
