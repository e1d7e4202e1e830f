const STATUS = "tvmdbg-status";

/** Says one thing to the reader of the page, in its one line for that; an empty text takes it away. */
export function say(text: string, kind: "note" | "error" = "note"): void {
  const line = document.getElementById(STATUS);
  if (!line) return;
  line.hidden = text === "";
  line.classList.toggle("tvmdbg-page-error", kind === "error");
  line.textContent = text;
}

export const INCOMPLETE =
  "The interactive views cannot start: this file is damaged or was cut off. " +
  "Copy or download it again; the figure and the text below are complete where they can be seen.";
