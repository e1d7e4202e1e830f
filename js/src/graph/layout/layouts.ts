import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { GraphColumns } from "../../shared/client/answers.ts";
import { errorText, isAbort } from "../../shared/client/request.ts";
import { counted } from "../../shared/format.ts";
import { inStretches, pause } from "../../shared/many.ts";
import { button, element, raised } from "../../shell/dom.ts";
import { message } from "../../shell/message.ts";
import { filled, isLegible, MOST_LEGIBLE, mayBeLegible } from "../camera.ts";
import { hiddenNodes, matches } from "../data/hits.ts";
import { type Isolation, openStates, shownPart } from "../data/links.ts";
import type { GraphModel } from "../data/model.ts";
import { type BoxLabels, compactWords } from "./labels.ts";
import { layoutGraph } from "./layout_client.ts";
import { PlacedScene } from "./placed_scene.ts";
import { boxesOf, type GraphScene, type SceneOptions, sceneSteps } from "./scene.ts";
import type { Direction, LayoutInput, LayoutProgress } from "./types.ts";

/** Space between layers of a graph that runs to the right; it holds the texts of edges. */
const GAP_RIGHT = 72;
/** Space between rows of compact boxes. */
const COMPACT_GAP = 8;

export function layoutInput(
  scene: GraphScene,
  direction: Direction,
  labels: BoxLabels,
): LayoutInput {
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
      minWidth: Float64Array.from(group, (member) => labels.widthOfHeader(member, scene.compact)),
    },
    options: {
      ...(direction === "right" && { layerGap: GAP_RIGHT }),
      ...(scene.compact && { layerGap: direction === "right" ? GAP_RIGHT / 2 : COMPACT_GAP }),
      frameHeader: tokens.group.header,
    },
  };
}

/** Stage height below which compact boxes are shown (fewer than four usual boxes fit), CSS px. */
const LOW_STAGE = 304;
/** A picture that fills less of the stage gives way to a fuller one with more groups open, in compact boxes. */
const HALF = 0.5;
/** Number of cached arrangements per graph. */
const KEPT = 6;

export interface Arrangement {
  fold: boolean;
  direction: Direction;
  isolation: Isolation | null;
  /** Queries for the nodes to leave out. */
  hidden: readonly string[];
  /** Template of the labels; empty for the default. */
  label: string;
  grouped: boolean;
  /** Open groups; null: chosen automatically. */
  open: readonly number[] | null;
  /** Node to show first, or -1: the groups around it open automatically. */
  wanted: number;
  /** In columns that suit the stage; null: if that makes everything readable. */
  wrapped: boolean | null;
  /** Prefers many rows to detailed boxes: beside another graph. */
  dense: boolean;
  stage: { width: number; height: number };
}

/** First part of a large scene, shown until all of it is laid out. */
interface ScenePart {
  node: number;
  show: (part: PlacedScene) => void;
}

/** Number of boxes from which a scene begins with a part. */
const LARGE = 2000;
const SOME = 600;

const kept = new WeakMap<GraphColumns, Map<string, Promise<PlacedScene>>>();

/** Placed scene of an arrangement of a graph; computed once per page. */
export async function arrange(
  model: GraphModel,
  arrangement: Arrangement,
  beginning: ScenePart,
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
      // The first view to ask is gone, but this one still needs the answer.
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

/** The answer, or an abort as soon as the signal fires. */
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
  beginning: ScenePart,
  signal: AbortSignal,
  onProgress: (progress: LayoutProgress) => void,
): Promise<PlacedScene> {
  const { fold, direction, isolation, hidden, label, grouped, wrapped, dense, stage } = arrangement;
  const { links, groups, labels, graph } = model;
  if (graph.kinds.length > LARGE) await pause();
  const left = await hiddenNodes(model.graph, hidden, (query) => matches(model, query, signal));
  const { only, bridges } = await inStretches(shownPart(links, isolation, left), signal);
  const words = labels.labelled(label);
  const states = grouped ? statesOf(model, arrangement, only) : [null];
  const options: SceneOptions = {
    fold,
    groups,
    open: states.at(-1)!,
    only,
    bridges,
    words,
  };
  const sceneOf = (own: Partial<SceneOptions>) =>
    inStretches(sceneSteps(links, { ...options, ...own }), signal);
  const laidOut = async (scene: GraphScene) => {
    const input = layoutInput(scene, direction, labels);
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
  const placed = await legible(dense ? [compact(true)] : [...usual, compact(true), compact(false)]);
  if (placed) {
    const room = filled(placed.layout.bounds, stage);
    if (dense || room >= HALF) return placed;
    const further = states.slice(0, -1);
    const other = await legible(
      further.flatMap((open) => [compact(true, open), compact(false, open)]),
    );
    return other && filled(other.layout.bounds, stage) > room ? other : placed;
  }
  if (scene.count > LARGE) {
    const some = around(scene, beginning.node, graph.kinds.length);
    beginning.show(await laidOut(await sceneOf({ only: some })));
  }
  return await laidOut(scene);
}

/** Flags of the nodes in boxes near a node's box, including folded ones. */
function around(scene: GraphScene, node: number, nodes: number): Uint8Array {
  const box = boxesOf(scene, node)[0] ?? 0;
  const first = Math.max(0, Math.min(scene.count - SOME, box - (SOME >> 1)));
  const [from, to] = [first, Math.min(scene.count, first + SOME)];
  const only = new Uint8Array(nodes);
  const { memberStart, members, foldedStart, folded } = scene;
  for (let row = memberStart[from]!; row < memberStart[to]!; row++) only[members[row]!] = 1;
  for (let row = foldedStart[from]!; row < foldedStart[to]!; row++) only[folded[row]!] = 1;
  return only;
}

/** Open flags to try: the chosen groups, or those around the wanted node, else from most open to all closed. */
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

const BUSY_MS = 300;
const CANCELLED = new DOMException("cancelled by the user", "AbortError");

export class LayoutController {
  readonly node = raised("tvmdbg-graph-busy", { role: "status" });
  readonly #model: GraphModel;
  readonly #again: () => void;
  #running: AbortController | null = null;

  constructor(model: GraphModel, again: () => void, signal: AbortSignal) {
    this.#model = model;
    this.#again = again;
    signal.addEventListener("abort", () => this.#running?.abort());
  }

  async place(
    arrangement: Arrangement,
    problem: string,
    beginning: ScenePart,
  ): Promise<PlacedScene | null> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const { signal } = running;
    const started = performance.now();
    const cancel = button("cancel", "stop laying out the graph (Escape)", () => this.cancel());
    const words = element("span");
    let phase = "";
    const busy = setInterval(() => {
      const elapsed = ((performance.now() - started) / 1000).toFixed(1);
      const nodes = counted(this.#model.graph.kinds.length, "node");
      words.textContent = `laying out ${nodes} … ${elapsed} s${phase} `;
      if (!cancel.isConnected) this.#say(words, cancel);
    }, BUSY_MS);
    try {
      const placed = await arrange(this.#model, arrangement, beginning, signal, (at) => {
        phase = `, ${at.phase} ${Math.round(100 * at.fraction)} %`;
      });
      if (signal.aborted) return null;
      this.#say(problem);
      return placed;
    } catch (error) {
      if (signal.reason === CANCELLED)
        this.#say(
          "stopped: the graph is not shown in full ",
          button("lay out", "lay out the whole graph", this.#again),
        );
      if (signal.aborted || isAbort(error)) return null;
      this.#say(
        message(
          "error",
          "The graph could not be laid out",
          `${errorText(error)}\nShow a part of it: GraphView(run, focus=…, hops=3).`,
        ),
      );
      return null;
    } finally {
      clearInterval(busy);
      if (this.#running === running) this.#running = null;
    }
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  cancel(): boolean {
    this.#running?.abort(CANCELLED);
    return this.isRunning;
  }

  #say(...parts: (string | HTMLElement)[]): void {
    this.node.hidden = parts[0] === "";
    this.node.replaceChildren(...parts);
  }
}
