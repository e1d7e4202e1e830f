import type { Client } from "../../shared/client/client.ts";
import { unzipped } from "../../shared/client/page_model.ts";
import { inStretches } from "../../shared/many.ts";
import type { WorkerMessage } from "./layout.worker.ts";
import type { LayoutProgress, LayoutResult } from "./types.ts";
import { borrowedLayout, type LayoutRequest } from "./wrapping.ts";

/** Source of the layout worker. */
export function layoutCode(client: Client): Promise<string> {
  return client.once("layout", async () => {
    const code = await client.ask("code", { view: "layout" });
    return typeof code === "string" ? code : await unzipped(code.bytes);
  });
}

interface LayoutRun {
  signal?: AbortSignal;
  onProgress?: (progress: LayoutProgress) => void;
}

/** Milliseconds a worker may take to report that it is ready. */
const PATIENCE = 2000;
const SMALL = 400;

/** Lays a graph out in a worker, or in slices on the main thread if workers do not start. */
export async function layoutGraph(
  input: LayoutRequest,
  code: string,
  run: LayoutRun = {},
): Promise<LayoutResult> {
  run.signal?.throwIfAborted();
  if (input.count + input.source.length >= SMALL) {
    const result = await layoutInWorker(input, code, run);
    if (result) return result;
  }
  return layoutInSlices(input, code, run);
}

/** Runs the worker's layout on the main thread, with a pause every few milliseconds. */
export async function layoutInSlices(
  input: LayoutRequest,
  code: string,
  { signal, onProgress }: LayoutRun = {},
): Promise<LayoutResult> {
  const laidOut = await borrowedLayout(code);
  return await inStretches(laidOut(input), signal, onProgress);
}

function startWorker(code: string): { worker: Worker; release: () => void } | undefined {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    const worker = new Worker(url);
    const release = () => {
      worker.terminate();
      URL.revokeObjectURL(url);
    };
    return { worker, release };
  } catch {
    URL.revokeObjectURL(url);
    return undefined;
  }
}

/** Undefined if no worker starts. */
function layoutInWorker(
  input: LayoutRequest,
  code: string,
  { signal, onProgress }: LayoutRun,
): Promise<LayoutResult | undefined> {
  return new Promise((resolve, reject) => {
    const started = startWorker(code);
    if (!started) {
      resolve(undefined);
      return;
    }
    const { worker, release } = started;
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      release();
      finish();
    };
    const giveUp = () => settle(() => resolve(undefined));
    const timer = setTimeout(giveUp, PATIENCE);
    const onAbort = () => settle(() => reject(signal?.reason));
    signal?.addEventListener("abort", onAbort);
    worker.onerror = (event) => {
      event.preventDefault();
      giveUp();
    };
    worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
      if (data.kind === "ready") {
        clearTimeout(timer);
        worker.postMessage(input);
      } else if (data.kind === "progress") {
        onProgress?.({ phase: data.phase, fraction: data.fraction });
      } else if (data.kind === "done") {
        settle(() => resolve(data.result));
      } else {
        settle(() => reject(new RangeError(data.message)));
      }
    };
  });
}
