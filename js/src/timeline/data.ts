import type { GraphColumns } from "../shared/client/run_client.ts";
import type { Change } from "./change/change.ts";
import type { Names } from "./data/names.ts";
import type { Ranking } from "./data/ranking.ts";
import type { Slices } from "./data/slices.ts";
import type { SliceDescriptions } from "./descriptions.ts";
import type { Scene } from "./tracks/scene.ts";

/** What a view of the timeline knows: the slices, what they are called, and what is on the stage. */
export interface Data {
  slices: Slices;
  names: Names;
  graph: GraphColumns | null;
  /** What differs between two runs that are shown as one; null of one run. */
  change: Change | null;
  ranking: Ranking;
  words: SliceDescriptions;
  scene: Scene;
}
