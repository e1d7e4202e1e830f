// node tests/make/layout.mjs: records what the live view's layout answers, for tests/unit/figures/test_layout.py.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundled, root } from "../../js/tests/layout_bundle.mjs";

const { aligned, layout, network, scattered, inputOf, shown, someGroups } = await bundled(`
  export { aligned } from "./js/src/comparison/align.ts";
  export { layout } from "./js/src/graph/layout/layout.ts";
  export { network, scattered, inputOf } from "./js/tests/graph/layout/graphs.ts";
  export { shown, someGroups } from "./js/tests/graph/layout/frames.ts";`);

function everyToAll(size) {
  const source = [];
  const target = [];
  for (let v = 1; v < size; v++) {
    for (let u = 0; u < v; u++) {
      source.push(u);
      target.push(v);
    }
  }
  return inputOf(new Array(size).fill(80), source, target);
}

const uneven = scattered(70, 110, 13, true);
uneven.height = uneven.height.map((_, v) => 10 + ((v * 29) % 70));
uneven.width = uneven.width.map((w, v) => w + v / 8);

function framed(graph, seed, direction = "down") {
  const groups = someGroups(graph.count, seed);
  const open = new Set(groups.start.map((_, g) => g).filter((g) => g % 5 !== 4));
  return shown({ ...graph, direction }, groups, open).input;
}

const graphs = {
  empty: inputOf([], [], []),
  loops: inputOf([80, 81.5, 80], [0, 1, 2, 1], [1, 2, 0, 1]),
  components: scattered(60, 30, 11),
  cycles: uneven,
  right: { ...uneven, direction: "right" },
  random: scattered(150, 240, 17),
  stubs: { ...everyToAll(14), options: { trunkBudget: -1000 } },
  network: network(250, 19),
  networks_2000: network(1950, 23),
  frames: framed(network(200, 29), 31),
  frames_random: framed(scattered(120, 170, 37), 41),
  frames_right: framed(network(120, 43), 47, "right"),
};

const list = (array) => Array.from(array);
mkdirSync(join(root, "tests/data/layout"), { recursive: true });
for (const [name, input] of Object.entries(graphs)) {
  const { x, y, layer, layerTop, layerBottom, order, layerStart, ...rest } = layout(input);
  const golden = {
    input: {
      count: input.count,
      width: list(input.width),
      height: list(input.height),
      source: list(input.source),
      target: list(input.target),
      source_slot: list(input.sourceSlot),
      direction: input.direction ?? "down",
      frames: input.frames
        ? {
            of: list(input.frameOf),
            parent: list(input.frames.parent),
            min_width: list(input.frames.minWidth),
            closed_height: list(input.frames.closedHeight),
          }
        : null,
      trunk_budget: input.options?.trunkBudget ?? 4,
    },
    x: list(x),
    y: list(y),
    layer: list(layer),
    layer_top: list(layerTop),
    layer_bottom: list(layerBottom),
    order: list(order),
    layer_start: list(layerStart),
    bounds: [rest.bounds.minX, rest.bounds.minY, rest.bounds.maxX, rest.bounds.maxY],
    frames: [rest.frames.x, rest.frames.y, rest.frames.width, rest.frames.height].map(list),
    offsets: list(rest.routes.offsets),
    points: list(rest.routes.points),
    trunk: list(rest.routes.trunk),
    stubs: list(rest.stubs),
    reversed: list(rest.reversed),
    components: rest.components,
  };
  writeFileSync(join(root, `tests/data/layout/${name}.json`), `${JSON.stringify(golden)}\n`);
}

/** Each third box of one, and a box of the other that is about as far along. */
function pairsOf(a, b) {
  const all = Array.from({ length: a.count }, (_, box) => [box, Math.floor((box * b.count) / a.count)]);
  return all.filter(([box]) => box % 3 === 0);
}

const beside = ["frames", "network"].map((name) => {
  const [a, b] = [graphs[name], graphs.frames_random];
  const pairs = pairsOf(a, b);
  const both = aligned([layout(a), layout(b)], pairs);
  return {
    names: [name, "frames_random"],
    pairs,
    both: both.map(({ y, layerTop, layerBottom, frames, routes, bounds }) => ({
      y: list(y),
      layer_top: list(layerTop),
      layer_bottom: list(layerBottom),
      frames: [frames.y, frames.height].map(list),
      points: list(routes.points),
      bounds: [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY],
    })),
  };
});
mkdirSync(join(root, "tests/data/aligned"), { recursive: true });
const lines = beside.map((each) => JSON.stringify(each)).join(",\n");
writeFileSync(join(root, "tests/data/aligned/aligned.json"), `[\n${lines}\n]\n`);
