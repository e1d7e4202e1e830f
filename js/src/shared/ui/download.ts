import { element } from "./dom.ts";

const KEPT_MS = 60_000;

/** Why this page may not save files; empty where it may, as far as it can know. */
export function downloadProblem(): string {
  const opaque = origin === "null" && location.protocol !== "file:";
  return opaque && self !== top ? "This page is sandboxed and may not save files." : "";
}

/** Hands a file to the browser by a link to it. */
export function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = element("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** A name that every file system takes. */
export function fileName(parts: readonly string[], ending: string): string {
  const name = parts
    .map((part) => part.replace(/[^\w.-]+/g, "_").replace(/^[_.]+|_+$/g, ""))
    .filter(Boolean)
    .join("_");
  return `${name.slice(0, 100) || "tvmdbg"}.${ending}`;
}
