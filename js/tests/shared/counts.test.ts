import { expect, it } from "vitest";
import { unknownNotes } from "../../src/graph/data/query_parser.ts";
import { closedNote, sparedNote } from "../../src/graph/figure/graph_figure.ts";
import { RowKind } from "../../src/shared/client/timeline_columns.ts";
import { typedIndex } from "../../src/tensor/values/code_text.ts";
import { overlapText } from "../../src/timeline/tracks/headers.ts";
import { failedOf } from "../../src/tuning/descriptions.ts";
import { refusedText } from "../../src/tuning/panes.ts";

const said = (count: number) => {
  const rows = (kind: number) => ({ rows: Array(count).fill({ kind }), overlapping: count });
  return [
    refusedText(count),
    failedOf(count, count),
    unknownNotes(new Map([["time", count]]), 5).join(),
    typedIndex("0 0 0", Array(count).fill(3)),
    overlapText(rows(RowKind.OVERLAP) as never, false),
    closedNote({ boxed: Array(count) } as never, { count, group: Array(count).fill(0) } as never),
    sparedNote({ edgeSource: [] } as never, count),
  ];
};

it.each([
  [
    1,
    [
      "1 line of the log could not be read",
      "1 of 1 trial failed (100.0 %)",
      "1 of 5 nodes has no time",
      "the tensor has 1 axis: [3]",
      "1 slice overlaps others: on a separate lane",
      "1 closed group: 1 box drawn as 1; times and shares of groups are sums.",
      "0 of 1 edge drawn: of those between the same two boxes only the first.",
    ],
  ],
  [
    2,
    [
      "2 lines of the log could not be read",
      "2 of 2 trials failed (100.0 %)",
      "2 of 5 nodes have no time",
      "the tensor has 2 axes: [3, 3]",
      "2 slices overlap others: on 2 separate lanes",
      "2 closed groups: 2 boxes drawn as 2; times and shares of groups are sums.",
      "0 of 2 edges drawn: of those between the same two boxes only the first.",
    ],
  ],
])("uses singular or plural for %d", (count, texts) => expect(said(count)).toEqual(texts));
