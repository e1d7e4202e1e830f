import type { AnyModel } from "@anywidget/types";
import type { SessionOptions as SessionState, TourStep } from "./options.ts";
import type { Entry } from "./tensor_questions.ts";

export type { SessionOptions as SessionState, TourStep } from "./options.ts";

const HOVER_TO_PYTHON_MS = 300;
const SHARED = ["selected", "entry", "slice", "time_range", "hovered"] as const;
export interface SessionSelection {
  /** Output of the node; the first by default. */
  output?: number;
  occurrence?: number;
}

export class SessionClient {
  readonly #model: AnyModel<SessionState>;
  /** Source of the change that this client makes just now; null for changes of others. */
  #source: string | null = null;
  #hoverTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(model: AnyModel<SessionState>) {
    this.#model = model;
  }

  get selected(): readonly number[] {
    return this.#model.get("selected") ?? [];
  }

  /** The last selected node, which single-node views show. */
  get node(): number | null {
    return this.selected.at(-1) ?? null;
  }

  /** Current entry: the chosen one if its node is selected, else the node's first output. */
  get entry(): Entry | null {
    return this.selected.length ? this.#entryAmong(this.selected) : this.#model.get("entry");
  }

  get slice(): readonly [node: number, occurrence: number] | null {
    const slice = this.#model.get("slice");
    return slice && this.selected.includes(slice[0]) ? slice : null;
  }

  get timeRange(): readonly [number, number] | null {
    return this.#model.get("time_range") ?? null;
  }

  get hovered(): number | null {
    return this.#model.get("hovered") ?? null;
  }

  get notes(): readonly (readonly [node: number, text: string])[] {
    return Object.entries(this.#model.get("notes") ?? {}).map(([node, text]) => [+node, text]);
  }

  note(node: number): string {
    return this.#model.get("notes")?.[node] ?? "";
  }

  get<Name extends keyof SessionState>(name: Name): SessionState[Name] | null {
    return this.#model.get(name) ?? null;
  }

  select(
    node: number | null,
    source: string,
    { output = 0, occurrence }: SessionSelection = {},
  ): void {
    this.write(
      {
        selected: node === null ? [] : [node],
        entry: node === null ? null : [node, output],
        slice: node === null || occurrence === undefined ? null : [node, occurrence],
      },
      source,
    );
  }

  toggle(node: number, source: string): void {
    const others = this.selected.filter((other) => other !== node);
    const selected = others.length === this.selected.length ? [...others, node] : others;
    const [entry, slice] = [this.#entryAmong(selected), this.slice];
    const kept = slice && selected.includes(slice[0]) ? ([...slice] as [number, number]) : null;
    this.write({ selected, entry, slice: kept }, source);
  }

  selectMany(nodes: readonly number[], source: string): void {
    this.write({ selected: [...nodes], entry: this.#entryAmong(nodes), slice: null }, source);
  }

  selectEntry(nodes: readonly number[], entry: Entry, source: string): void {
    this.write({ selected: [...nodes], entry: [entry[0], entry[1]], slice: null }, source);
  }

  /** Shows a hovered node at once in this page; Python gets it once the pointer rests. */
  hover(node: number | null): void {
    if (this.hovered === node) return;
    this.#model.set("hovered", node);
    clearTimeout(this.#hoverTimer);
    this.#hoverTimer = setTimeout(() => this.#model.save_changes(), HOVER_TO_PYTHON_MS);
  }

  /**
   * Calls back once per burst of changes of the named parts (by default: of the selection), with their source if this
   * client has made them all, else null. So a view knows its own change, also beside another view of its kind.
   */
  onChange(
    listener: (source: string | null) => void,
    signal: AbortSignal,
    parts: readonly ((typeof SHARED)[number] | "notes" | "tour" | "tour_step")[] = SHARED,
  ): void {
    let queued = false;
    let source: string | null = null;
    const onEvent = () => {
      source = queued && source !== this.#source ? null : this.#source;
      if (queued || signal.aborted) return;
      queued = true;
      queueMicrotask(() => {
        queued = false;
        if (!signal.aborted) listener(source);
      });
    };
    for (const part of parts) this.#model.on(`change:${part}`, onEvent);
    signal.addEventListener("abort", () => {
      for (const part of parts) this.#model.off(`change:${part}`, onEvent);
    });
  }

  /** Current entry for a selection: the previous one if selected, else the last node's first output; as in Python. */
  #entryAmong(selected: readonly number[]): [node: number, output: number] | null {
    const entry = this.#model.get("entry");
    if (entry && selected.includes(entry[0])) return entry;
    const node = selected.at(-1);
    return node === undefined ? null : [node, 0];
  }

  /** Writes several traits at once; unchanged ones are not sent. */
  write(change: Partial<SessionState>, source: string): void {
    const changed = (Object.entries(change) as [keyof SessionState, never][]).filter(
      ([name, value]) => JSON.stringify(this.#model.get(name)) !== JSON.stringify(value),
    );
    if (!changed.length) return;
    this.#source = source;
    for (const [name, value] of changed) this.#model.set(name, value);
    this.#source = null;
    this.#model.set("source", source);
    this.#model.save_changes();
  }
}

export function tourOf(session: SessionClient): readonly TourStep[] {
  return session.get("tour") ?? [];
}

export function stepOf(session: SessionClient): number | null {
  const step = session.get("tour_step");
  return step !== null && tourOf(session)[step] ? step : null;
}

/** Goes to a step of the tour and selects its subject; null ends the tour. */
export function goToStep(session: SessionClient, step: number | null): void {
  const target = step === null ? null : tourOf(session)[step];
  if (step !== null && !target) return;
  if (!target) {
    session.write({ tour_step: null }, "tour");
    return;
  }
  const { nodes, entry, slice, time_range } = target;
  session.write({ tour_step: step, selected: [...nodes], entry, slice, time_range }, "tour");
}
