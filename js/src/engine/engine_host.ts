/** Questions of a figure to the Python that draws it, one figure at a time; `converse` of `tvmdbg_widgets/engine.py` answers. */
import type { Host } from "../shared/client/client.ts";
import type { Answer } from "../shared/client/request.ts";

interface Pending {
  resolve: (answer: Answer<unknown>) => void;
  reject: (error: Error) => void;
}

let asked: object[] = [];
const pending = new Map<number, Pending>();
let serial = 0;
let outcome: { done: unknown } | { error: unknown } | null = null;

export const engineHost: Host = {
  ask: (kind, question) =>
    new Promise((resolve, reject) => {
      serial += 1;
      pending.set(serial, { resolve, reject });
      asked.push({ id: serial, question: { kind, ...question } });
    }),
};

/** Begins a figure; gives its first questions, or the figure. */
export function begin(make: () => unknown): string {
  asked = [];
  pending.clear();
  outcome = null;
  const made = make();
  if (made instanceof Promise) {
    made.then(
      (done) => {
        outcome = { done };
      },
      (error) => {
        outcome = { error };
      },
    );
  } else outcome = { done: made };
  return goOn();
}

/** Hands over an answer: JSON, and the buffer in base64. */
export function tell(id: number, result: string, buffer: string): void {
  taken(id).resolve({ result: JSON.parse(result), buffers: buffer ? [bytesOf(buffer)] : [] });
}

export function fail(id: number, why: string): void {
  taken(id).reject(new Error(why));
}

/** The next questions, or the figure. */
export function goOn(): string {
  if (!outcome) return JSON.stringify({ asked: asked.splice(0) });
  if ("error" in outcome) throw outcome.error;
  return JSON.stringify(outcome);
}

function taken(id: number): Pending {
  const found = pending.get(id);
  if (!found) throw new Error(`question ${id} was not asked`);
  pending.delete(id);
  return found;
}

/** Bytes from base64. */
export function bytesOf(base64: string): DataView {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array };
  const bytes = fromBase64
    ? fromBase64.call(Uint8Array, base64)
    : Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return new DataView(bytes.buffer);
}
