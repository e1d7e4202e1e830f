import { measureErrors } from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { Theme } from "../../shared/drawing/theme.ts";
import { codeOf } from "../data/counts.ts";

/** Fill of an error code; 0 is a trial that was measured. */
export function errorFill({ dark }: Theme, code: number): string {
  const fills: Record<string, string> = measureErrors[dark ? "dark" : "light"];
  return fills[code] ?? fills.other!;
}

export function slotFill(theme: Theme, slot: number): string {
  return errorFill(theme, codeOf(slot));
}

/** Color of what a loop of a nest is bound to, by the word TVM prints. */
export function annotationColor({ dark }: Theme, word: string): string {
  const [light, onDark] = ANNOTATIONS[word.split(".")[0]!] ?? ["", ""];
  return dark ? onDark : light;
}

const ANNOTATIONS: Record<string, readonly [light: string, dark: string]> = {
  parallel: ["#0b5fd0", "#6cb0ff"],
  vectorize: ["#1b7f3b", "#7cc48b"],
  unroll: ["#8a5300", "#e8b04b"],
  blockIdx: ["#7d4cae", "#c7a4ec"],
  threadIdx: ["#a81f6b", "#f08cc0"],
  vthread: ["#0f6f78", "#5cc4cd"],
  tensorize: ["#b3261e", "#ff8a80"],
};
