import type { ColumnsReply } from "../../shared/client/answers.ts";
import type { ErrorTableInfo, TuningInfo } from "./data.ts";
import type { ScheduleChange, ScheduleInfo } from "./schedule.ts";
import type { TilesInfo } from "./tiles.ts";

/** What a tuning log answers to each kind of question, as it travels; see `RunAnswers`. */
export interface TuningAnswers {
  /** In the first buffer. */
  code: null;
  tuning: ColumnsReply<TuningInfo>;
  schedule: ScheduleInfo;
  change: ScheduleChange;
  tiles: ColumnsReply<TilesInfo>;
  errors: ErrorTableInfo;
  select: ColumnsReply<{ caption: string }>;
}
