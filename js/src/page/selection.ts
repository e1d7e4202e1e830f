import type { GraphColumns, RunClient, SliceColumns } from "../shared/client/run_client.ts";
import type { SessionState } from "../shared/client/session_client.ts";
import type { LinkTarget } from "./link_target.ts";

export interface Resolved {
  /** What the session is to become; what the place does not speak of stays. */
  state: Partial<SessionState> & { tour_step?: number };
  view: string | null;
  problems: string[];
}

/** What a place means in a run; what the run does not have is left out, and said. */
export async function resolve(
  place: LinkTarget,
  run: RunClient,
  views: readonly string[],
  steps: number,
): Promise<Resolved> {
  const [graph, timeline] = await Promise.all([run.graph(), run.timeline()]);
  const state: Resolved["state"] = {};
  const problems: string[] = [];
  const count = graph?.kinds.length ?? timeline?.nodeNs.length ?? Number.POSITIVE_INFINITY;
  const selected: number[] = [];
  for (const text of place.nodes) {
    const node = nodeOf(text, graph, count);
    if (typeof node === "number") selected.push(node);
    else problems.push(node);
  }
  const entry = place.entry && hasEntry(place.entry, graph, count) ? place.entry : null;
  if (place.entry && !entry) problems.push(`the run has no entry ${place.entry.join()}`);
  const slice = place.slice && (await hasSlice(place.slice, run)) ? place.slice : null;
  if (place.slice && !slice) problems.push(`the run has no slice ${place.slice.join()}`);
  for (const part of [entry, slice]) {
    if (part && !selected.includes(part[0])) selected.push(part[0]);
  }
  if (selected.length > 0) {
    const last = selected.at(-1)!;
    Object.assign(state, { selected, entry: entry ?? [last, 0], slice });
  }
  if (place.time) state.time_range = place.time;
  if (place.step !== null) {
    if (place.step < steps) state.tour_step = place.step;
    else problems.push(`the tour has no step ${place.step}`);
  }
  const view = place.view !== null && views.includes(place.view) ? place.view : null;
  if (place.view !== null && view === null) problems.push(`this page has no view ${place.view}`);
  return { state, view, problems };
}

/** A node's id, or why there is none. A name of digits alone is an id. */
function nodeOf(text: string, graph: GraphColumns | null, count: number): number | string {
  if (/^\d{1,15}$/.test(text)) {
    return Number(text) < count ? Number(text) : `the run has no node ${text}`;
  }
  const unique = graph?.names.unique.indexOf(text) ?? -1;
  const first = unique < 0 ? -1 : graph!.names.codes.indexOf(unique);
  if (first < 0) return `the run has no node named ${text}`;
  const again = graph!.names.codes.indexOf(unique, first + 1);
  return again < 0 ? first : `more than one node is named ${text} (#${first}, #${again})`;
}

function hasEntry(
  [node, output]: readonly [number, number],
  graph: GraphColumns | null,
  count: number,
): boolean {
  if (!graph) return node < count;
  return node < count && output < graph.entryOffsets[node + 1]! - graph.entryOffsets[node]!;
}

/** Whether a node has so many slices; a page that holds none of them cannot say no. */
async function hasSlice([node, occurrence]: readonly [number, number], run: RunClient) {
  const timeline = await run.timeline();
  if (!timeline) return false;
  const slices = timeline.slices ?? (await run.slices());
  return slices ? countOf(node, slices) > occurrence : true;
}

function countOf(node: number, { node: nodes }: SliceColumns): number {
  return nodes?.reduce((count, each) => count + (each === node ? 1 : 0), 0) ?? 0;
}
