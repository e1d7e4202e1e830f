import { errorText } from "../shared/client/message.ts";
import { Damaged } from "./packed.ts";

const STATUS = "tvmdbg-status";

/** Says one thing to the reader of the page, in its one line for that; an empty text takes it away. */
export function say(text: string, kind: "note" | "error" = "note"): void {
  const line = document.getElementById(STATUS);
  if (!line) return;
  line.hidden = text === "";
  line.classList.toggle("tvmdbg-page-error", kind === "error");
  line.textContent = text;
}

/** Says why the views are not there. */
export function sayFailed(error: unknown): void {
  const why =
    error instanceof Damaged
      ? "this file is damaged or is truncated; copy or download it again"
      : errorText(error);
  say(`The interactive views cannot start: ${why}. The figure and its text are below.`, "error");
}
