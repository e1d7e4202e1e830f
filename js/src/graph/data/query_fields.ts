/** Indexes of a graph for queries, made on first use. */

import {
  type FactColumns,
  type GraphColumns,
  NODE_KINDS,
  NodeKind,
} from "../../shared/client/answers.ts";
import { StringColumn } from "../../shared/client/columns.ts";
import { smallest } from "../../shared/many.ts";
import type { Links } from "./links.ts";

export interface Units {
  factors: Readonly<Record<string, number>>;
  hint: string;
  needed: boolean;
  anyCase: boolean;
}

/** Fields of queries about one kind of object; tvmdbg_widgets/analysis/query.py has those of other objects. */
export interface Vocabulary {
  texts: readonly string[];
  numbers: readonly string[];
  fields: readonly string[];
  units: Readonly<Record<string, Units>>;
  paths: boolean;
}

const TEXTS = ["name", "op", "func", "kind", "dtype", "device", "layout", "group"];
const NUMBERS = [
  ...["id", "time", "share", "bytes", "storage", "rank"],
  ...["inputs", "outputs", "consumers", "depth"],
];
const FIELDS = [...TEXTS, "shape", ...NUMBERS, "attr."];

/** Fields of nodes: times in nanoseconds, shares of 1. */
export const GRAPH: Vocabulary = {
  texts: TEXTS,
  numbers: NUMBERS,
  fields: FIELDS,
  units: {
    time: {
      factors: { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9 },
      hint: "ns, us, ms or s",
      needed: true,
      anyCase: false,
    },
    share: { factors: { "%": 0.01 }, hint: "%", needed: true, anyCase: false },
    bytes: {
      factors: {
        ...{ b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 },
        ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
      },
      hint: "B, KB, KiB, MB, MiB, GB or GiB",
      needed: false,
      anyCase: true,
    },
  },
  paths: true,
};

/** Up to three fields similar to a misspelt name. */
export function closeFields(word: string, fields: readonly string[], most = 2): string[] {
  const distances = fields.map((field) => [distance(word, field.replace(".", "")), field] as const);
  const nearest = smallest(distances.map(([edits]) => edits));
  if (nearest > Math.min(most, word.length - 1)) return [];
  return distances
    .filter(([edits]) => edits === nearest)
    .map(([, field]) => field)
    .slice(0, 3);
}

/** Edit distance of two words; swapping two letters counts once. */
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

export const STRIDE = 4096;

type FactSteps<T> = Generator<void, T>;
type NumberList = ArrayLike<number>;

export class Facts {
  readonly graph: GraphColumns;
  /** Attributes, layouts and sizes; null if not requested. */
  more: FactColumns | null = null;
  readonly #lowered = new WeakMap<readonly string[], string[]>();
  readonly #numbers = new Map<string, NumberList>();
  #shapes: { codes: Int32Array; texts: string[] } | null = null;

  constructor(readonly links: Links) {
    this.graph = links.graph;
  }

  lowered({ unique }: StringColumn): string[] {
    let texts = this.#lowered.get(unique);
    if (!texts) {
      texts = new Array(unique.length);
      this.#lowered.set(unique, texts);
    }
    return texts;
  }

  column(field: string): StringColumn {
    const { graph } = this;
    if (field === "name") return graph.names;
    if (field === "func") return graph.funcNames;
    if (field === "dtype") return graph.dtypes;
    if (field === "layout") return this.more!.layouts;
    const known = graph.info?.devices ?? {};
    const types = [...new Set(graph.deviceTypes)];
    const codeOf = new Map(types.map((type, code) => [type, code]));
    const codes = new Int32Array(graph.shapeKnown.length).fill(-1);
    graph.deviceTypes.forEach((type, row) => {
      codes[row] = codeOf.get(type)!;
    });
    return new StringColumn(
      codes,
      types.map((type) => (type < 0 ? "" : (known[type] ?? ""))),
    );
  }

  *shapes(): FactSteps<{ codes: Int32Array; texts: string[] }> {
    if (this.#shapes) return this.#shapes;
    const { shapeOffsets, shapeDims, shapeKnown } = this.graph;
    const codeOf = new Map<string, number>();
    const codes = new Int32Array(shapeKnown.length);
    for (let entry = 0; entry < codes.length; entry++) {
      if (entry % STRIDE === 0) yield;
      const text = shapeDims.subarray(shapeOffsets[entry]!, shapeOffsets[entry + 1]!).join();
      let code = codeOf.get(text);
      if (code === undefined) {
        code = codeOf.size;
        codeOf.set(text, code);
      }
      codes[entry] = code;
    }
    this.#shapes = { codes, texts: [...codeOf.keys()] };
    return this.#shapes;
  }

  kinds(fits: (text: string) => boolean): Uint8Array {
    const { kinds, roles } = this.graph;
    const good = NODE_KINDS.map(fits);
    const given = roles.unique.map((role) => role !== "" && fits(role));
    return kinds.map((kind, node) =>
      (kind > NodeKind.PARAMETER ? good[kind] : given[roles.codes[node]!]) ? 1 : 0,
    );
  }

  numbers(field: string): NumberList {
    let numbers = this.#numbers.get(field);
    if (!numbers) {
      numbers = this.#counted(field);
      this.#numbers.set(field, numbers);
    }
    return numbers;
  }

  #counted(field: string): NumberList {
    const { kinds, nodeNs, entryOffsets, shapeOffsets, shapeKnown, storageIds } = this.graph;
    const of = ({ length }: ArrayLike<unknown>, valueAt: (row: number) => number) => {
      const numbers = new Float64Array(length);
      for (let row = 0; row < length; row++) numbers[row] = valueAt(row);
      return numbers;
    };
    switch (field) {
      case "time":
        return nodeNs;
      case "share": {
        return this.graph.nodeShare ?? nodeNs.map(() => Number.NaN);
      }
      case "bytes":
        return this.graph.entryBytes;
      case "storage":
        return of(shapeKnown, (entry) => {
          const id = storageIds[entry] ?? -1;
          return id < 0 ? Number.NaN : id;
        });
      case "rank":
        return of(shapeKnown, (entry) =>
          shapeKnown[entry] ? shapeOffsets[entry + 1]! - shapeOffsets[entry]! : Number.NaN,
        );
      case "inputs":
        return of(kinds, (node) => {
          const [first, end] = this.links.range(node);
          return end - first;
        });
      case "outputs":
        return of(kinds, (node) => entryOffsets[node + 1]! - entryOffsets[node]!);
      case "consumers":
        return this.#consumers();
      case "depth":
        return this.#depths();
      default:
        return of(kinds, (node) => node);
    }
  }

  #consumers(): NumberList {
    const { kinds, edgeSource, edgeTarget } = this.graph;
    const counts = new Float64Array(kinds.length);
    const last = new Int32Array(kinds.length).fill(-1);
    for (let edge = 0; edge < edgeSource.length; edge++) {
      const [source, target] = [edgeSource[edge]!, edgeTarget[edge]!];
      if (source < 0 || last[source] === target) continue;
      last[source] = target;
      counts[source]! += 1;
    }
    return counts;
  }

  /** Length of the longest path to a node, in edges; NaN on and behind cycles. */
  #depths(): NumberList {
    const { kinds, edgeSource, edgeTarget } = this.graph;
    const waiting = new Int32Array(kinds.length);
    for (let edge = 0; edge < edgeSource.length; edge++) {
      if (edgeSource[edge]! >= 0) waiting[edgeTarget[edge]!]! += 1;
    }
    const most = new Float64Array(kinds.length);
    const depths = new Float64Array(kinds.length).fill(Number.NaN);
    const ready = new Int32Array(kinds.length);
    let end = 0;
    for (let node = 0; node < kinds.length; node++) if (waiting[node] === 0) ready[end++] = node;
    for (let row = 0; row < end; row++) {
      const node = ready[row]!;
      depths[node] = most[node]!;
      for (const edge of this.links.outOf(node)) {
        const other = edgeTarget[edge]!;
        most[other] = Math.max(most[other]!, most[node]! + 1);
        waiting[other]! -= 1;
        if (waiting[other] === 0) ready[end++] = other;
      }
    }
    return depths;
  }
}

export interface Suggestion {
  from: number;
  text: string;
  about: string;
}

const MOST = 8;
const VALUE = /([A-Za-z]+)(:|!?=)"?([^\s()|"]*)$/;
const WORD = /(?:^|[\s(|>-])([A-Za-z_][A-Za-z0-9_.]*)$/;
const EXAMPLES = [
  ["time>1ms", "slower than 1 ms"],
  ["op:conv* shape:*,64,*,*", "convolutions of 64 channels"],
  ["conv2d->add->relu", "one read by the next"],
  ["bytes>1MB not kind:parameter", "large, but no parameters"],
] as const;

export function suggest(before: string, facts: Facts, ops: readonly string[]): Suggestion[] {
  if (!before.trim()) return EXAMPLES.map(([text, about]) => ({ from: 0, text, about }));
  const value = VALUE.exec(before);
  if (value) {
    const [, field, , typed] = value as unknown as [string, string, string, string];
    const from = before.length - typed.length - Number(before.at(-1 - typed.length) === '"');
    return fitting(values(field.toLowerCase(), facts, ops), typed, true).map((text) => ({
      from,
      text: quoted(text),
      about: "",
    }));
  }
  const typed = WORD.exec(before)?.[1];
  if (!typed) return [];
  const from = before.length - typed.length;
  const keys = facts.more?.attrNames.unique.map((name) => `attr.${name}`) ?? [];
  const fields = fitting([...FIELDS, ...keys], typed).map((field) => {
    const isNumber = NUMBERS.includes(field);
    const sign = isNumber ? ">" : field === "attr." ? "" : ":";
    return { from, text: field + sign, about: isNumber ? "a number" : "a field" };
  });
  const suggestions = fitting(ops, typed).map((op) => ({
    from,
    text: `op:${op}`,
    about: "operator",
  }));
  return [...fields, ...suggestions].slice(0, MOST);
}

export function quoted(text: string): string {
  const sign = text.includes('"') ? "'" : '"';
  return /[\s()|"'*?/]/.test(text) ? `${sign}${text}${sign}` : text;
}

export function operatorsOf({ graph }: Facts): string[] {
  const counts = new Map<string, number>();
  const { labels, kinds } = graph;
  const ofLabel = new Int32Array(labels.unique.length);
  for (const [node, kind] of kinds.entries()) {
    if (kind >= NodeKind.OPERATOR) ofLabel[labels.codes[node]!]! += 1;
  }
  for (const [row, count] of ofLabel.entries()) {
    if (!count) continue;
    for (const op of labels.unique[row]!.split(" + "))
      counts.set(op, (counts.get(op) ?? 0) + count);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([op]) => op);
}

function rolesOf({ roles }: GraphColumns): string[] {
  return [...new Set(roles.codes)].map((code) => roles.unique[code]!).filter(Boolean);
}

function values(field: string, facts: Facts, ops: readonly string[]): readonly string[] {
  const { graph, more } = facts;
  switch (field) {
    case "op":
      return ops;
    case "kind":
      return [...new Set([...NODE_KINDS, ...rolesOf(graph), ...graph.opKinds.unique])];
    case "dtype":
      return graph.dtypes.unique;
    case "group":
      return graph.groupNames.unique;
    case "device":
      return facts.column("device").unique;
    case "layout":
      return more?.layouts.unique ?? [];
    default:
      return [];
  }
}

/** Texts that begin with the typed one, then texts that contain it; without itself. */
function fitting(texts: readonly string[], typed: string, isAnywhere = false): string[] {
  const wanted = typed.toLowerCase();
  const matches = texts.slice(0, 5000).filter((candidate) => {
    const text = candidate.toLowerCase();
    return (
      text && text !== wanted && (isAnywhere ? text.includes(wanted) : text.startsWith(wanted))
    );
  });
  const first = (text: string) => Number(!text.toLowerCase().startsWith(wanted));
  return matches.sort((a, b) => first(a) - first(b)).slice(0, MOST);
}
