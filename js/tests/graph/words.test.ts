import { describe, expect, it } from "vitest";
import { Hits } from "../../src/graph/data/hits.ts";
import { Groups, Links } from "../../src/graph/data/links.ts";
import { GraphModel, NodeDescriptions } from "../../src/graph/data/model.ts";
import { isOfKind, NodeTimes } from "../../src/graph/data/times.ts";
import { BoxLabels } from "../../src/graph/layout/labels.ts";
import { buildScene } from "../../src/graph/layout/scene.ts";
import { NodeKind, Trust } from "../../src/shared/client/answers.ts";
import { drawnKind } from "../../src/shared/format.ts";
import { stringColumn } from "../shared/string_column.ts";
import { columns, residual } from "./fixture.ts";

const measure = {
  title: (text: string) => 6 * text.length,
  small: (text: string) => 5 * text.length,
};

function words(graph = residual()) {
  const links = new Links(graph);
  const times = new NodeTimes(graph, null);
  const groups = new Groups(graph);
  const labels = new BoxLabels(graph, times, measure, groups);
  const scene = buildScene(links, { fold: true, groups, open: null, only: null, words: labels });
  return { labels, times, scene, describe: new NodeDescriptions(links, labels, times) };
}

describe("Times", () => {
  it("ranks known values and keeps unknown ones unknown", () => {
    const { times } = words();
    expect(times.total).toBe(4_000_000);
    expect(times.slowest).toBe(2);
    expect(times.ranked.map(({ nodes: [node] }) => node)).toEqual([2, 5, 4]);
    expect(times.rank(5)).toBe(2);
    expect(times.rank(6)).toBeNull();
    expect(times.share(5)).toBe(0.25);
    expect(times.heat(6)).toBeNaN();
  });

  it("has no slowest node if no time is known", () => {
    const times = new NodeTimes(columns([{}, {}]), null);
    expect([times.known, times.slowest, times.total]).toEqual([false, -1, 0]);
  });

  it("ignores the remainder of a call when choosing the slowest node", () => {
    const graph = {
      ...columns([{}, { ns: 10 }, {}, {}]),
      nodeCall: Int32Array.of(-1, -1, 1, -1),
      callOffsets: Int32Array.of(0, 4, 5),
      callNodes: Int32Array.of(0, 1, 2, 3, 2),
      callNs: Float64Array.of(50, 20),
      callShare: Float64Array.of(0.5, 0.2),
      callNames: stringColumn(["outside its operators", "conv"]),
      callKinds: stringColumn(["delegate", "delegate"]),
    };
    expect(new NodeTimes(graph, null).slowest).toBe(2);
  });

  it("sums by op kind", () => {
    const sums = words().times.kindSums();
    expect(sums[0]).toEqual({ kind: "convolution", nodes: 2, ns: 3_000_000 });
    expect(sums).toContainEqual({ kind: "parameter", nodes: 2, ns: 0 });
  });

  it("counts nodes under the kind of their calls, too", () => {
    const graph = {
      ...columns([{ kind: NodeKind.INPUT }, { opKind: "softmax" }, { opKind: "delegate" }, {}]),
      callOffsets: Int32Array.of(0, 2, 4),
      callNodes: Int32Array.of(1, 2, 1, 3),
      callNs: Float64Array.of(50, 20),
      callShare: Float64Array.of(0.5, 0.2),
      callNames: stringColumn(["call 1", "call 2"]),
      callKinds: stringColumn(["delegate", "delegate"]),
    };
    const sums = words(graph).times.kindSums();
    expect(sums[0]).toEqual({ kind: "delegate", nodes: 3, ns: 70 });
    expect(sums).toContainEqual({ kind: "softmax", nodes: 1, ns: 0 });
    const kinds = [0, 1, 2, 3].map((node) => isOfKind(graph, node, "delegate"));
    expect(kinds).toEqual([false, true, true, true]);
  });
});

describe("Labels", () => {
  it("contains label, id and shape, time and share, and folded parameters", () => {
    expect(words().labels.box(2, 1)).toMatchObject({
      title: "#2 conv2d + relu",
      mark: "slowest",
      shape: "1×64×8×8",
      time: "2.571 ms · 64.3 %",
      badge: "1 param",
    });
    expect(words().labels.box(4, 2).badge).toBe("2 params");
  });

  it("labels planned memory by its role, not as an input", () => {
    const role = "buffer without a start value";
    const graph = columns([{ kind: NodeKind.INPUT }, { kind: NodeKind.INPUT, role }]);
    const { labels, describe } = words(graph);
    expect([labels.mark(1), labels.time(1), describe.kind(1)]).toEqual(["buffer", role, role]);
    expect(describe.kind(0)).toBe("input");
    expect([0, 1].map((node) => drawnKind(graph, node))).toEqual([0, 1]);
  });

  it("does not write an unknown time as zero", () => {
    const { labels } = words();
    expect(labels.time(6)).toBe("time unknown");
    expect(labels.time(0)).toBe("graph input");
  });

  it("marks inputs, parameters and numbered outputs of the graph", () => {
    const graph = columns(
      [{ kind: NodeKind.INPUT }, { kind: NodeKind.PARAMETER }, { outputs: [[2], null, []] }],
      {
        heads: [
          [2, 1],
          [0, 0],
        ],
      },
    );
    const labels = new BoxLabels(graph, new NodeTimes(graph, null), measure, new Groups(graph));
    expect([0, 1, 2].map((node) => labels.mark(node))).toEqual(["output 1", "param", "output 0"]);
    expect(labels.shape(2)).toBe("2, 3 outputs");
    expect(labels.entry(2, 1)).toBe("float32 of unknown shape");
    expect(labels.entry(2, 2)).toBe("float32 ()");
    expect(labels.entry(2, 3)).toBe("unknown");
  });

  it("makes every box wide enough for its text, within the limits", () => {
    const { labels } = words();
    for (let node = 0; node < 7; node++) {
      const { title, shape, time } = labels.box(node, 0);
      const width = labels.width(node, 0);
      const widest = Math.max(measure.title(title), measure.small(shape), measure.small(time));
      expect(width).toBeGreaterThanOrEqual(Math.min(220, Math.max(96, widest)));
      expect(width).toBeLessThanOrEqual(220);
    }
  });
});

describe("widths of many boxes", () => {
  const shapes = [
    [1, 8],
    [2, 9],
    [10, 8],
    [1, 8, 1],
    [],
    [2e9, 1],
    [1, 123456789012],
    [-1, 5],
    [1.5, 2],
  ];
  const kinds = [NodeKind.INPUT, NodeKind.PARAMETER, NodeKind.OPERATOR, NodeKind.NOP];
  const nodes = Array.from({ length: 1200 }, (_, i) => ({
    kind: kinds[i % 4]!,
    label: ["conv2d", "dense", "", "add + relu + add"][(i >> 2) % 4]!,
    name: `n${"x".repeat(i % 5)}`,
    outputs: i % 11 === 0 ? [[1, 8], null] : i % 13 === 0 ? [null] : [shapes[i % shapes.length]!],
    ns: [Number.NaN, 0, 1500, Number.NaN][i % 4]!,
  }));
  const graph = columns(nodes, { heads: [[3, 0]] });
  const make = () => new BoxLabels(graph, new NodeTimes(graph, null), measure, new Groups(graph));

  it("equal the widths computed one at a time", () => {
    const all = make();
    for (const [node] of nodes.entries()) {
      for (const folded of [0, 1, 2, 10, 20]) {
        expect(all.width(node, folded), `${node} with ${folded}`).toBe(make().width(node, folded));
      }
    }
  });

  it("are those of the node's own call", () => {
    const called = {
      ...columns([0, 1, 2, 3].map(() => ({ label: "conv2d" }))),
      nodeCall: Int32Array.of(-1, 0, 0, 1),
      callOffsets: Int32Array.of(0, 2, 3),
      callNodes: Int32Array.of(1, 2, 3),
      callNs: Float64Array.of(123_456_789, 20),
      callShare: Float64Array.of(0.9, 0.1),
      callNames: stringColumn(["call 1", "call 2"]),
      callKinds: stringColumn(["delegate", "delegate"]),
    };
    const { labels } = words(called);
    const [alone, inCall] = [0, 2].map((node) => labels.width(node, 0));
    expect(inCall).toBeGreaterThan(alone!);
  });
});

describe("Describe", () => {
  it("describes a node with its neighbors", () => {
    const { describe, scene } = words();
    expect(describe.sentence(2, scene)).toBe(
      "Node 2 of 7, conv2d + relu, operator, convolution, output 0 float32 (1, 64, 8, 8), 2.571 ms, " +
        "64.3 % of the total, rank 1; 2 inputs from #0 data, #1 p0; 2 consumers: #4 conv2d + relu, #5 add; " +
        "1 parameter hidden in it.",
    );
  });

  it("names the nodes a parameter is folded into, and notes unknown times", () => {
    const { describe, scene } = words();
    expect(describe.sentence(1, scene)).toContain(
      "p0 is hidden in #2 conv2d + relu, #4 conv2d + relu",
    );
    expect(describe.sentence(6, scene)).toContain("time unknown");
    expect(describe.sentence(6, scene)).toContain("graph output");
  });

  it("says in a tooltip a name, a time and one fact", () => {
    const { describe } = words();
    expect(describe.tooltip(2)).toEqual([
      "#2 conv2d + relu",
      "2.571 ms · 64.3 %",
      "float32 1×64×8×8 · 16.0 KiB",
    ]);
    expect(describe.tooltip(2, "note: look").at(-1)).toBe("note: look");
    describe.value = () => "error: 0.5";
    expect(describe.tooltip(2)[1]).toBe("error: 0.5");
  });

  it("notes ambiguous and absent inputs", () => {
    const graph = columns([
      {},
      {
        inputs: [
          [0, 0, Trust.AMBIGUOUS],
          [-1, 0, Trust.ABSENT],
        ],
      },
    ]);
    const { describe, scene } = words(graph);
    expect(describe.sentence(1, scene)).toContain("a node that the graph does not have");
  });
});

describe("the search", () => {
  const model = (graph = residual()) => new GraphModel(graph, null, measure);
  const hitsOf = async (query: string, graph = residual()) => {
    const hits = new Hits(model(graph), () => {});
    hits.find(query);
    await hits.ready;
    return hits;
  };
  const found = async (query: string) => Array.from((await hitsOf(query)).result.nodes);

  it("finds by name, func_name, operator, op kind and dtype", async () => {
    expect(await found("sum")).toEqual([5]);
    expect(await found("FUSED_nn")).toEqual([2, 4]);
    expect(await found("softmax")).toEqual([6]);
    expect(await found("convolution")).toEqual([2, 4]);
    expect(await found("float16")).toEqual([5]);
    expect(await found("#4")).toEqual([4]);
  });

  it("goes first to the node with the searched id", async () => {
    const hits = await hitsOf("3", columns(Array.from({ length: 32 }, () => ({}))));
    expect(hits.next(20, 1)).toBe(3);
    expect(hits.next(3, -1)).toBe(2);
    expect(hits.next(31, 1)).toBe(0);
  });

  it("finds shapes in various notations", async () => {
    for (const query of ["64,8,8", "64×8", "64x8x8", "(1, 64, 8, 8)", "64, 8"]) {
      expect(await found(query)).toEqual([2, 4]);
    }
  });

  it("requires every word to match and finds nothing for a blank query", async () => {
    expect(await found("conv2d 64x8 float32")).toEqual([2, 4]);
    expect(await found("conv2d float16")).toEqual([]);
    expect(await found("  ")).toEqual([]);
  });

  it("reports errors and unknown values", async () => {
    const wrong = await hitsOf("conv tiem>1ms");
    expect(wrong.text(null)).toBe("error");
    expect(wrong.result).toMatchObject({
      problem: "unknown field 'tiem' at 5; did you mean time?",
      at: 5,
    });
    const short = await hitsOf("time<1ms");
    expect(short.result.notes).toEqual(["4 of 7 nodes have no time"]);
    const without = await hitsOf("attr.a:b");
    expect(without.result.problem).toContain("are not known here");
  });

  it("keeps the newest of several queries", async () => {
    let changes = 0;
    const hits = new Hits(model(), () => {
      changes += 1;
    });
    hits.find("sum");
    hits.find("softmax");
    await hits.ready;
    expect(Array.from(hits.result.nodes)).toEqual([6]);
    expect(changes).toBe(1);
  });
});
