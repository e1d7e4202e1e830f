/** What XML 1.0 does not allow, and controls that turn the direction of the text around them. */
const ILLEGAL =
  /[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef]/gu;
/** Words of Hebrew, Arabic and their kin, with what stands between them. */
const LEFTWARDS =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}](?:[^A-Za-z0-9&]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])*/gu;
const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The text in one line, with U+FFFD for what may not stand in XML. */
export function clean(text: string): string {
  return text.replace(ILLEGAL, "\ufffd").replace(/[\t\n\r]+/g, " ");
}

/**
 * The text as it stands in an element or an attribute of an SVG.
 *
 * A mark after words that run from right to left keeps numbers behind them in their place.
 */
export function escaped(text: string): string {
  const safe = clean(text).replace(/[&<>"']/g, (each) => ENTITIES[each]!);
  return safe.replace(LEFTWARDS, "$&\u200e");
}
