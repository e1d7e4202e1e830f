/** What the page carries as base64 of gzip in a script element of no executable type; gzip notices any damage. */
export async function unpacked(id: string): Promise<Response> {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error("The file ends before its data.");
  const bytes = fromBase64(text.trim());
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
