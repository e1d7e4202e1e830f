import { isAbort } from "../shared/client/request.ts";
import type { RunClient } from "../shared/client/run_client.ts";
import type { CriticalColumns } from "../shared/client/run_parts.ts";
import { duration } from "../shared/format.ts";
import type { ViewOptions } from "../shared/ui/view_options.ts";
import { Marked } from "./data/marked.ts";
import type { Data } from "./data.ts";
import type { Fact } from "./descriptions.ts";
import type { TimelineOptions } from "./state.ts";

/** Slack of so many nodes is asked for without being wanted: it is there when a slice is looked at. */
const FEW = 20_000;
const NONE = "This run does not record which nodes depend on which.";

export interface CriticalEvents {
  /** The marks have changed. */
  changed(): void;
  say(text: string): void;
  select(nodes: readonly number[]): void;
}

/** The critical path: marks on its slices, and the slack of every node. */
export class Critical {
  readonly #run: RunClient;
  readonly #data: Data;
  readonly #options: ViewOptions<TimelineOptions>;
  readonly #events: CriticalEvents;
  readonly #signal: AbortSignal;
  #asked: Promise<CriticalColumns | null> | null = null;
  #known: CriticalColumns | null = null;
  #missing = "";

  constructor(
    run: RunClient,
    data: Data,
    options: ViewOptions<TimelineOptions>,
    events: CriticalEvents,
    signal: AbortSignal,
  ) {
    this.#run = run;
    this.#data = data;
    this.#options = options;
    this.#events = events;
    this.#signal = signal;
    options.onChange("critical", () => void this.#mark(), signal);
    const nodes = data.graph?.kinds.length ?? 0;
    if (options.get("critical")) void this.#mark();
    else if (nodes > 0 && nodes <= FEW) requestAnimationFrame(() => void this.#ask());
  }

  /** Marks the path, or takes the marks away. */
  toggle(): void {
    const on = !this.#options.get("critical");
    this.#options.set("critical", on);
    if (on) void this.#mark(true);
    else {
      void this.#mark();
      this.#events.say("critical path not marked");
    }
  }

  /** The slices are here. */
  arrived(): void {
    if (this.#options.get("critical")) void this.#mark();
  }

  /** Selects every operator of the path at once. */
  async selectAll(): Promise<void> {
    const found = await this.#ask();
    if (this.#signal.aborted) return;
    if (!found) this.#events.say(this.#why);
    else {
      this.#events.select([...found.path].filter((node) => this.#data.names.isOperator(node)));
      this.#events.say(found.info.said.join("; "));
    }
  }

  /** The slack of a node as far as it is known. */
  facts(node: number): Fact[] {
    const slack = this.#known?.slack[node];
    if (slack === undefined || Number.isNaN(slack)) return [];
    if (!this.#data.names.isOperator(node)) return [];
    const parallel = this.#known!.info.sequential ? " if branches run in parallel" : "";
    if (slack > 0) return [["slack", `${duration(slack)}${parallel}`]];
    const comma = parallel && ",";
    return [["slack", `0 (on the critical path${comma}${parallel})`]];
  }

  get #why(): string {
    return this.#missing || NONE;
  }

  async #mark(tell = false): Promise<void> {
    const { scene, slices } = this.#data;
    if (!this.#options.get("critical")) {
      scene.critical = null;
      this.#events.changed();
      return;
    }
    const found = await this.#ask();
    if (this.#signal.aborted || !this.#options.get("critical")) return;
    if (found) {
      const marked = [...found.path].flatMap((node) => [...slices.of(node)]);
      scene.critical = new Marked(slices.count, marked);
    }
    if (tell) this.#events.say(found ? found.info.said.join("; ") : this.#why);
    this.#events.changed();
  }

  #ask(): Promise<CriticalColumns | null> {
    this.#asked ??= this.#read();
    return this.#asked;
  }

  async #read(): Promise<CriticalColumns | null> {
    try {
      const found = await this.#run.critical();
      const isMissing = found !== null && "missing" in found;
      this.#missing = isMissing ? found.missing : "";
      this.#known = isMissing ? null : found;
      if (!this.#signal.aborted) this.#events.changed();
    } catch (error) {
      this.#asked = null;
      if (!isAbort(error)) this.#missing = String(error);
    }
    return this.#known;
  }
}
