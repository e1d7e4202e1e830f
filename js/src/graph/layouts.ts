import type { GraphColumns } from "../shared/run_client.ts";
import type { Labels } from "./labels.ts";
import type { Direction, LayoutProgress } from "./layout/types.ts";
import { layoutGraph } from "./layout_client.ts";
import type { Links } from "./links.ts";
import { Placed } from "./placed.ts";
import { buildScene } from "./scene.ts";

/** To the right, what a line carries stands in the gap between two layers. */
const GAP_RIGHT = 72;

export interface Arrangement {
  fold: boolean;
  direction: Direction;
  focus: number | null;
  hops: number | null;
}

const kept = new WeakMap<GraphColumns, Map<string, Promise<Placed>>>();

/** The placed scene of an arrangement of a graph; each is laid out once a page. */
export function arrange(
  links: Links,
  labels: Labels,
  arrangement: Arrangement,
  signal: AbortSignal,
  onProgress: (progress: LayoutProgress) => void,
): Promise<Placed> {
  const known = kept.get(links.graph) ?? new Map<string, Promise<Placed>>();
  kept.set(links.graph, known);
  const key = JSON.stringify(arrangement);
  const answer = known.get(key) ?? place(links, labels, arrangement, signal, onProgress);
  known.set(key, answer);
  answer.catch(() => known.delete(key));
  return answer;
}

async function place(
  links: Links,
  labels: Labels,
  { fold, direction, focus, hops }: Arrangement,
  signal: AbortSignal,
  onProgress: (progress: LayoutProgress) => void,
): Promise<Placed> {
  const only = focus === null || hops === null ? null : links.neighbourhood(focus, hops);
  const scene = buildScene(links, { fold, only, text: (node, inside) => labels.box(node, inside) });
  const input = {
    count: scene.count,
    width: scene.width,
    height: scene.height,
    source: scene.edgeSource,
    target: scene.edgeTarget,
    sourceSlot: scene.edgeSlot,
    direction,
    ...(direction === "right" && { options: { layerGap: GAP_RIGHT } }),
  };
  return new Placed(scene, await layoutGraph(input, { signal, onProgress }));
}
