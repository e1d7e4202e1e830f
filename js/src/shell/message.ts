import { errorText, isAbort, KernelGone } from "../shared/client/request.ts";
import { button, element } from "./dom.ts";

/** Message in place of data: the reason, and what to try. */
export function message(kind: "empty" | "error" | "busy", title: string, detail = ""): HTMLElement {
  return element(
    "div",
    {
      class: `tvmdbg-message tvmdbg-message-${kind}`,
      role: kind === "error" ? "alert" : undefined,
    },
    element("strong", {}, title),
    detail ? element("p", {}, detail) : null,
  );
}

type Say = (kind: "empty" | "error" | "busy", title: string, detail?: string) => void;

const BUSY_AFTER_MS = 150;

/** Reads the data of a view and shows them in `root`, or meanwhile and otherwise a message. */
export async function loading<T>(
  root: HTMLElement,
  noun: string,
  signal: AbortSignal,
  read: () => Promise<T>,
  show: (data: T, say: Say) => unknown,
): Promise<void> {
  const say: Say = (kind, title, detail) => {
    root.replaceChildren(message(kind, title, detail));
    if (kind !== "busy") root.dataset.ready = "true";
  };
  const busy = setTimeout(() => say("busy", `Reading the ${noun} …`), BUSY_AFTER_MS);
  signal.addEventListener("abort", () => clearTimeout(busy));
  try {
    const data = await read();
    clearTimeout(busy);
    if (!signal.aborted) await show(data, say);
  } catch (error) {
    clearTimeout(busy);
    if (signal.aborted || isAbort(error)) return;
    const hint =
      "Run the cell again; if the kernel was restarted, run the notebook again from the top.";
    say("error", `The ${noun} could not be read`, hinted(error, hint));
  }
}

export function hinted(error: unknown, hint: string): string {
  return error instanceof KernelGone ? error.message : `${errorText(error)}\n${hint}`;
}

export function retry(error: unknown, title: string, again: () => void): HTMLElement | null {
  return error instanceof KernelGone ? null : button("retry", title, again);
}
