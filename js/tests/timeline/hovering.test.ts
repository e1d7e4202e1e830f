import { describe, expect, it } from "vitest";
import type { TimelineData } from "../../src/timeline/descriptions.ts";
import { TimelineHover } from "../../src/timeline/highlights.ts";

/** The nodes of five slices: the last two have none. */
const NODES = [4, 4, 7, -1, -1];

function made() {
  const rows: number[] = [];
  const said: (number | null)[] = [];
  const scene = { hovered: -1, bandAt: () => null };
  const data = {
    scene,
    slices: {
      nodeOf: (slice: number) => NODES[slice] ?? -1,
      of: (node: number) =>
        NODES.flatMap((each, slice) => (each === node && node >= 0 ? slice : [])),
    },
    ranking: {
      rowOf: (node: number) => [4, 7].indexOf(node),
      rowOfSlice: (slice: number) =>
        NODES[slice] === undefined ? -1 : NODES[slice]! < 0 ? 2 : [4, 7].indexOf(NODES[slice]!),
      slice: [0, 2, 3],
    },
  } as unknown as TimelineData;
  const session = {
    hovered: null as number | null,
    hover(node: number | null) {
      if (node === this.hovered) return;
      this.hovered = node;
      said.push(node);
      hovering.sync();
    },
  };
  const shown = {
    data,
    session,
    chart: { touched: () => {} },
    charts: { shown: null },
    table: { hover: (row: number) => rows.push(row) },
    tooltip: { showHit: () => {}, tell: () => {} },
  } as unknown as ConstructorParameters<typeof TimelineHover>[0];
  const hovering = new TimelineHover(shown);
  const at = (slice: number) => hovering.at(slice < 0 ? null : { slice, instants: 1 }, 0, 0);
  return { at, hovering, session, scene, said, row: () => rows.at(-1) };
}

describe("hovering", () => {
  it("highlights slice and row, and sends the node to other views", () => {
    const { at, scene, said, row } = made();
    at(1);
    expect([scene.hovered, row(), said]).toEqual([1, 0, [4]]);
    at(2);
    expect([scene.hovered, row(), said]).toEqual([2, 1, [4, 7]]);
    at(-1);
    expect([scene.hovered, row(), said]).toEqual([-1, -1, [4, 7, null]]);
  });

  it("highlights a slice without a node from any previous hover", () => {
    const { at, scene, row } = made();
    for (const before of [-1, 1, 4]) {
      at(before);
      at(3);
      expect([scene.hovered, row()]).toEqual([3, 2]);
    }
  });

  it("highlights the first slice of a node while another view hovers it", () => {
    const { hovering, session, scene, row } = made();
    session.hover(7);
    expect([scene.hovered, row()]).toEqual([2, 1]);
    session.hover(null);
    expect([scene.hovered, row()]).toEqual([-1, -1]);
    session.hover(99);
    expect([scene.hovered, row()]).toEqual([-1, -1]);
    hovering.row(0);
    expect([scene.hovered, session.hovered]).toEqual([0, 4]);
  });
});
