// node tests/make/layout.mjs: records what the layout answers, for order.test.ts and align.test.ts.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundled, root } from "../../js/tests/layout_bundle.mjs";

const { aligned, layout, network, scattered, shown, someGroups } = await bundled(`
  export { aligned } from "./js/src/comparison/align.ts";
  export { layout } from "./js/src/graph/layout/layout.ts";
  export { network, scattered } from "./js/tests/graph/layout/graphs.ts";
  export { shown, someGroups } from "./js/tests/graph/layout/frames.ts";`);

const uneven = scattered(70, 110, 13, true);
uneven.height = uneven.height.map((_, v) => 10 + ((v * 29) % 70));
uneven.width = uneven.width.map((w, v) => w + v / 8);

function framed(graph, seed) {
  const groups = someGroups(graph.count, seed);
  const open = new Set(groups.start.map((_, g) => g).filter((g) => g % 5 !== 4));
  return shown(graph, groups, open).input;
}

const graphs = {
  cycles: uneven,
  random: scattered(150, 240, 17),
  network: network(250, 19),
  frames: framed(network(200, 29), 31),
  frames_random: framed(scattered(120, 170, 37), 41),
};

const list = (array) => Array.from(array);
mkdirSync(join(root, "tests/data/layout"), { recursive: true });
for (const [name, input] of Object.entries(graphs)) {
  const { x, y, routes } = layout(input);
  const { parent, minWidth } = input.frames;
  const recorded = {
    input: {
      width: list(input.width),
      height: list(input.height),
      source: list(input.source),
      target: list(input.target),
      source_slot: list(input.sourceSlot),
      frames: { of: list(input.frameOf), parent: list(parent), min_width: list(minWidth) },
    },
    x: list(x),
    y: list(y),
    points: list(routes.points),
  };
  writeFileSync(join(root, `tests/data/layout/${name}.json`), `${JSON.stringify(recorded)}\n`);
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
    both: both.map(({ y, layerTop, frames, routes }) => ({
      y: list(y),
      layer_top: list(layerTop),
      height: list(frames.height),
      points: list(routes.points),
    })),
  };
});
mkdirSync(join(root, "tests/data/aligned"), { recursive: true });
const lines = beside.map((each) => JSON.stringify(each)).join(",\n");
writeFileSync(join(root, "tests/data/aligned/aligned.json"), `[\n${lines}\n]\n`);
