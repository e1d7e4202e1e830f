import { element } from "./dom.ts";

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
