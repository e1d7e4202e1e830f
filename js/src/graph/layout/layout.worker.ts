import type { LayoutResult } from "./types.ts";
import { type LayoutRequest, laidOut, shareLayout } from "./wrapping.ts";

export type WorkerMessage =
  | { kind: "ready" }
  | { kind: "progress"; phase: string; fraction: number }
  | { kind: "done"; result: LayoutResult }
  | { kind: "failed"; message: string };

interface Scope {
  postMessage(message: WorkerMessage, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<LayoutRequest>) => void) | null;
}

const REPORT = 50;

function buffers(result: LayoutResult): Transferable[] {
  const { routes, frames, columns } = result;
  const arrays = [result, routes, frames, columns].flatMap((part) => Object.values(part));
  return arrays.filter((value) => ArrayBuffer.isView(value)).map((view) => view.buffer);
}

const scope = globalThis as unknown as Scope;

/** A page without workers imports this module to get the layout. */
if ("document" in globalThis) shareLayout(laidOut);
else {
  scope.onmessage = ({ data }) => answer(data);
  scope.postMessage({ kind: "ready" });
}

function answer(data: LayoutRequest): void {
  try {
    const steps = laidOut(data);
    let reported = performance.now();
    let step = steps.next();
    while (!step.done) {
      if (performance.now() - reported > REPORT) {
        reported = performance.now();
        scope.postMessage({ kind: "progress", ...step.value });
      }
      step = steps.next();
    }
    scope.postMessage({ kind: "done", result: step.value }, buffers(step.value));
  } catch (error) {
    scope.postMessage({ kind: "failed", message: String(error) });
  }
}
