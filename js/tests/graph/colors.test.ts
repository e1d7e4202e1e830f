import { describe, expect, it } from "vitest";
import recordedColumns from "../../../tests/data/color/columns.json";
import recordedLabels from "../../../tests/data/color/labels.json";
import { classes, diverging, sequential } from "../../../tvmdbg_widgets/figures/tokens.json";
import { ClassColors, Coloring } from "../../src/graph/data/coloring.ts";
import { KindColors } from "../../src/graph/data/colors.ts";
import { combined, ownColumn, readColumn } from "../../src/graph/data/node_columns.ts";
import { NumberColors, timeColumn } from "../../src/graph/data/number_colors.ts";
import { NodeTimes } from "../../src/graph/data/times.ts";
import { filled } from "../../src/graph/layout/labels.ts";
import type { GraphScene } from "../../src/graph/layout/scene.ts";
import { Palette } from "../../src/graph/paint/palette.ts";
import type { NodeColumnInfo } from "../../src/shared/client/answers.ts";
import type { Theme } from "../../src/shared/drawing/theme.ts";
import { stringColumn } from "../shared/string_column.ts";
import { columns, grouped } from "./fixture.ts";

interface Recorded {
  offsets: number[];
  boxes: number[][];
  columns: {
    column: NodeColumnInfo & { name: string; rows: (number | string | null)[] };
    limits: [number, number] | null;
    fills: Record<"light" | "dark", (string | null)[]>;
    said: string[];
    legend: Record<"below" | "above" | "unknown" | "low" | "high", number> & { classes: object[] };
  }[];
}

const SCHEMES = {
  light: { dark: false, background: "#ffffff", text: "#1f2328", muted: "#59636e", line: "#c3c8ce" },
  dark: { dark: true, background: "#16191d", text: "#e3e7eb", muted: "#a5afba", line: "#444c56" },
};

/** A scene of boxes that stand for these nodes. */
function sceneOf(boxes: readonly (readonly number[])[]): GraphScene {
  const memberStart = [0];
  for (const each of boxes) memberStart.push(memberStart.at(-1)! + each.length);
  return {
    count: boxes.length,
    node: Int32Array.from(boxes, (nodes) => nodes[0]!),
    group: Int32Array.from(boxes, (nodes) => (nodes.length > 1 ? 0 : -1)),
    memberStart: Int32Array.from(memberStart),
    members: Int32Array.from(boxes.flat()),
    text: () => ({ title: "", mark: "", head: false, shape: "", time: "told", badge: "" }),
  } as unknown as GraphScene;
}

function hex(color: string | null): string | null {
  if (color === null || color.startsWith("#")) return color;
  const [red, green, blue] = color.match(/\d+/g)!.map(Number);
  return `#${((red! << 16) | (green! << 8) | blue!).toString(16).padStart(6, "0")}`;
}

function answerOf({ rows, ...info }: Recorded["columns"][number]["column"]) {
  const numbers = rows.map((each) =>
    each === null ? Number.NaN : each === "inf" ? Infinity : Number(each),
  );
  const filled = { ...{ ordered: false, hatched: -1, note: "" }, ...info };
  return info.classes
    ? { info: filled, codes: Int32Array.from(numbers) }
    : { info: { ...filled, classes: [] }, values: Float64Array.from(numbers) };
}

it("gives ordered classes distinct colors if the first class is absent", () => {
  const graph = columns([{ outputs: [[2]] }, { outputs: [[2]] }]);
  const column = { of: "nodes", classes: ["exact", "likely", "only in B"], rows: [1, 2] };
  const found = readColumn(graph, "match", answerOf({ ...column, ordered: true } as never))!;
  const palette = new Palette(SCHEMES.light as Theme);
  const ground = { graph, scene: sceneOf([[0], [1]]), palette };
  const colors = new ClassColors(ground, new NodeTimes(graph, null), found as never);
  expect(colors.color(1)).not.toBe(colors.color(2));
  expect([colors.color(1), colors.color(2)]).not.toContain(palette.theme.muted);
});

describe("column colors equal to the figures'", () => {
  const { offsets, boxes, columns: recorded } = recordedColumns as unknown as Recorded;
  const nodes = offsets.slice(1).map((end, i) => ({
    outputs: Array.from({ length: end - offsets[i]! }, () => [2]),
  }));
  const graph = columns(nodes);
  const times = new NodeTimes(graph, null);
  const scene = sceneOf(boxes);
  for (const [row, each] of recorded.entries()) {
    const { name, scale, unit } = each.column;
    it(`${row}: ${name} ${scale} ${unit}`, () => {
      const column = readColumn(graph, name, answerOf(each.column))!;
      for (const theme of ["light", "dark"] as const) {
        const ground = { graph, scene, palette: new Palette(SCHEMES[theme] as Theme) };
        const colors =
          "classes" in column
            ? new ClassColors(ground, times, column)
            : new NumberColors(ground, times, column, each.limits);
        const fills = boxes.map((_, box) => hex(colors.face(box)));
        expect(fills).toEqual(each.fills[theme]);
        expect(boxes.map((_, box) => colors.meaning(box))).toEqual(each.said);
        if (colors instanceof ClassColors) {
          const rows = colors.rows.map(({ label, nodes: count }) => ({ label, nodes: count }));
          expect([rows, colors.unknown]).toEqual([each.legend.classes, each.legend.unknown]);
        } else {
          const { counts, scale: found } = colors;
          expect([counts.under, counts.over, counts.unknown]).toEqual([
            each.legend.below,
            each.legend.above,
            each.legend.unknown,
          ]);
          expect(found.low).toBeCloseTo(each.legend.low, 12);
          expect(found.high).toBeCloseTo(each.legend.high, 12);
        }
      }
    });
  }
});

describe("labels from a template", () => {
  for (const { template, fields, lines } of recordedLabels as {
    template: string;
    fields: Record<string, string>;
    lines: string[];
  }[]) {
    it(JSON.stringify(template), () => {
      expect(filled(template, (name) => fields[name])).toEqual(lines);
    });
  }

  it("leave unknown fields as they are", () => {
    expect(filled("{nope} {", () => undefined)).toEqual(["{nope} {"]);
  });
});

describe("columns", () => {
  const graph = columns([{ outputs: [[2, 3], [4]], dtype: "float16" }, { outputs: [null] }]);

  const info = {
    of: "nodes",
    unit: "",
    scale: "linear",
    range: null,
    together: "largest",
    classes: [],
    ordered: false,
    hatched: -1,
    note: "",
  } as const;

  it("refuses columns that do not fit the graph", () => {
    const values = new Float64Array(3);
    expect(readColumn(graph, "x", { info, values })).toBeNull();
    expect(readColumn(graph, "x", { info: { ...info, of: "entries" }, values })).not.toBeNull();
    expect(readColumn(graph, "x", { info })).toBeNull();
  });

  it("adds the bytes of entries", () => {
    const bytes = ownColumn(graph, "bytes")!;
    expect("values" in bytes && combined(graph, bytes, [0])).toBe(40);
    expect("values" in bytes && combined(graph, bytes, [1])).toBeNaN();
  });

  it("names devices and slots, and lists the columns", () => {
    const placed = {
      ...graph,
      storageIds: Int32Array.of(3, -1, 3),
      deviceTypes: Int32Array.of(1, 1, 2),
      info: { devices: { 1: "cpu", 2: "cuda" } },
    };
    const storage = ownColumn(placed, "storage")!;
    expect("classes" in storage && [storage.classes, [...storage.codes]]).toEqual([
      ["slot 3"],
      [0, -1, 0],
    ]);
    const device = ownColumn(placed, "device")!;
    expect("classes" in device && device.classes).toEqual(["cpu", "cuda"]);
    const names = (of: typeof graph) =>
      new Coloring(of, new NodeTimes(of, null)).names({ mine: null });
    expect(names(graph)).toEqual(["kind", "time", "health", "dtype", "bytes", "mine"]);
    expect(names(placed)).toContain("device");
  });

  it.each(["device", "storage"])("shows every %s as unknown if the graph lists none", (name) => {
    const column = ownColumn(graph, name)!;
    const entries = graph.entryOffsets[graph.kinds.length]!;
    expect("classes" in column && [...column.codes]).toEqual(new Array(entries).fill(-1));
    const coloring = new Coloring(graph, new NodeTimes(graph, null));
    const palette = new Palette(SCHEMES.light as Theme);
    const wish = { name, given: {}, limits: null };
    const colors = coloring.colors(wish, sceneOf([[0], [1]]), palette, null) as ClassColors;
    expect([colors.unknown, colors.rows]).toEqual([graph.kinds.length, []]);
    expect([0, 1].map((box) => [colors.isUnknown(box), colors.meaning(box)])).toEqual(
      new Array(2).fill([true, `${name} unknown`]),
    );
  });

  it("counts a node once for a class that several of its outputs have", () => {
    const dtypes = stringColumn(["float32", "int64", "int64", "int64"]);
    const split = { ...columns([{ outputs: [[1], [2], [2]] }, {}]), dtypes };
    const palette = new Palette(SCHEMES.light as Theme);
    const ground = { graph: split, scene: sceneOf([[0], [1]]), palette };
    const colors = new ClassColors(
      ground,
      new NodeTimes(split, null),
      ownColumn(split, "dtype") as never,
    );
    expect(colors.rows.map(({ label, nodes }) => [label, nodes])).toEqual([
      ["int64", 2],
      ["float32", 1],
    ]);
  });

  it("counts a node once for all classes that share a color", () => {
    // Each class in two neighbors, and the first twenty, which get colors, once more.
    const ids = Array.from({ length: 30 }, (_, id) => id);
    const codes = [
      ...ids.map((id) => [id, (id + 1) % 30]),
      ...ids.slice(0, 20).map((id) => [id, id]),
    ];
    const all = columns(codes.map(() => ({ outputs: [[1], [1]] })));
    const classes = ids.map((id) => `slot ${id}`);
    const column = {
      ...{ name: "slot", of: "entries" as const, classes },
      codes: Int32Array.from(codes.flat()),
    };
    const palette = new Palette(SCHEMES.light as Theme);
    const ground = { graph: all, scene: sceneOf([[0]]), palette };
    const last = new ClassColors(ground, new NodeTimes(all, null), column).rows.at(-1)!;
    expect(last).toMatchObject({ label: "10 others", nodes: 11 });
  });

  it("colors infinite values unlike the only finite one", () => {
    const values = Float64Array.of(Number.NEGATIVE_INFINITY, 1, Number.POSITIVE_INFINITY);
    const three = columns([{}, {}, {}]);
    const column = readColumn(three, "error", { info, values }) as never;
    const palette = new Palette(SCHEMES.light as Theme);
    const ground = { graph: three, scene: sceneOf([[0], [1], [2]]), palette };
    const colors = new NumberColors(ground, new NodeTimes(three, null), column, null);
    expect(new Set([0, 1, 2].map((box) => colors.face(box))).size).toBe(3);
    expect(colors.outside.map(({ text, color }) => [text, color])).toEqual([
      ["1 +Inf", colors.face(2)],
      ["1 −Inf", colors.face(0)],
    ]);
  });

  it("says once that nothing is known, and hatches nothing", () => {
    const column = readColumn(graph, "speed", {
      info,
      values: new Float64Array(2).fill(Number.NaN),
    }) as never;
    const palette = new Palette(SCHEMES.light as Theme);
    const ground = { graph, scene: sceneOf([[0], [1]]), palette };
    const colors = new NumberColors(ground, new NodeTimes(graph, null), column, null);
    expect(colors.title).toBe("no known speed");
    expect([0, 1].some((box) => colors.isUnknown(box))).toBe(false);
    expect(colors.words(0)).toBeNull();
  });

  it("reuses colors for equal requests and falls back to kind colors", () => {
    const coloring = new Coloring(graph, new NodeTimes(graph, null));
    const scene = sceneOf([[0], [1]]);
    const palette = new Palette(SCHEMES.light as Theme);
    const wish = { name: "dtype", given: {}, limits: null };
    const made = coloring.colors(wish, scene, palette, null);
    expect(coloring.colors({ ...wish }, scene, palette, null)).toBe(made);
    expect(coloring.colors({ ...wish, name: "nothing" }, scene, palette, null)).toBeInstanceOf(
      KindColors,
    );
  });
});

/** Linear light of `#rrggbb`. */
function linear(color: string): number[] {
  return [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
}

const times = (rows: number[][], of: number[]) =>
  rows.map((row) => row.reduce((sum, each, i) => sum + each * of[i]!, 0));

/** Björn Ottosson's Oklab. */
function oklab(light: number[]): number[] {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    light,
  ).map((each) => Math.cbrt(Math.max(0, each)));
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
}

/** What people without one kind of cone see: Machado, Oliveira, Fernandes 2009, severity 1. */
const SIGHTS: Record<string, number[][]> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

describe("palettes", () => {
  const seen = (color: string, sight: string) =>
    oklab(times(SIGHTS[sight]!, linear(color)).map((each) => Math.min(1, Math.max(0, each))));
  for (const sight of Object.keys(SIGHTS)) {
    it(`keeps class colors distinct for ${sight} vision`, () => {
      for (const colors of [classes.light, classes.dark]) {
        for (const [i, one] of colors.entries()) {
          for (const two of colors.slice(i + 1)) {
            const [a, b] = [seen(one, sight), seen(two, sight)];
            expect(
              Math.hypot(...a.map((each, k) => each - b[k]!)),
              `${one} ${two}`,
            ).toBeGreaterThan(0.08);
          }
        }
      }
    });

    it(`keeps ramp lightness monotonic in small steps for ${sight} vision`, () => {
      const even = (stops: readonly string[], rises: boolean) => {
        const lightness = stops.map((stop) => seen(stop, sight)[0]!);
        for (const [i, each] of lightness.slice(1).entries()) {
          expect(Math.sign(each - lightness[i]!), stops[i]!).toBe(rises ? 1 : -1);
          expect(Math.abs(each - lightness[i]!), stops[i]!).toBeLessThan(0.2);
        }
      };
      even(sequential, true);
      even(diverging.light.slice(0, 5), true);
      even(diverging.light.slice(4), false);
      even(diverging.dark.slice(0, 5), false);
      even(diverging.dark.slice(4), true);
    });
  }
});

describe("a closed group with some of a call's nodes", () => {
  const call = {
    nodeCall: Int32Array.of(-1, 0, 0, 0, 1, 1, -1),
    callOffsets: Int32Array.of(0, 3, 5),
    callNodes: Int32Array.of(1, 2, 3, 4, 5),
    callNs: Float64Array.of(60, 20),
    callShare: Float64Array.of(0.6, 0.2),
    callNames: stringColumn(["call 1", "call 2"]),
    callKinds: stringColumn(["delegate", "delegate"]),
  };
  const spec = [{ ns: 20 }, {}, {}, {}, {}, {}, {}];
  const shown = (start: number, end: number) => {
    const plain = { ...columns(spec), ...call, timeTotal: Float64Array.of(100) };
    const graph = grouped(plain, [{ start, end }]);
    const scene = sceneOf([Array.from({ length: end - start }, (_, row) => start + row), [1], [4]]);
    const palette = new Palette(SCHEMES.light as Theme);
    const times = new NodeTimes(graph, null);
    const colors = new NumberColors({ graph, scene, palette }, times, timeColumn(times), null);
    const widths = colors.parts(0).map(([, share]) => share);
    return { colors, widths, said: colors.meaning(0) };
  };

  it("has the same color as each node of the call", () => {
    const { colors, said } = shown(1, 3);
    expect(colors.isUnknown(0)).toBe(false);
    expect(colors.face(0)).toBe(colors.face(1));
    expect(said).toBe("60.00 ns for 3 together");
  });

  it("shows bars for its own share and the shared one", () => {
    const { colors, said, widths } = shown(0, 3);
    expect(colors.face(0)).toBeNull();
    expect(said).toBe("20.00 ns · 20.0 %, 60.00 ns for 3 together");
    expect(widths).toEqual([0.2, 0.6, expect.closeTo(0.2)]);
  });

  it("counts each call once, and a complete call as its own time", () => {
    const { colors, said, widths } = shown(2, 6);
    expect(colors.isUnknown(0)).toBe(false);
    expect(said).toBe("20.00 ns · 20.0 %, 60.00 ns for 3 together");
    expect(widths).toEqual([0.2, 0.6, expect.closeTo(0.2)]);
    expect(shown(3, 5).said).toBe("80.00 ns for 5 together");
  });

  it("is marked unknown if no time is known", () => {
    const { colors, said } = shown(6, 7);
    expect(colors.isUnknown(0)).toBe(true);
    expect(said).toBe("time unknown");
  });
});
