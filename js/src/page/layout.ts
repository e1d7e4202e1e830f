import code from "worker:../graph/layout/layout.worker.ts";
import { startLayoutBy } from "../graph/layout/wrapping.ts";
import { runInline } from "./status.ts";
import type { StoredAnswers } from "./stored_data.ts";

/** Source of the layout, for pages that may start neither workers nor scripts from Blobs. */
export function layoutAnswers(): StoredAnswers {
  startLayoutBy(runInline);
  return { code: () => ({ result: code, buffers: [] }) };
}
