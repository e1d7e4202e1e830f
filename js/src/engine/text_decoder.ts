/** UTF-8 to text, which QuickJS cannot by itself; the bytes come from our own Python and are well-formed. */
class Utf8Decoder {
  decode(bytes: Uint8Array): string {
    const parts: string[] = [];
    const units: number[] = [];
    for (let at = 0; at < bytes.length; ) {
      const first = bytes[at++]!;
      const more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
      let point = more ? first & (0x3f >> more) : first;
      for (let left = more; left > 0; left--) point = (point << 6) | (bytes[at++]! & 0x3f);
      units.push(point);
      if (units.length === CHUNK) parts.push(String.fromCodePoint(...units.splice(0)));
    }
    return parts.join("") + String.fromCodePoint(...units);
  }
}

/** Arguments of one call. */
const CHUNK = 4096;

globalThis.TextDecoder ??= Utf8Decoder as unknown as typeof TextDecoder;
