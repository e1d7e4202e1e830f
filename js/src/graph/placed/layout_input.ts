import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { GraphColumns } from "../../shared/client/run_client.ts";
import type { CompoundInput, Direction } from "../layout/types.ts";
import type { Labels } from "./labels.ts";
import type { Scene } from "./scene.ts";

/** To the right, what a line carries stands in the gap between two layers. */
const GAP_RIGHT = 72;
/** Between rows of compact boxes. */
const COMPACT_GAP = 8;

/** What the layout is told of a scene. */
export function layoutInput(
  scene: Scene,
  direction: Direction,
  labels: Labels,
  { groupAlike }: GraphColumns,
): CompoundInput {
  const { group, parent } = scene.frames;
  return {
    count: scene.count,
    width: scene.width,
    height: scene.height,
    source: scene.edgeSource,
    target: scene.edgeTarget,
    sourceSlot: scene.edgeSlot,
    direction,
    frameOf: scene.frameOf,
    frames: {
      parent,
      alike: Int32Array.from(group, (each) => groupAlike[each]!),
      minWidth: Float64Array.from(group, (each) => labels.widthOfHeader(each)),
    },
    options: {
      ...(direction === "right" && { layerGap: GAP_RIGHT }),
      ...(scene.compact && { layerGap: direction === "right" ? GAP_RIGHT / 2 : COMPACT_GAP }),
      frameHeader: tokens.group.header,
    },
  };
}
