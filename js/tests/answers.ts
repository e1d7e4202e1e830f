import type { ComparisonAnswers } from "../src/comparison/data.ts";
import type { ByteMapReply } from "../src/engine/byte_map.ts";
import type { SequenceReply } from "../src/engine/sequence_layout.ts";
import type { StructReply } from "../src/engine/struct_grid.ts";
import type { RunAnswers } from "../src/shared/client/answers.ts";
import type { TuningAnswers } from "../src/tuning/client.ts";

/** Whom views ask, and what each answers; `tests/answer_schema.py` holds Python to it. */
export interface Answers {
  run: RunAnswers;
  tuning: TuningAnswers;
  comparison: ComparisonAnswers;
  /** Of figures without a live view; their bytes travel beside. */
  figure: {
    struct: Omit<StructReply, "bytes">;
    bytes: Omit<ByteMapReply, "bytes">;
    sequence: SequenceReply;
  };
}
