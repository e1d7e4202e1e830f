import { describe, expect, it } from "vitest";
import golden from "../../../tests/data/timeline/tables.json";
import type { GraphColumns } from "../../src/shared/client/answers.ts";
import { clientOf } from "../../src/shared/client/client.ts";
import type { ColumnHeader } from "../../src/shared/client/columns.ts";
import { timelineOf } from "../../src/shared/client/timeline_client.ts";
import { areaBy, type RangeBy } from "../../src/timeline/areas.ts";
import type { TimeRange } from "../../src/timeline/data/aggregate.ts";
import { ByRows } from "../../src/timeline/data/by_rows.ts";
import { KeyNames } from "../../src/timeline/data/key_names.ts";
import { Names } from "../../src/timeline/data/names.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import type { TableBy } from "../../src/timeline/data/state.ts";
import { fakeModel } from "../fake_model.ts";

interface Packed {
  columns: ColumnHeader[];
  info: unknown;
  buffer: string;
}

type Numbers = [mean: number, p50: number, p90: number, low: number, high: number];
type Row = [label: string, nodes: number[], count: number, ns: number, Numbers, noisy: boolean];

interface Case {
  timeline: Packed;
  graph: Packed;
  tables: {
    by: TableBy;
    range: TimeRange | null;
    total: number;
    idle: number;
    overlap: boolean;
    rows: Row[];
  }[];
}

const CASES = golden as unknown as Case[];

async function opened(packed: Case, name: number) {
  const { model } = fakeModel({ content_hash: `tables ${name}` }, async (message) => {
    const { id, kind } = message as { id: string; kind: "timeline" | "graph" };
    const { columns, info, buffer } = packed[kind];
    const bytes = Uint8Array.from(atob(buffer), (letter) => letter.charCodeAt(0));
    return {
      content: { id, result: { columns, info } },
      buffers: [new DataView(bytes.buffer)],
    };
  });
  const client = clientOf(model, "tables", new AbortController().signal);
  const slices = new Slices((await timelineOf(client))!);
  const graph: GraphColumns | null = await client.ask("graph");
  return { slices, called: new KeyNames(slices, new Names(slices, graph), graph) };
}

/** `#3 conv2d` is `conv2d` of node 3. */
const bare = (by: string, { label, nodes }: { label: string; nodes: readonly number[] }) =>
  by === "node" && nodes.length === 1 ? label.replace(/ #\d+(?: · .*)?$/, "") : label;
const sorted = (rows: Row[]) =>
  rows.toSorted((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1][0]! - b[1][0]!));

function same(ours: number, theirs: number | null): void {
  if (theirs === null) expect(ours).toBeNaN();
  else expect(Math.abs(ours - theirs)).toBeLessThanOrEqual(1e-9 * Math.abs(theirs));
}

describe.each(Array.from(CASES.entries()))("tables of network %i", (number, expected) => {
  it("equal Python's", async () => {
    const { slices, called } = await opened(expected, number);
    for (const { by, range, total, idle, overlap, rows } of expected.tables) {
      const found = new ByRows(by, slices, called, range);
      same(found.total, total);
      expect([by, found.idle, found.overlap]).toEqual([by, idle, overlap]);
      const ours = found.rows.map((row): Row => {
        const { mean, p50, p90, low, high, noisy } = found.spread(row);
        return [
          bare(by, row),
          row.nodes.toSorted((a, b) => a - b),
          row.count,
          row.ns,
          [mean, p50, p90, low, high],
          noisy,
        ];
      });
      const theirs = sorted(rows);
      const told = ([label, nodes, count, , , noisy]: Row) => [label, nodes, count, noisy];
      expect([by, sorted(ours).map(told)]).toEqual([by, theirs.map(told)]);
      sorted(ours).forEach(([, , , ns, numbers], at) => {
        same(ns, theirs[at]![3]);
        for (const [i, each] of numbers.entries()) same(each, theirs[at]![4][i]!);
      });
    }
  });

  it("equal the panel of a marked range", async () => {
    const { slices, called } = await opened(expected, number);
    for (const { by, range, rows } of expected.tables) {
      if (!range) continue;
      const work = areaBy(by as RangeBy, slices, called, range, slices.rows);
      let step = work.next();
      while (!step.done) step = work.next();
      const told = (label: string, count: number, ns: number) =>
        [label, count, Math.round(ns)].join();
      expect(step.value.map((row) => told(bare(by, row), row.count, row.self)).toSorted()).toEqual(
        rows.map((row) => told(row[0], row[2], row[3])).toSorted(),
      );
    }
  });
});
