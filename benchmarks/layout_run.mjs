// node layout_run.mjs <task> <input.json> [repeats]: what graph_layout.py asks of Node; one JSON answer on standard output.
import { readFileSync } from "node:fs";
import { cpuUsage } from "node:process";
import { bundled } from "../js/tests/layout_bundle.mjs";
import { measure } from "./layout_quality.mjs";

const { layout, wrap, edgePath } = await bundled(
  `export { edgePath } from "./js/src/graph/layout/types.ts";
   export { layout } from "./js/src/graph/layout/layout.ts";
   export { wrap } from "./js/src/graph/layout/wrap.ts";`,
);
const [task, path, repeats = "1"] = process.argv.slice(2);
const given = JSON.parse(readFileSync(path, "utf8"));
const input = {
  count: given.count,
  width: Float64Array.from(given.width),
  height: Float64Array.from(given.height),
  source: Int32Array.from(given.source),
  target: Int32Array.from(given.target),
  sourceSlot: Int32Array.from(given.slot),
  direction: "down",
  frameOf: Int32Array.from(given.frameOf ?? given.width.map(() => -1)),
  frames: {
    parent: Int32Array.from(given.parent ?? []),
    minWidth: Float64Array.from(given.minWidth ?? []),
  },
};

/** CPU seconds of this thread alone, without those that compile and collect; null where the system does not tell. */
function ownCpu() {
  if (process.threadCpuUsage) {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1e6;
  }
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e9;
  } catch {
    return null;
  }
}

/** CPU and wall seconds of a task. */
async function timed(work) {
  const own = ownCpu();
  const before = cpuUsage();
  const started = performance.now();
  const result = await work();
  const wall = (performance.now() - started) / 1000;
  const { user, system } = cpuUsage(before);
  return {
    result,
    cpu: (user + system) / 1e6,
    own: own === null ? null : ownCpu() - own,
    wall,
  };
}

function ours(result) {
  const { offsets, points, trunk } = result.routes;
  const stubs = new Set(result.stubs);
  const strokes = [];
  for (let e = 0; e < trunk.length; e++) {
    const [from, to] = [offsets[e], offsets[e + 1]];
    const parts = stubs.has(e) ? [[from, from + 2], [to - 2, to]] : [[from, to]];
    for (const [a, b] of parts) strokes.push({ edge: e, points: points.slice(2 * a, 2 * b) });
  }
  const paths = Array.from(trunk, (_, e) => ({ edge: e, points: edgePath(result, e) }));
  return { x: result.x, y: result.y, strokes, paths: paths.filter(({ edge }) => !stubs.has(edge)) };
}

async function dagre() {
  const { Graph, layout: run } = await import("@dagrejs/dagre").then((m) => ({
    Graph: (m.default ?? m).graphlib?.Graph ?? m.graphlib.Graph,
    layout: (m.default ?? m).layout ?? m.layout,
  }));
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ nodesep: 24, ranksep: 36, edgesep: 14 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (let v = 0; v < input.count; v++) {
    graph.setNode(String(v), { width: input.width[v], height: input.height[v] });
  }
  for (let e = 0; e < input.source.length; e++) {
    graph.setEdge(String(input.source[e]), String(input.target[e]), {}, String(e));
  }
  const { cpu, wall } = await timed(() => run(graph));
  const strokes = Array.from(input.source, (s, e) => {
    const { points } = graph.edge(String(s), String(input.target[e]), String(e));
    return { edge: e, points: points.flatMap((p) => [p.x, p.y]) };
  });
  const x = Array.from(input.width, (_, v) => graph.node(String(v)).x);
  const y = Array.from(input.width, (_, v) => graph.node(String(v)).y);
  return { cpu, wall, picture: { x, y, strokes, paths: strokes } };
}

const SAMPLES = 8;

/** A chain of cubic Bézier curves as a polyline. */
function sampled(p) {
  const points = [p[0], p[1]];
  for (let i = 0; i + 7 < p.length; i += 6) {
    for (let k = 1; k <= SAMPLES; k++) {
      const [t, u] = [k / SAMPLES, 1 - k / SAMPLES];
      for (let a = 0; a < 2; a++) {
        points.push(
          u * u * u * p[i + a] +
            3 * u * u * t * p[i + 2 + a] +
            3 * u * t * t * p[i + 4 + a] +
            t * t * t * p[i + 6 + a],
        );
      }
    }
  }
  return points;
}

async function dot() {
  const { instance } = await import("@viz-js/viz");
  const viz = await instance();
  const inch = (px) => px / 72;
  const lines = ["digraph {", `graph [nodesep=${inch(24)} ranksep=${inch(36)}]`];
  lines.push('node [shape=box fixedsize=true label=""]', "edge [arrowhead=none]");
  for (let v = 0; v < input.count; v++) {
    lines.push(`n${v} [width=${inch(input.width[v])} height=${inch(input.height[v])}]`);
  }
  for (let e = 0; e < input.source.length; e++) {
    lines.push(`n${input.source[e]} -> n${input.target[e]} [comment="${e}"]`);
  }
  const text = `${lines.join("\n")}\n}`;
  const { result, cpu, wall } = await timed(() => viz.renderJSON(text));
  const x = new Array(input.count);
  const y = new Array(input.count);
  for (const each of result.objects) {
    const [px, py] = each.pos.split(",").map(Number);
    const v = Number(each.name.slice(1));
    x[v] = px;
    y[v] = -py;
  }
  const strokes = result.edges.map((each) => {
    const points = each.pos.split(" ").flatMap((p) => p.split(",").map(Number));
    for (let i = 1; i < points.length; i += 2) points[i] = -points[i];
    return { edge: Number(each.comment), points: sampled(points) };
  });
  return { cpu, wall, picture: { x, y, strokes, paths: strokes } };
}

let answer;
if (task === "time") {
  answer = [];
  for (let i = 0; i < Number(repeats); i++) {
    const { result, cpu, own, wall } = await timed(() => layout(input));
    const wrapping = await timed(() => wrap(result, input, 1.6));
    answer.push({
      cpu,
      own,
      wall,
      wrap: wrapping.cpu,
      stubs: result.stubs.length,
      layers: result.layers,
    });
  }
} else if (task === "ours") {
  const { result, cpu, wall } = await timed(() => layout(input));
  answer = { cpu, wall, stubs: result.stubs.length, ...measure(input, ours(result)) };
} else {
  const { cpu, wall, picture } = await (task === "dot" ? dot() : dagre());
  answer = { cpu, wall, stubs: 0, ...measure(input, picture) };
}
process.stdout.write(JSON.stringify(answer));
