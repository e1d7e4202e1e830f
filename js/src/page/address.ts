import type { GraphColumns } from "../shared/client/answers.ts";
import type { Client } from "../shared/client/client.ts";
import type { StaticModel } from "../shared/client/page_model.ts";
import { errorText } from "../shared/client/request.ts";
import { goToStep, SessionClient, type SessionState } from "../shared/client/session_client.ts";
import { slicesOf, timelineOf } from "../shared/client/timeline_client.ts";
import { say } from "./status.ts";

/** Target of a link: the part of the page's address after `#`. */
interface LinkTarget {
  /** Node ids, or names, in the order of selection. */
  nodes: string[];
  view: string | null;
  entry: [node: number, output: number] | null;
  slice: [node: number, occurrence: number] | null;
  /** Nanoseconds. */
  time: [begin: number, end: number] | null;
  /** Step of the tour, from 0. */
  step: number | null;
}

export interface ParsedLink {
  place: LinkTarget;
  /** Unknown parts, as half sentences. */
  problems: string[];
}

const WHOLE = /^\d{1,15}$/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

export function parseLink(hash: string): ParsedLink {
  const place: LinkTarget = {
    nodes: [],
    view: null,
    entry: null,
    slice: null,
    time: null,
    step: null,
  };
  const problems: string[] = [];
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const [key, value] = [decoded(part.slice(0, at)), decoded(part.slice(at + 1))];
    if (key === null || value === null || !accept(place, key, value)) {
      problems.push(`it says ${part.slice(0, 80)}`);
    }
  }
  return { place, problems };
}

export function linkText(place: LinkTarget): string {
  const parts = place.nodes.map((node) => `node=${encodeURIComponent(node)}`);
  if (place.entry) parts.push(`entry=${place.entry.join()}`);
  if (place.slice) parts.push(`slice=${place.slice.join()}`);
  if (place.time) parts.push(`time=${place.time.join()}`);
  if (place.step !== null) parts.push(`step=${place.step}`);
  if (place.view) parts.push(`view=${encodeURIComponent(place.view)}`);
  return parts.join("&");
}

function accept(place: LinkTarget, key: string, value: string): boolean {
  const parts = value.split(",");
  const whole = parts.length === 2 && parts.every((part) => WHOLE.test(part));
  const pair = parts.map(Number) as [number, number];
  switch (key) {
    case "node":
      place.nodes.push(value);
      return value !== "";
    case "view":
      place.view = value;
      return value !== "";
    case "entry":
    case "slice":
      if (whole) place[key] = pair;
      return whole;
    case "time": {
      const range = parts.length === 2 && parts.every((part) => NUMBER.test(part));
      const ordered = range && pair.every(Number.isFinite) && pair[0] < pair[1];
      if (ordered) place.time = pair;
      return ordered;
    }
    case "step":
      if (WHOLE.test(value)) place.step = Number(value);
      return WHOLE.test(value);
    default:
      return false;
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export interface ResolvedLink {
  /** New state of the session; fields that the address does not name are absent. */
  state: Partial<SessionState> & { tour_step?: number };
  view: string | null;
  problems: string[];
}

/** Resolves a target in a run; nodes and slices that the run lacks are left out and reported. */
export async function resolve(
  place: LinkTarget,
  run: Client,
  views: readonly string[],
  steps: number,
): Promise<ResolvedLink> {
  const [graph, timeline] = await Promise.all([run.ask("graph"), timelineOf(run)]);
  const state: ResolvedLink["state"] = {};
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

/** A node's id, or an error. A name of digits only is an id. */
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

/** True if a node has this many slices; a page without slices cannot deny it. */
async function hasSlice([node, occurrence]: readonly [number, number], run: Client) {
  const timeline = await timelineOf(run);
  if (!timeline) return false;
  const slices = timeline.slices ?? (await slicesOf(run));
  return slices
    ? (slices.node?.reduce((count, id) => count + (id === node ? 1 : 0), 0) ?? 0) > occurrence
    : true;
}

/** Browsers refuse more than some hundred new addresses in half a minute. */
const PAUSE_MS = 200;

interface Focus {
  names: readonly string[];
  /** The view with the reader's focus, if any. */
  current: () => string | null;
  show: (view: string) => void;
}

/** Synchronizes the page's address with the session's selection. */
export class Address {
  readonly #session: StaticModel;
  readonly #run: Client;
  readonly #focus: Focus;
  #written = location.hash;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(session: StaticModel, run: Client, focus: Focus) {
    this.#session = session;
    this.#run = run;
    this.#focus = focus;
    session.on("change", () => this.#later());
    addEventListener("focusin", () => this.#later());
    addEventListener("hashchange", () => {
      if (location.hash !== this.#written) this.follow().catch((error) => say(errorText(error)));
    });
  }

  async follow(): Promise<void> {
    const { place, problems } = parseLink(location.hash);
    this.#written = location.hash;
    const steps = (this.#session.get("tour") as unknown[] | undefined)?.length ?? 0;
    const resolved = await resolve(place, this.#run, this.#focus.names, steps);
    const all = [...problems, ...resolved.problems];
    say(all.length ? `Part of the link was ignored: ${all.join("; ")}.` : "");
    const { tour_step: step, ...state } = resolved.state;
    if (step !== undefined) goToStep(new SessionClient(this.#session as never), step);
    for (const [name, value] of Object.entries(state)) this.#session.set(name, value);
    if (Object.keys(state).length > 0) this.#session.set("source", "link");
    if (resolved.view) this.#focus.show(resolved.view);
  }

  get link(): string {
    const text = linkText(this.#place());
    return pageAddress(location.href) + (text && `#${text}`);
  }

  #place(): LinkTarget {
    const get = <K extends keyof SessionState>(name: K) =>
      this.#session.get(name) as SessionState[K];
    const nodes = get("selected") ?? [];
    const [entry, slice] = [get("entry"), get("slice")];
    const telling = entry && (entry[1] !== 0 || entry[0] !== nodes.at(-1));
    const step = this.#session.get("tour_step");
    return {
      nodes: nodes.map(String),
      entry: telling ? entry : null,
      slice: slice && nodes.includes(slice[0]) ? slice : null,
      time: get("time_range") ?? null,
      step: typeof step === "number" ? step : null,
      view: this.#focus.current(),
    };
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(), PAUSE_MS);
  }

  #write(): void {
    const text = linkText(this.#place());
    if (text === this.#written.replace(/^#/, "")) return;
    try {
      history.replaceState(history.state, "", `#${text}`);
      this.#written = location.hash;
    } catch {
      // A sandbox, or a document without an address of its own, keeps the one it has.
    }
  }
}

/** The page's address for other readers: of a file only its name, not its folders. */
export function pageAddress(href: string): string {
  const page = href.replace(/#.*$/s, "");
  return page.startsWith("file:") ? page.replace(/^.*\//, "") : page;
}
