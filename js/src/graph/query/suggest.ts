import { type GraphColumns, NODE_KINDS, NodeKind } from "../../shared/client/run_client.ts";
import type { Facts } from "./facts.ts";
import { FIELDS, NUMBERS } from "./fields.ts";

/** One way to go on: what replaces the text from `from` to the caret, and what it is. */
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

/** What may be meant by what stands before the caret. */
export function suggest(before: string, facts: Facts, ops: readonly string[]): Suggestion[] {
  if (!before.trim()) return EXAMPLES.map(([text, about]) => ({ from: 0, text, about }));
  const value = VALUE.exec(before);
  if (value) {
    const [, field, , typed] = value as unknown as [string, string, string, string];
    const from = before.length - typed.length - Number(before.at(-1 - typed.length) === '"');
    return fitting(values(field.toLowerCase(), facts, ops), typed, true).map((each) => ({
      from,
      text: quoted(each),
      about: "",
    }));
  }
  const typed = WORD.exec(before)?.[1];
  if (!typed) return [];
  const from = before.length - typed.length;
  const keys = facts.more?.attrNames.unique.map((each) => `attr.${each}`) ?? [];
  const fields = fitting([...FIELDS, ...keys], typed).map((field) => {
    const isNumber = NUMBERS.includes(field);
    const sign = isNumber ? ">" : field === "attr." ? "" : ":";
    return { from, text: field + sign, about: isNumber ? "a number" : "a field" };
  });
  const found = fitting(ops, typed).map((op) => ({ from, text: `op:${op}`, about: "operator" }));
  return [...fields, ...found].slice(0, MOST);
}

/** A text as the grammar takes it for one. */
export function quoted(text: string): string {
  const sign = text.includes('"') ? "'" : '"';
  return /[\s()|"'*?/]/.test(text) ? `${sign}${text}${sign}` : text;
}

/** The operators that a graph runs, the most frequent first. */
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

/** The roles that nodes of a graph have. */
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

/** Those that begin with what is typed, then those that have it elsewhere; not what is there already. */
function fitting(texts: readonly string[], typed: string, isAnywhere = false): string[] {
  const wanted = typed.toLowerCase();
  const found = texts.slice(0, 5000).filter((each) => {
    const text = each.toLowerCase();
    return (
      text && text !== wanted && (isAnywhere ? text.includes(wanted) : text.startsWith(wanted))
    );
  });
  const first = (each: string) => Number(!each.toLowerCase().startsWith(wanted));
  return found.sort((a, b) => first(a) - first(b)).slice(0, MOST);
}
