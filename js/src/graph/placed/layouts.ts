import { isAbort } from "../../shared/client/request.ts";
import type { GraphColumns } from "../../shared/client/run_client.ts";
import { inStretches, pause } from "../../shared/stretches.ts";
import { bridges } from "../data/bridges.ts";
import { openStates } from "../data/groups.ts";
import { hiddenNodes } from "../data/hidden.ts";
import { type Isolation, isolated } from "../data/isolate.ts";
import type { GraphModel } from "../data/model.ts";
import type { Direction, LayoutProgress } from "../layout/types.ts";
import { compactWords } from "./compact_words.ts";
import { layoutGraph } from "./layout_client.ts";
import { layoutInput } from "./layout_input.ts";
import { filled, isLegible, MOST_LEGIBLE, mayBeLegible } from "./legible.ts";
import { PlacedScene } from "./placed_scene.ts";
import { boxesOf, type Scene, type SceneOptions, sceneSteps } from "./scene.ts";

/** Where fewer than four usual boxes stand one below the other, compact ones are shown: CSS px. */
const LOW_STAGE = 304;
/** A picture that fills less of the stage gives way to one with more groups open, in compact boxes, that fills more. */
const HALF = 0.5;
/** So many arrangements of a graph are kept. */
const KEPT = 6;

export interface Arrangement {
  fold: boolean;
  direction: Direction;
  /** The part that alone is shown. */
  isolation: Isolation | null;
  /** Queries that find what is left out. */
  hidden: readonly string[];
  /** Template of the labels; empty for the usual ones. */
  label: string;
  grouped: boolean;
  /** Groups that are open; null: those that are open by themselves. */
  open: readonly number[] | null;
  /** The node to be seen at first, -1 for none: the groups around it are open by themselves. */
  wanted: number;
  /** In columns that suit the stage; null: where the whole can so be read. */
  wrapped: boolean | null;
  /** Whether as many rows as there are count more than what a box tells: beside another graph. */
  dense: boolean;
  stage: { width: number; height: number };
}

/** What is shown of a large scene until all of it is laid out. */
export interface Beginning {
  /** The node it is around. */
  node: number;
  show: (part: PlacedScene) => void;
}

/** Scenes of more boxes begin with some of them. */
const LARGE = 2000;
const SOME = 600;

const kept = new WeakMap<GraphColumns, Map<string, Promise<PlacedScene>>>();

/** The placed scene of an arrangement of a graph; each is laid out once a page. */
export async function arrange(
  model: GraphModel,
  arrangement: Arrangement,
  beginning: Beginning,
  signal: AbortSignal,
  onProgress: (progress: LayoutProgress) => void,
): Promise<PlacedScene> {
  const answers = kept.get(model.graph) ?? new Map<string, Promise<PlacedScene>>();
  kept.set(model.graph, answers);
  const key = JSON.stringify(arrangement);
  const known = answers.get(key);
  if (known) {
    try {
      return await unlessAborted(known, signal);
    } catch (error) {
      // Whoever asked first has gone; we still want it.
      if (!isAbort(error) || signal.aborted) throw error;
    }
  }
  const answer = place(model, arrangement, beginning, signal, onProgress);
  answers.delete(key);
  answers.set(key, answer);
  for (const old of answers.keys()) if (answers.size > KEPT) answers.delete(old);
  answer.catch(() => {
    if (answers.get(key) === answer) answers.delete(key);
  });
  return answer;
}

/** The answer, for which whoever leaves does not wait. */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave);
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

async function place(
  model: GraphModel,
  arrangement: Arrangement,
  beginning: Beginning,
  signal: AbortSignal,
  onProgress: (progress: LayoutProgress) => void,
): Promise<PlacedScene> {
  const { fold, direction, isolation, hidden, label, grouped, wrapped, dense, stage } = arrangement;
  const { links, groups, labels, graph } = model;
  if (graph.kinds.length > LARGE) await pause();
  const part = isolation && (await inStretches(isolated(links, isolation), signal));
  const left = await hiddenNodes(model, hidden, signal);
  const only = left ? left.map((each, node) => (part && !part[node] ? 0 : 1 - each)) : part;
  if (part) for (let node = 0; left && node < part.length; node++) left[node]! &= part[node]!;
  const words = labels.labelled(label);
  const states = grouped ? statesOf(model, arrangement, only) : [null];
  const options: SceneOptions = {
    fold,
    groups,
    open: states.at(-1)!,
    only,
    bridges: left ? await inStretches(bridges(links, left), signal) : [],
    words,
  };
  const sceneOf = (own: Partial<SceneOptions>) =>
    inStretches(sceneSteps(links, { ...options, ...own }), signal);
  const laidOut = async (scene: Scene) => {
    const input = layoutInput(scene, direction, labels, graph);
    const layout = await layoutGraph({ ...input, wrapped, stage }, await model.fetchLayout(), {
      signal,
      onProgress,
    });
    return await inStretches(PlacedScene.steps(scene, layout), signal);
  };
  const compact = (valued: boolean, open = options.open) => ({
    open,
    words: label.includes("\n") ? words : compactWords(words, labels, valued),
  });
  const scene = await sceneOf(dense || stage.height < LOW_STAGE ? compact(dense) : {});
  const legible = async (tries: readonly Partial<SceneOptions>[]) => {
    for (const own of tries) {
      if (scene.count > MOST_LEGIBLE) break;
      const tried = await sceneOf(own);
      if (!mayBeLegible(tried, stage)) continue;
      const placed = await laidOut(tried);
      if (isLegible(placed.layout.bounds, stage)) return placed;
    }
    return null;
  };
  const usual = states.map((open) => ({ open }));
  const found = await legible(dense ? [compact(true)] : [...usual, compact(true), compact(false)]);
  if (found) {
    const room = filled(found.layout.bounds, stage);
    if (dense || room >= HALF) return found;
    const further = states.slice(0, -1);
    const other = await legible(
      further.flatMap((open) => [compact(true, open), compact(false, open)]),
    );
    return other && filled(other.layout.bounds, stage) > room ? other : found;
  }
  if (scene.count > LARGE) {
    const some = around(scene, beginning.node, graph.kinds.length);
    beginning.show(await laidOut(await sceneOf({ only: some })));
  }
  return await laidOut(scene);
}

/** The nodes of the boxes around the one that shows a node, with what is folded into them: one flag a node. */
function around(scene: Scene, node: number, nodes: number): Uint8Array {
  const box = boxesOf(scene, node)[0] ?? 0;
  const first = Math.max(0, Math.min(scene.count - SOME, box - (SOME >> 1)));
  const [from, to] = [first, Math.min(scene.count, first + SOME)];
  const only = new Uint8Array(nodes);
  const { memberStart, members, foldedStart, folded } = scene;
  for (let row = memberStart[from]!; row < memberStart[to]!; row++) only[members[row]!] = 1;
  for (let row = foldedStart[from]!; row < foldedStart[to]!; row++) only[folded[row]!] = 1;
  return only;
}

/**
 * Which groups are open, one a group. Where nobody has chosen: those around what is to be seen, else from the most open
 * state to that with all closed.
 */
function statesOf(
  { graph, groups }: GraphModel,
  { open, wanted }: Arrangement,
  only: Uint8Array | null,
): Uint8Array[] {
  const around = wanted < 0 ? [] : groups.around(wanted);
  if (open === null && !around.length) return openStates(graph, only);
  const flags = new Uint8Array(groups.count);
  for (const group of open ?? around) flags[group] = 1;
  return [flags];
}
