import { describe, expect, it } from "vitest";
import golden from "../../../tests/data/timeline/timelines.json";
import { clientOf } from "../../src/shared/client/client.ts";
import { timelineOf } from "../../src/shared/client/timeline_client.ts";
import { RowKind } from "../../src/shared/client/timeline_columns.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { fakeModel } from "../fake_model.ts";

interface Told {
  result: object;
  buffer: string;
  parent: number[];
  bins: { first: number; step: number; busy: number[][]; slice: number[][] }[];
}

const cases = Object.entries(golden as unknown as Record<string, Told>);

async function opened({ result, buffer }: Told): Promise<Slices> {
  const bytes = Uint8Array.from(atob(buffer), (letter) => letter.charCodeAt(0));
  const { model } = fakeModel({ content_hash: "h" }, async (message) => ({
    content: { id: (message as { id: string }).id, result },
    buffers: [new DataView(bytes.buffer)],
  }));
  const { signal } = new AbortController();
  return new Slices((await timelineOf(clientOf(model, buffer, signal)))!);
}

describe.each(cases)("the timeline of %s", (_, told) => {
  it("has the same bins as Python", async () => {
    const slices = await opened(told);
    for (const { first, step, busy, slice } of told.bins) {
      for (const row of slices.rows) {
        const [shares, dominant] = [busy[row.number]!, slice[row.number]!];
        shares.forEach((share, bin) => {
          const [from, to] = [first + bin * step, first + (bin + 1) * step];
          if (row.kind === RowKind.INSTANT) {
            const at = row.startingAt(from);
            const isLast = bin === shares.length - 1 && to >= slices.end;
            const isIn = at < row.last && (slices.startOf(at) < to || isLast);
            expect(isIn ? at : -1).toBe(dominant[bin]);
            return;
          }
          expect(Math.min(1, row.busy(from, to) / step)).toBeCloseTo(share, 5);
          expect(row.dominant(from, to)).toBe(dominant[bin]);
        });
      }
    }
  });

  it("has the same parent slices as Python", async () => {
    const slices = await opened(told);
    told.parent.forEach((parent, source) => {
      const slice = slices.bySource(source);
      const around = slice < 0 ? -1 : slices.parentOf(slice);
      const kind = slices.rows[slices.rowOf(slice)]?.kind;
      if (kind === RowKind.INSTANT) return;
      expect(around < 0 ? -1 : slices.sourceOf(around)).toBe(parent);
    });
  });
});
