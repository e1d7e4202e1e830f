import { describe, expect, it } from "vitest";
import {
  BAR,
  barLeft,
  layoutSequence,
  type MessageRow,
  type Peer,
  type SequenceReply,
  type SequenceRow,
  touch,
} from "../../src/engine/sequence_layout.ts";
import { HALF_EM } from "../engine/widths.ts";

function message(side: Peer, replyTo = -1, more: Partial<MessageRow> = {}): SequenceRow {
  const words = { label: "CallFunc", bytes: "64 B", time: "0.000000", hover: "" };
  return { kind: "message", side, status: "ok", replyTo, folded: 1, ...words, ...more };
}

function laidOut(rows: readonly SequenceRow[], more: Partial<SequenceReply> = {}) {
  const words = { summary: "", notes: [], text: "", timed: true };
  return layoutSequence({ ...words, rows, loops: [], pauses: [], ...more }, 692, HALF_EM);
}

describe("a sequence", () => {
  it("stacks its rows, with space for pauses and loop frames", () => {
    const rows = [message("client"), message("server"), message("client")];
    const plain = laidOut(rows);
    const more = laidOut(rows, {
      pauses: [{ row: 1, words: "1 s later" }],
      loops: [{ first: 2, end: 3, words: "5 ×" }],
    });
    expect(plain.rows.map(({ y }) => y)).toEqual(
      plain.rows.map(({ y }) => y).sort((a, b) => a - b),
    );
    expect(more.rows[1]!.y).toBeGreaterThan(plain.rows[1]!.y);
    expect(more.pauses[0]!.y).toBeGreaterThan(more.rows[0]!.y);
    expect(more.pauses[0]!.y).toBeLessThan(more.rows[1]!.y);
    const [loop] = more.loops;
    expect(loop!.top).toBeLessThan(more.rows[2]!.top);
    expect(loop!.bottom).toBeGreaterThanOrEqual(more.rows[2]!.top + more.rows[2]!.height);
  });

  it("has bars from calls to answers, nested ones further right", () => {
    const layout = laidOut([
      message("client"),
      message("server"),
      message("client"),
      message("server", 2),
      message("client", 1),
      message("server", 0),
    ]);
    expect(layout.bars).toEqual([
      { side: "server", from: 0, to: 5, depth: 0 },
      { side: "client", from: 1, to: 4, depth: 0 },
      { side: "server", from: 2, to: 3, depth: 1 },
    ]);
    const [outer, , inner] = layout.bars;
    expect(barLeft(layout, inner!)).toBeGreaterThan(barLeft(layout, outer!));
    expect(touch(layout, layout.rows[0]!, "client")).toBe(layout.lifelines.client);
    expect(touch(layout, layout.rows[2]!, "client")).toBe(layout.lifelines.client + BAR / 2);
    expect(touch(layout, layout.rows[2]!, "server")).toBe(layout.lifelines.server - BAR / 2);
  });

  it("leaves no room for times that are unknown", () => {
    const rows = [message("client", -1, { time: "" })];
    const [timed, untimed] = [laidOut(rows), laidOut(rows, { timed: false })];
    expect(untimed.lifelines.client).toBeLessThan(timed.lifelines.client);
  });

  it("wraps the message about damage", () => {
    const label = "the receiver read 8 bytes of dtype where 4 were sent ".repeat(6);
    const [damage] = laidOut([message("client", -1, { status: "damaged", label })]).rows;
    expect(damage!.lines.length).toBeGreaterThan(1);
    expect(damage!.lines[0]).toMatch(/^client → server, damaged: the receiver/);
    expect(damage!.height).toBeGreaterThan(16 * damage!.lines.length);
  });
});
