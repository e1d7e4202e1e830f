import code from "worker:../graph/placed/layout.worker.ts";
import { startLayoutBy } from "../graph/placed/layout_shared.ts";
import { runInline } from "./inline.ts";
import type { Answers } from "./stored/stored.ts";

/** Carries the code that lays graphs out, also where the page may start neither workers nor scripts from Blobs. */
export function layoutAnswers(): Answers {
  startLayoutBy(runInline);
  return { code: () => ({ result: code, buffers: [] }) };
}
