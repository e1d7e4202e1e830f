import { expect, it } from "vitest";
import { RowAligner } from "../../src/comparison/align.ts";
import type { ComparisonData } from "../../src/comparison/data.ts";
import type { PlacedScene } from "../../src/graph/layout/placed_scene.ts";
import type { GraphView } from "../../src/graph/view.ts";
import { columns } from "../graph/fixture.ts";
import { place } from "../graph/place.ts";

function chain(count: number) {
  return columns(
    Array.from({ length: count }, (_, node) => (node ? { inputs: [[node - 1] as const] } : {})),
  );
}

it("restores a graph's own rows once the other changes direction", () => {
  const shown: PlacedScene[] = [];
  const view = { replace: (placed: PlacedScene) => shown.push(placed) } as unknown as GraphView;
  // The last of two nodes is the last of five.
  const partner = (_: number, node: number) => (node ? 4 : 0);
  const rows = new RowAligner({ partner } as unknown as ComparisonData);
  const [short, long] = [place(chain(2)), place(chain(5))];
  expect(rows.place(0, short, view)).toBe(short);
  rows.place(1, long, view);
  const [first, last] = shown[0]!.layout.y;
  expect(last! - first!).toBeGreaterThan(short.layout.y[1]! - short.layout.y[0]! + 100);
  const aside = place(chain(5), "right");
  expect(rows.place(1, aside, view)).toBe(aside);
  expect(shown.at(-1)).toBe(short);
  expect(rows.place(1, aside, view)).toBe(aside);
  expect(shown).toHaveLength(2);
});
