import { errorText } from "../shared/client/request.ts";

/** Runs a script in this page, whose policy names its hash. */
export function runInline(text: string): void {
  const script = document.createElement("script");
  script.textContent = text;
  document.body.append(script);
}

class DamagedData extends Error {}

/** Data of the page: base64 of gzip in a script element of no executable type; gzip notices any damage. */
export async function unpacked(id: string): Promise<ArrayBuffer> {
  if (!("DecompressionStream" in globalThis)) throw new Error("this browser is too old for them");
  try {
    const text = document.getElementById(id)?.textContent ?? "";
    const stream = new Blob([fromBase64(text.trim())]).stream();
    return await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  } catch (error) {
    throw new DamagedData(`what ${id} holds cannot be unpacked`, { cause: error });
  }
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

const STATUS = "tvmdbg-status";

/** Shows a message in the page's status line; an empty text clears it. */
export function say(text: string, kind: "note" | "error" = "note"): void {
  const line = document.getElementById(STATUS);
  if (!line) return;
  line.hidden = text === "";
  line.classList.toggle("tvmdbg-page-error", kind === "error");
  line.textContent = text;
}

export function sayFailed(error: unknown): void {
  const why =
    error instanceof DamagedData
      ? "this file is damaged or is truncated; copy or download it again"
      : errorText(error);
  say(`The interactive views cannot start: ${why}. The figure and its text are below.`, "error");
}
