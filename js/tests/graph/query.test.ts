import { describe, expect, it } from "vitest";
import hetero from "../../../tests/data/query/hetero_copy.json";
import odd from "../../../tests/data/query/odd_names.json";
import resnet from "../../../tests/data/query/resnet20_cifar.json";
import split from "../../../tests/data/query/split_multi.json";
import { Links } from "../../src/graph/data/links.ts";
import { Evaluation } from "../../src/graph/data/query_evaluation.ts";
import { Facts, operatorsOf, suggest } from "../../src/graph/data/query_fields.ts";
import { parse } from "../../src/graph/data/query_parser.ts";
import { CLOCKS } from "../clocks.ts";
import { answered, type Opened, opened } from "../shared/query_answer.ts";
import { columns } from "./fixture.ts";

const runs = { resnet, split, odd, hetero } as unknown as Record<
  string,
  { columns: Opened; cases: [string, object][] }
>;

describe.each(Object.entries(runs))("queries over %s", (_, { columns: packed, cases }) => {
  it("give the same results and errors as in Python", () => {
    const facts = opened(packed);
    expect(cases.length).toBeGreaterThan(100);
    for (const [text, expected] of cases) {
      const { unknown, ...found } = answered(text, facts);
      expect(found, text.slice(0, 80)).toEqual(expected);
    }
  });
});

describe("a graph of 100,000 nodes", () => {
  const nodes = 100_000;
  const facts = new Facts(
    new Links(
      columns(
        Array.from({ length: nodes }, (_, node) => ({
          name: `layer${node % 97}/block_${node}`,
          func: `fused_conv2d_add_${node % 50}`,
          label: "conv2d + add",
          inputs: node ? [[node - 1] as const] : [],
          outputs: [[1, node % 64, 8, 8]],
          ns: node,
        })),
      ),
    ),
  );

  it.each([
    ["block_99", 1111],
    ["/_\\d*7$/", 10_000],
    ["shape:*,6?,...", 6248],
    ["conv2d->conv2d->>add", 100_000],
    ["time>50us depth>10", 49_999],
  ])("is searched in short slices: %s", (text, count) => {
    for (const isFirst of [true, false]) {
      const steps = new Evaluation(facts).nodes(parse(text)!);
      let longest = 0;
      for (;;) {
        const started = performance.now();
        const step = steps.next();
        longest = Math.max(longest, performance.now() - started);
        if (!step.done) continue;
        expect(step.value).toHaveLength(count);
        break;
      }
      if (!isFirst && CLOCKS) expect(longest).toBeLessThan(50);
    }
  });
});

describe("suggestions", () => {
  const facts = opened(runs.resnet!.columns);
  const ops = operatorsOf(facts);
  const texts = (before: string) => suggest(before, facts, ops).map(({ text }) => text);

  it("suggest fields, operators and values by the typed prefix", () => {
    expect(texts("ti")).toEqual(["time>"]);
    expect(texts("conv2d (gr")).toEqual(["group:"]);
    expect(texts("con")).toEqual(["consumers>", "op:conv2d"]);
    expect(texts("op:so")).toEqual(["softmax"]);
    expect(texts("kind:pa")).toEqual(["parameter"]);
    expect(texts("group:res")).toContain('"residual block"');
    expect(texts("attr.data")).toEqual(["attr.data_layout:"]);
    expect(texts("64,8")).toEqual([]);
  });

  it("suggest valid queries for empty text", () => {
    expect(texts("").length).toBeGreaterThan(2);
    for (const text of texts("")) expect(() => parse(text)).not.toThrow();
  });
});
