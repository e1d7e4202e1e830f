import type { ComparisonAnswers } from "../src/comparison/data.ts";
import type { RunAnswers } from "../src/shared/client/answers.ts";
import type { TuningAnswers } from "../src/tuning/client.ts";

/** Whom views ask, and what each answers; `tests/answer_schema.py` holds Python to it. */
export interface Answers {
  run: RunAnswers;
  tuning: TuningAnswers;
  comparison: ComparisonAnswers;
}
