import { isAbort } from "../shared/request.ts";
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
export async function arrange(
  links: Links,
  labels: Labels,
  arrangement: Arrangement,
  signal: AbortSignal,
  onProgress: (progress: LayoutProgress) => void,
): Promise<Placed> {
  const answers = kept.get(links.graph) ?? new Map<string, Promise<Placed>>();
  kept.set(links.graph, answers);
  const key = JSON.stringify(arrangement);
  const known = answers.get(key);
  if (known) {
    try {
      return await known;
    } catch (error) {
      // Whoever asked first has gone; we still want it.
      if (!isAbort(error) || signal.aborted) throw error;
    }
  }
  const answer = place(links, labels, arrangement, signal, onProgress);
  answers.set(key, answer);
  answer.catch(() => {
    if (answers.get(key) === answer) answers.delete(key);
  });
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
