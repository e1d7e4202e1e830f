import type { AnyModel } from "@anywidget/types";

export type { AnyModel };

export interface Answer<T> {
  result: T;
  buffers: DataView[];
}

/** Error after which no question can be asked; Jupyter's own message after a restart is "Cannot send". */
export class KernelGone extends Error {
  constructor(cause?: unknown) {
    const what = "The kernel no longer knows this view: it was restarted or stopped.";
    super(`${what} Run the cell again.`, { cause });
  }
}

let serial = 0;

function newId(kind: string): string {
  return `${kind}:${++serial}:${Math.random().toString(36).slice(2)}`;
}

/** Sends the kernel a message that needs no answer; ignores a dead kernel. */
export function tell(model: AnyModel, kind: string, payload: object): void {
  try {
    model.send({ id: newId(kind), kind, ...payload });
  } catch {
    // The kernel has nothing left to do.
  }
}

/**
 * Asks the kernel one question over custom messages and waits for its answer.
 *
 * Custom messages rather than anywidget's `invoke`: marimo rejects that one, and it gives up after 3 s.
 */
export function request<T>(
  model: AnyModel,
  kind: string,
  payload: object,
  signal: AbortSignal,
): Promise<Answer<T>> {
  const id = newId(kind);
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      model.off("msg:custom", onReply);
      signal.removeEventListener("abort", onAbort);
      finish();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    const onReply = (
      reply: { id?: string; error?: string; result?: unknown },
      buffers: DataView[] = [],
    ) => {
      if (reply?.id !== id) return;
      settle(() =>
        reply.error === undefined
          ? resolve({ result: reply.result as T, buffers })
          : reject(new Error(reply.error)),
      );
    };
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    signal.addEventListener("abort", onAbort);
    model.on("msg:custom", onReply);
    try {
      model.send({ id, kind, ...payload });
    } catch (cause) {
      settle(() => reject(new KernelGone(cause)));
    }
  });
}

export class NewestWins {
  #running: Promise<unknown> | null = null;
  #waiting: (() => void) | null = null;

  async ask<T>(question: () => Promise<T>): Promise<T> {
    this.#waiting?.();
    if (this.#running) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting = () => reject(new DOMException("a newer request was made", "AbortError"));
        this.#running?.finally(resolve).catch(() => {});
      });
      this.#waiting = null;
    }
    const running = question();
    this.#running = running;
    try {
      return await running;
    } finally {
      if (this.#running === running) this.#running = null;
    }
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
