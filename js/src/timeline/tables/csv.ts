import { TRUST_LABELS } from "../../shared/client/run_client.ts";
import type { Names } from "../data/names.ts";
import type { Row, Slices } from "../data/slices.ts";
import { type Range, selfInside } from "../sums/aggregate.ts";

/** Lines between two pauses. */
const PART = 4096;

const HEAD = [
  "slice",
  "name",
  "label",
  "node",
  "occurrence",
  "kind",
  "track",
  "depth",
  "start_ns",
  "duration_ns",
  "self_ns",
  "self_in_range_ns",
  "trust",
];

/** The slices that touch a range as comma-separated values, in parts; `slice` is the index in `run.timeline`. */
export function* csvParts(
  slices: Slices,
  names: Names,
  range: Range,
  rows: readonly Row[],
): Generator<string> {
  let lines = [HEAD.join(",")];
  for (const row of rows) {
    const [first, last] = row.range(...range);
    const track = quoted(slices.tracks[row.track]!.name);
    for (let slice = first; slice < last; slice++) {
      const node = slices.nodeOf(slice);
      lines.push(
        [
          slices.sourceOf(slice),
          quoted(slices.nameOf(slice)),
          quoted(names.ofNode(node)),
          node < 0 ? "" : node,
          node < 0 ? "" : slices.occurrenceOf(slice),
          quoted(node < 0 ? names.nameKind(slices.nameCodeOf(slice)) : names.opKind(node)),
          track,
          row.depth,
          slices.startOf(slice),
          slices.durationOf(slice),
          slices.selfOf(slice),
          selfInside(slices, slice, range),
          node < 0 ? "" : (TRUST_LABELS[slices.trustOf(slice)] ?? ""),
        ].join(","),
      );
      if (lines.length < PART) continue;
      yield `${lines.join("\r\n")}\r\n`;
      lines = [];
    }
  }
  if (lines.length) yield `${lines.join("\r\n")}\r\n`;
}

/** A cell of text; one that a spreadsheet would take for a formula begins with an apostrophe. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
