import type { Answer } from "../shared/client/request.ts";
import type { RunClient } from "../shared/client/run_client.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import type { ViewOptions } from "../shared/ui/view_options.ts";
import type { Info } from "./data.ts";
import type { ComparisonOptions } from "./options.ts";

/** What a comparison is given: two runs, each with a session of its own. */
export interface ComparisonContext {
  ask: () => Promise<Answer<{ columns: never; info: Info }>>;
  runs: readonly [a: RunClient, b: RunClient];
  sessions: readonly [a: SessionClient, b: SessionClient];
  options: ViewOptions<ComparisonOptions>;
  signal: AbortSignal;
}
