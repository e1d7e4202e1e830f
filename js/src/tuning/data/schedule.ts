/** One schedule, as `widgets/tuning.py` tells it. */
export interface NestLineInfo {
  kind: "placeholders" | "attribute" | "loop" | "compute" | "note";
  /** Loops around it. */
  depth: number;
  /** As `print(state)` shows it. */
  text: string;
  /** What a loop is bound to: `for`, `parallel`, `blockIdx.x`; empty for other lines. */
  word: string;
  /** The split factor, where the extent itself is unknown. */
  factor: number | null;
  /** Every step that had a hand in it. */
  steps: number[];
  /** What each buffer is touched inside: `A: 64 elements`. */
  touches: string[];
}

export interface StepInfo {
  code: string;
  text: string;
}

export interface TileInfo {
  stage: string;
  axis: string;
  extent: number | null;
  /** From the outermost; null where unknown. */
  factors: (number | null)[];
  words: string[];
}

export interface ScheduleInfo {
  trial: number;
  title: string;
  /** Cost of each run, error, build and run seconds, version, place in the file. */
  facts: [name: string, value: string][];
  lines: NestLineInfo[];
  steps: StepInfo[];
  tiles: TileInfo[];
  /** How the loops are known, what is assumed, and what TVM would refuse. */
  notes: string[];
  python: string;
}

/** Two schedules: rows of steps and of loops side by side. */
export interface ScheduleChange {
  titles: [string, string];
  steps: ChangeRow[];
  lines: ChangeRow[];
}

export interface ChangeRow {
  change: "same" | "changed" | "only A" | "only B";
  a: string;
  b: string;
}

/** The number that stands behind a line whose extent is unknown. */
export function factorText({ factor, text }: NestLineInfo): string {
  return factor !== null && text.endsWith("(None)") ? ` factor ${factor}` : "";
}

/** What a loop's inside touches, where that is another than one line above. */
export function newTouches(lines: readonly NestLineInfo[], at: number): string {
  const text = lines[at]!.touches.join(" · ");
  return text === lines[at - 1]?.touches.join(" · ") ? "" : text;
}

/** A loop's word, and the rest of its line. */
export function lineParts({ word, text }: NestLineInfo): [word: string, rest: string] {
  return word && text.startsWith(word) ? [word, text.slice(word.length)] : ["", text];
}
