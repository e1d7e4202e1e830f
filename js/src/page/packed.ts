/** The file is not as it was written. */
export class Damaged extends Error {}

/** What the page carries as base64 of gzip in a script element of no executable type; gzip notices any damage. */
export async function unpacked(id: string): Promise<ArrayBuffer> {
  if (!("DecompressionStream" in globalThis)) throw new Error("this browser is too old for them");
  try {
    const text = document.getElementById(id)?.textContent ?? "";
    const stream = new Blob([fromBase64(text.trim())]).stream();
    const plain = stream.pipeThrough(new DecompressionStream("gzip"));
    return await new Response(plain).arrayBuffer();
  } catch (error) {
    throw new Damaged(`what ${id} holds cannot be unpacked`, { cause: error });
  }
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
