import { button, element } from "../ui/dom.ts";
import { KernelGone } from "./request.ts";

/** What a view shows instead of data: why there is none, and what to try. */
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

/** The text of anything thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What went wrong, and what to try where the error does not say so itself. */
export function hinted(error: unknown, hint: string): string {
  return error instanceof KernelGone ? error.message : `${errorText(error)}\n${hint}`;
}

/** A button that asks once more, where that can help. */
export function retry(error: unknown, title: string, again: () => void): HTMLElement | null {
  return error instanceof KernelGone ? null : button("retry", title, again);
}
