/** UTF-8 to text, which QuickJS cannot by itself; the bytes come from our own Python and are well-formed. */
class Utf8Decoder {
  decode(bytes: Uint8Array): string {
    const parts: string[] = [];
    for (let at = 0; at < bytes.length; at += CHUNK) {
      parts.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
    }
    const text = parts.join("");
    return /[\x80-\xff]/.test(text) ? decodeURIComponent(escape(text)) : text;
  }
}

/** Arguments of one call. */
const CHUNK = 4096;

globalThis.TextDecoder ??= Utf8Decoder as unknown as typeof TextDecoder;
