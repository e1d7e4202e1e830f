import { ofBytes } from "../shared/many.ts";

/** UTF-8 to text, which QuickJS cannot by itself; the bytes come from our own Python and are well-formed. */
class Utf8Decoder {
  decode(bytes: Uint8Array): string {
    const text = ofBytes(bytes);
    return /[\x80-\xff]/.test(text) ? decodeURIComponent(escape(text)) : text;
  }
}

globalThis.TextDecoder ??= Utf8Decoder as unknown as typeof TextDecoder;
