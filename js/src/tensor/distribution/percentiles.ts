import { isAbort } from "../../shared/client/request.ts";
import type { TensorQuestions } from "../../shared/client/tensor_client.ts";
import type { Entry, Percentile, StatisticsAnswer } from "../../shared/client/tensor_questions.ts";
import { shortText } from "../../shared/number_text.ts";

const DIGITS = 5;
export const PERCENTS = [1, 5, 25, 50, 75, 95, 99];

export function isExact({ low, high }: Percentile): boolean {
  return low.value === high.value;
}

/** `p1`, `median`. */
export function percentName(percent: number): string {
  return percent === 50 ? "median" : `p${percent}`;
}

/** A percentile as far as it is known: exact, or between two numbers; `≈` of a sample. */
export function percentText(percentile: Percentile, sampled = false): string {
  const { low, high } = percentile;
  if (isExact(percentile)) return sampled ? about(low.value) : low.text;
  if (sampled && low.value !== null && high.value !== null) {
    return about(low.value / 2 + high.value / 2);
  }
  if (low.value === null || high.value === null) return `${low.text} … ${high.text}`;
  return `${outward(low.value, -1)} … ${outward(high.value, 1)}`;
}

function about(value: number | null): string {
  return value === null ? "none" : `≈ ${shortText(value)}`;
}

/** Five digits of a bound, rounded to the outside, so that what lies inside still does. */
export function outward(value: number, side: 1 | -1): string {
  if (Number(value.toPrecision(DIGITS)) === value) return String(value);
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - DIGITS + 1);
  const away = side > 0 ? Math.ceil(value / step) : Math.floor(value / step);
  let text = (away * step).toPrecision(DIGITS);
  const inside = () => (side > 0 ? Number(text) < value : Number(text) > value);
  for (let more = 1; inside() && more < 3; more += 1) {
    text = ((away + side * more) * step).toPrecision(DIGITS);
  }
  // Neither the least nor the largest float64 have one of five digits beside them.
  return String(inside() || !Number.isFinite(Number(text)) ? value : Number(text));
}

/** The percentiles of a tensor, made exact on demand. */
export class Percentiles {
  readonly #run: TensorQuestions;
  readonly #changed: () => void;
  readonly #signal: AbortSignal;
  #of = "";
  #exact: Percentile[] | null = null;
  #question: { entry: Entry; reading: string | null } | null = null;
  #asking: AbortController | null = null;
  failure: unknown = null;

  constructor(run: TensorQuestions, changed: () => void, signal: AbortSignal) {
    this.#run = run;
    this.#changed = changed;
    this.#signal = signal;
  }

  get busy(): boolean {
    return this.#asking !== null;
  }

  /** Turns to a tensor under a reading; what was asked about another is let go. */
  over(entry: Entry, reading: string | null): void {
    const of = `${entry.join()} ${reading}`;
    if (of === this.#of) return;
    this.#of = of;
    this.#question = { entry, reading };
    this.#exact = null;
    this.failure = null;
    this.#asking?.abort();
    this.#asking = null;
  }

  /** The best that is known. */
  best(known: StatisticsAnswer): Percentile[] {
    return this.#exact ?? known.percentiles;
  }

  /** What was asked for is not wanted any more. */
  stop(): void {
    this.#asking?.abort();
  }

  async refine(percents: readonly number[]): Promise<void> {
    if (!this.#question || this.#asking) return;
    const asking = new AbortController();
    this.#asking = asking;
    this.failure = null;
    this.#changed();
    const signal = AbortSignal.any([asking.signal, this.#signal]);
    try {
      const found = await this.#run.percentiles({ ...this.#question, percents }, signal);
      if (this.#asking === asking) this.#exact = found;
    } catch (error) {
      if (this.#asking === asking && !isAbort(error)) this.failure = error;
    } finally {
      if (this.#asking === asking) {
        this.#asking = null;
        this.#changed();
      }
    }
  }
}
