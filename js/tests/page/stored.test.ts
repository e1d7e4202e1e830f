import { describe, expect, it } from "vitest";
import graph from "../../../tests/data/stored/graph.json";
import zoo from "../../../tests/data/stored/zoo.json";
import { storedAnswers } from "../../src/page/stored_data.ts";
import { storedView } from "../../src/page/stored_plane.ts";
import { tensorAnswers } from "../../src/page/stored_tensors.ts";

const pages = [graph, zoo].map(({ page, answers }) => ({
  page: Uint8Array.from(atob(page), (each) => each.charCodeAt(0)),
  answers: answers as unknown as [object, object][],
}));
const KINDS = ["summary", "graph", "timeline", "tensors", "findings"];
const headOf = (page: Uint8Array) => 16 + new DataView(page.buffer).getUint32(8, true);

interface Told {
  cheap?: boolean;
  distribution?: unknown;
  tile?: Record<string, unknown>;
}

/** An answer but for bins and cells, and for whether a kernel sends more ahead. */
function meaning(answer: unknown): unknown {
  const { cheap, distribution, tile, ...rest } = answer as Told;
  const grid = Object.entries(tile ?? {}).filter(([, value]) => typeof value !== "object");
  return { ...rest, grid: Object.fromEntries(grid) };
}

/** Every answer has the id of its question, and is a result or says in words what is wrong. */
async function survives(data: Uint8Array<ArrayBuffer>, question: unknown): Promise<boolean> {
  const { content } = await storedAnswers(data.slice().buffer, tensorAnswers)(question);
  const { error, id } = content as { error?: unknown; id?: unknown };
  expect(id).toBe((question as { id?: unknown } | null)?.id);
  if (error !== undefined) expect(String(error).length).toBeGreaterThan(5);
  return error === undefined;
}

describe.each(pages)("the answers of a page", ({ page, answers }) => {
  const head = headOf(page);

  it("equal the kernel's answers", async () => {
    const ask = storedAnswers(page.buffer, tensorAnswers);
    for (const [question, expected] of answers) {
      const { content } = await ask({ id: "1", ...question });
      const { id, result } = content as { id: string; result: unknown };
      expect([id, meaning(result)]).toEqual(["1", meaning(expected)]);
    }
    expect(answers.length).toBeGreaterThan(3);
  });

  it("are errors for questions the page cannot answer", async () => {
    const ask = storedAnswers(page.buffer);
    const all = await ask({ id: "1", kind: "summary" });
    expect(all.content).toEqual(
      (await storedAnswers(page.buffer, tensorAnswers)({ id: "1", kind: "summary" })).content,
    );
    for (const kind of ["tensor", "values", "constructor", "toString"]) {
      const { content } = await ask({ id: "2", kind, entry: [0, 0] });
      expect(content).toEqual({ id: "2", error: expect.stringContaining("has no kernel") });
    }
  });

  it("are errors for invalid questions", async () => {
    const odd = [null, 3, "graph", [], {}, { kind: 7 }, { kind: "nothing" }, { kind: "node" }];
    const entry = [0, 0];
    const tensors: object[] = [
      {},
      { entry },
      { entry: [1e9, 0] },
      { entry: "0" },
      { entry, rows: {} },
    ];
    for (const each of [...odd, ...tensors.map((fields) => ({ kind: "tensor", ...fields }))]) {
      expect(await survives(page, each)).toBe(false);
    }
    for (const node of [-1, 1e9, 0.5, "0", null]) {
      expect(await survives(page, { kind: "node", node, id: "n" })).toBe(false);
    }
  });

  it("stay well-formed for odd fields", async () => {
    const odd = [undefined, -1, 1.5, 1e300, "0", {}, [-1, 5]];
    for (const [question] of answers.slice(-4)) {
      for (const name of Object.keys(question)) {
        for (const value of odd) await survives(page, { ...question, [name]: value });
      }
    }
  });

  it("stay well-formed for truncated data", async () => {
    const questions = [
      ...KINDS.map((kind) => ({ kind, id: kind })),
      ...answers.map(([each]) => each),
    ];
    for (let end = 0; end < head; end += 997) {
      expect(await survives(page.subarray(0, end), questions[0])).toBe(false);
    }
    for (let end = head; end < page.length; end += 2003) {
      for (const each of questions) await survives(page.subarray(0, end), each);
    }
  });

  it("stay well-formed for damaged data", async () => {
    let seed = 5;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed % below;
    };
    const questions = [
      ...KINDS.map((kind) => ({ kind, id: kind })),
      ...answers.map(([each]) => each),
    ];
    for (let round = 0; round < 300; round += 1) {
      const damaged = page.slice();
      for (let i = 0; i < 5; i += 1) {
        damaged[random(round % 2 ? head : page.length)] = random(256);
      }
      for (let i = 0; i < 4; i += 1) await survives(damaged, questions[random(questions.length)]);
    }
  });
});

describe("the view of a layout", () => {
  const axes = { N: [0], C: [1, 2] };
  const known = { layout: "NC4c", sizes: {}, source: "", certainty: "likely" as const, axes };
  const view = (...[stored, sizes]: [number[], Record<string, number>]) =>
    storedView(stored, { ...known, along: [1, 0] }, sizes);

  it("hides padding, and may be empty", () => {
    expect(view([2, 3, 4], { C: 10 })).toMatchObject({ shape: [2, 10], sizes: { C: 10 } });
    expect(view([2, 3, 4], { C: 12 })).toMatchObject({ shape: [2, 12], sizes: {} });
    expect(view([0, 3, 4], {})).toMatchObject({ shape: [0, 12], names: ["N", "C"] });
  });

  it.each([0, -1, 13])("has no size %i of 12", (size) => {
    expect(() => view([2, 3, 4], { C: size })).toThrow("C of NC4c cannot have the size");
  });
});
