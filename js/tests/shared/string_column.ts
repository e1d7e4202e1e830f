import { StringColumn } from "../../src/shared/client/columns.ts";

/** The strings as the kernel sends them. */
export function stringColumn(values: readonly string[]): StringColumn {
  const index = new Map<string, number>();
  const codes = Int32Array.from(values, (value) => {
    const known = index.get(value);
    if (known !== undefined) return known;
    index.set(value, index.size);
    return index.size - 1;
  });
  return new StringColumn(codes, [...index.keys()]);
}
