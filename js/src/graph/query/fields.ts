import { smallest } from "../../shared/many.ts";
/** Units of a field of numbers. */
export interface Units {
  /** By unit; in lower case where upper and lower case are the same. */
  factors: Readonly<Record<string, number>>;
  /** As an error names them. */
  told: string;
  /** Whether a number other than 0 must have one. */
  needed: boolean;
  anyCase: boolean;
}

/** What queries can ask of one kind of thing; tvmdbg_widgets/analysis/query.py has those of other things. */
export interface Vocabulary {
  /** Fields; one that is both is a number where a whole number follows, else a text. */
  texts: readonly string[];
  numbers: readonly string[];
  /** All, as an error names them; "shape" where there are shapes, "attr." before names of attributes. */
  fields: readonly string[];
  units: Readonly<Record<string, Units>>;
  /** Whether -> and ->> join terms. */
  paths: boolean;
}

const TEXTS = ["name", "op", "func", "kind", "dtype", "device", "layout", "group"];
export const NUMBERS = [
  ...["id", "time", "share", "bytes", "storage", "rank"],
  ...["inputs", "outputs", "consumers", "depth"],
];
export const FIELDS = [...TEXTS, "shape", ...NUMBERS, "attr."];

/** Of the nodes of a graph: times in nanoseconds, shares of 1. */
export const GRAPH: Vocabulary = {
  texts: TEXTS,
  numbers: NUMBERS,
  fields: FIELDS,
  units: {
    time: {
      factors: { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9 },
      told: "ns, us, ms or s",
      needed: true,
      anyCase: false,
    },
    share: { factors: { "%": 0.01 }, told: "%", needed: true, anyCase: false },
    bytes: {
      factors: {
        ...{ b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 },
        ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
      },
      told: "B, KB, KiB, MB, MiB, GB or GiB",
      needed: false,
      anyCase: true,
    },
  },
  paths: true,
};

/** The fields that a misspelt name may mean, at most three. */
export function closeFields(word: string, fields: readonly string[], most = 2): string[] {
  const found = fields.map((field) => [distance(word, field.replace(".", "")), field] as const);
  const nearest = smallest(found.map(([each]) => each));
  if (nearest > Math.min(most, word.length - 1)) return [];
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
