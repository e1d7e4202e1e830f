/** The parts of a number's bits, the sign first. */
const FIELD_NAMES = ["sign", "exponent", "mantissa"] as const;
export type FieldName = (typeof FIELD_NAMES)[number];

/** The bits of a float by part; of anything else in one piece without a name. */
export function bitFields(
  text: string,
  fields: readonly number[],
): { name: FieldName | null; bits: string }[] {
  if (fields.length !== 3 || fields[0]! + fields[1]! + fields[2]! !== text.length) {
    return [{ name: null, bits: text }];
  }
  let at = 0;
  return FIELD_NAMES.map((name, part) => {
    const bits = text.slice(at, at + fields[part]!);
    at += fields[part]!;
    return { name, bits };
  }).filter(({ bits }) => bits);
}
