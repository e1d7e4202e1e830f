import { describe, expect, it } from "vitest";
import { heldElsewhere, Plan, PlanDescriptions, short } from "../../src/memory/plan.ts";
import { MemoryScene } from "../../src/memory/scene.ts";
import { CLOCKS } from "../clocks.ts";
import { stringColumn } from "../shared/string_column.ts";
import { random } from "../timeline/fixture.ts";
import { planOf } from "./fixture.ts";

const CHAIN = planOf(
  [
    { slot: 0, first: 0, last: 3, bytes: 16 },
    { slot: 1, first: 0, last: 1 },
    { slot: 2, first: 1, last: 2, bytes: 32 },
    { slot: 1, first: 2, last: 3, bytes: 128 },
    { slot: 3, first: 0, last: 3, bytes: 900 },
    { slot: -1, first: 3, last: 3, bytes: -1 },
  ],
  { order: [1, 2, 3, 5], live: [80, 112, 176, 144], parameter: [3], lost: [[1, 3, 5]] },
);

describe("Plan", () => {
  it("has one row per workspace slot, largest first, with entries in order", () => {
    expect(Array.from(CHAIN.slots)).toEqual([1, 2, 0]);
    expect(Array.from(CHAIN.row(0).entries)).toEqual([1, 3]);
    expect(Array.from(CHAIN.rowOf)).toEqual([2, 0, 1, -1]);
    expect(CHAIN.largest).toBe(128);
    expect([CHAIN.rowOfEntry(4), CHAIN.rowOfEntry(5)]).toEqual([-1, -1]);
  });

  it("gives the entry of a slot at a step, and those before and after", () => {
    expect([0, 1, 2, 3].map((step) => CHAIN.at(0, step))).toEqual([1, 1, 3, 3]);
    expect([0, 1, 2, 3].map((step) => CHAIN.at(1, step))).toEqual([-1, 2, 2, -1]);
    expect([CHAIN.beside(1, 1), CHAIN.beside(1, -1), CHAIN.beside(4, 1)]).toEqual([3, -1, -1]);
    expect(Array.from(CHAIN.shares(3))).toEqual([1]);
    expect(Array.from(CHAIN.shares(5))).toEqual([]);
  });

  it("orders entries by time, not by id", () => {
    const plan = planOf(
      [
        { slot: 0, first: 2, last: 2 },
        { slot: 0, first: 0, last: 1 },
      ],
      { order: [1, 2, 0].slice(0, 2).concat(0) },
    );
    expect(Array.from(plan.row(0).entries)).toEqual([1, 0]);
  });

  it("finds the same maximum of a step range as a linear scan", () => {
    const below = random(7);
    for (const count of [1, 2, 3, 5, 64, 100, 257]) {
      const live = Array.from({ length: count }, () => below(1000));
      const plan = planOf(
        live.map((_, node) => ({ slot: 0, first: node, last: node })),
        { order: live.map((_, node) => node), live },
      );
      for (let i = 0; i < 60; i++) {
        const from = below(count);
        const to = from + 1 + below(count - from);
        expect(plan.most(from, to)).toBe(Math.max(...live.slice(from, to)));
      }
    }
  });

  it.runIf(CLOCKS)("handles 100,000 nodes within 1.5 seconds", () => {
    const entries = Array.from({ length: 100_000 }, (_, node) => ({
      slot: node % 7,
      first: node,
      last: node + 2,
    }));
    const order = entries.map((_, node) => node);
    const begun = performance.now();
    const plan = planOf(entries, { order });
    for (let i = 0; i < 1000; i++) plan.at(i % 7, i * 90);
    expect(performance.now() - begun).toBeLessThan(1500);
  });
});

describe("Scene", () => {
  const scene = new MemoryScene(CHAIN);
  scene.resize(488, 200);

  it("hits the boxes it has placed", () => {
    for (const entry of [0, 1, 2, 3]) {
      const box = scene.boxOf(entry)!;
      const hit = scene.hit(box.x + box.width / 2, box.y + box.height / 2);
      expect(hit?.entry).toBe(entry);
    }
    expect(scene.boxOf(4)).toBeNull();
    expect(scene.hit(20, 150)).toBeNull();
    expect(scene.hit(scene.x(2.5), 30)).toEqual({ step: 2, row: -1, entry: -1 });
  });

  it("keeps the workspace chart tall despite large parameters", () => {
    const high = scene.y(0) - scene.y(CHAIN.columns.info.allocated);
    expect(high).toBeGreaterThan(40);
    expect(scene.y(CHAIN.columns.info.allocated)).toBeGreaterThanOrEqual(20);
  });

  it("limits scrolling and zooming", () => {
    scene.scrollBy(1e6);
    expect(scene.scroll).toBe(Math.max(0, scene.rowsHeight - (scene.height - scene.rowsTop)));
    scene.scrollBy(-1e6);
    expect(scene.scroll).toBe(0);
    scene.viewport.zoom(1e-9, 1);
    expect(scene.viewport.span).toBeGreaterThanOrEqual(2);
    scene.viewport.showAll();
  });
});

describe("PlanDescriptions", () => {
  const words = new PlanDescriptions(CHAIN, { note: (node) => (node === 2 ? "look" : "") });
  const fact = (entry: number, name: string) =>
    words.entry(entry).find(([each]) => each === name)?.[1];

  it("describes size, slot, lifetime and sharing", () => {
    expect(words.title(1)).toBe("#1 add");
    expect(fact(1, "bytes")).toBe("64 B");
    expect(fact(1, "slot")).toBe("storage_id 11 on cpu, 128 B");
    expect(fact(1, "life")).toBe("from #1 to #2, 2 steps");
    expect(fact(3, "life")).toBe("from #3 to the end, 2 steps");
    expect(fact(0, "life")).toBe("throughout, 4 steps");
    expect(fact(1, "shares")).toBe("its slot with #3");
    expect(fact(2, "shares")).toBe("its slot with no other entry");
    expect(fact(2, "note")).toBe("look");
  });

  it("describes unknown, lost and non-workspace entries", () => {
    expect(fact(5, "bytes")).toBe("unknown, not counted");
    expect(fact(5, "slot")).toBe("none: no usable storage_id, not counted");
    expect(fact(5, "shares")).toBeUndefined();
    expect(fact(1, "lost")).toBe("overwritten by #3 add, read again by #5");
    expect(fact(4, "life")).toContain("separate from the workspace");
  });

  it("truncates very long names", () => {
    const long = new Plan(CHAIN.columns, {
      ...CHAIN.graph,
      labels: stringColumn(Array.from({ length: 6 }, () => "x".repeat(1e6))),
    });
    expect(new PlanDescriptions(long).title(1)).toHaveLength(203);
  });

  it("sums up several nodes", () => {
    expect(words.nodes([1, 3, 5])).toEqual([["Σ bytes", "192 B, in 1 slot"]]);
  });

  it("describes the live bytes of a step, and the peak", () => {
    expect(words.step(2)).toEqual([
      ["live", "176 B of the workspace"],
      ["peak", "highest of all nodes"],
    ]);
    expect(words.sentence(2)).toBe(
      "#2 add; note look; tensor float32 1×8; bytes 32 B; slot storage_id 12 on cpu, 32 B; " +
        "life from #2 to #3, 2 steps; shares its slot with no other entry; live 112 B of the workspace",
    );
    expect(short(65_536)).toBe("64.0 KiB");
  });
});

describe("planned buffers", () => {
  const plan = planOf(
    [
      { slot: 0, first: 0, last: 0, bytes: 64, offset: 0 },
      { slot: 1, first: 0, last: 1, bytes: 64, offset: 1024 },
      { slot: 0, first: 1, last: 2, bytes: 1024, offset: 0 },
      { slot: 2, first: 3, last: 3, bytes: 512, offset: 768 },
    ],
    { order: [0, 1, 2, 3] },
  );
  const words = new PlanDescriptions(plan);
  const fact = (entry: number, name: string) =>
    words.entry(entry).find(([each]) => each === name)?.[1];

  it("orders rows by offset and describes their byte ranges", () => {
    expect(Array.from(plan.slots)).toEqual([0, 2, 1]);
    expect(words.offset(1)).toBe("1,024");
    expect(fact(2, "slot")).toBe("bytes 0 … 1,023 of buffer 1 on cpu, 1.0 KiB (1,024)");
  });

  it("reports sharing of bytes, not of slots", () => {
    expect(fact(0, "shares")).toBe("its bytes with #2");
    expect(fact(2, "shares")).toBe("its bytes with #0, #3");
    expect(fact(3, "shares")).toBe("its bytes with #1, #2");
  });

  it("keeps a row occupied while any value overlaps its bytes", () => {
    expect(words.free(0, 3)[0]).toBe("bytes held from another offset");
    expect(words.free(0, 3)[1]).toContainEqual(["held", "by #3"]);
    expect(words.free(2, 2)[0]).toBe("free");
    expect(heldElsewhere(plan, 1, (step) => step * 10)).toEqual([[0, 30]]);
    expect(heldElsewhere(CHAIN, 0, (step) => step)).toEqual([]);
  });
});
