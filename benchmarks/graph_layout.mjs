// node benchmarks/graph_layout.mjs [nodes …]: CPU per phase (median of 5 runs) and what is drawn.
import { loadavg } from "node:os";
import { cpuUsage } from "node:process";
import { bundled } from "../js/tests/layout_bundle.mjs";

const { layout, network, judge } = await bundled(`
  export { layout } from "./js/src/graph/layout/index.ts";
  export { network } from "./js/tests/layout_graphs.ts";
  export { judge } from "./js/tests/layout_quality.ts";`);

const REPEATS = 5;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
console.log(`load average ${loadavg()[0].toFixed(1)}`);
const sizes = process.argv.slice(2).map(Number);

for (const size of sizes.length > 0 ? sizes : [1000, 10_000, 100_000]) {
  const input = network(size);
  const cpu = [];
  const wall = [];
  const phases = [];
  let result;
  for (let i = 0; i < REPEATS; i++) {
    const before = cpuUsage();
    const started = performance.now();
    result = layout(input);
    wall.push(performance.now() - started);
    const { user, system } = cpuUsage(before);
    cpu.push((user + system) / 1000);
    phases.push(result.timings);
  }
  const perPhase = Object.keys(phases[0])
    .map((name) => `${name} ${median(phases.map((each) => each[name])).toFixed(1)}`)
    .join(", ");
  console.log(
    `${input.count} nodes, ${input.source.length} edges, ${result.layers} layers: ` +
      `CPU ${median(cpu).toFixed(0)} ms, wall ${median(wall).toFixed(0)} ms, ` +
      `first (cold) ${wall[0].toFixed(0)} ms`,
  );
  console.log(`  wall ms per phase: ${perPhase}`);
  console.log(`  ${JSON.stringify({ ...judge(input, result), stubs: result.stubs.length })}`);
}
