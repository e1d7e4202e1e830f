/** What a query can ask of a node; tvmdbg_widgets/analysis/query/fields.py names the same. */
export const TEXTS = ["name", "op", "func", "kind", "dtype", "device", "layout", "group"];
export const NUMBERS = [
  ...["id", "time", "share", "bytes", "storage", "rank"],
  ...["inputs", "outputs", "consumers", "depth"],
];
export const FIELDS = [...TEXTS, "shape", ...NUMBERS, "attr."];

/** Factor of each unit, by field; units of bytes in lower case. */
export const UNITS: Record<string, Record<string, number>> = {
  time: { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9 },
  share: { "%": 0.01 },
  bytes: {
    ...{ b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 },
    ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
  },
};

export const UNITS_TOLD: Record<string, string> = {
  time: "ns, us, ms or s",
  share: "%",
  bytes: "B, KB, KiB, MB, MiB, GB or GiB",
};

/** The fields that a misspelt name may mean, at most three. */
export function closeFields(word: string): string[] {
  const found = FIELDS.map((field) => [distance(word, field.replace(".", "")), field] as const);
  const nearest = Math.min(...found.map(([each]) => each));
  if (nearest > Math.min(2, word.length - 1)) return [];
  return found
    .filter(([each]) => each === nearest)
    .map(([, field]) => field)
    .slice(0, 3);
}

/** Edits from one word to the other; two letters changed for each other are one edit. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const [row, above] = [[i], rows[i - 1]!];
    for (let j = 1; j <= b.length; j++) {
      const other = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + other);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, rows[i - 2]![j - 2]! + 1);
      }
      row.push(cost);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
