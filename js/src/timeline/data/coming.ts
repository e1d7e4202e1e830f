import type { RunClient } from "../../shared/client/run_client.ts";
import { counted, percent } from "../../shared/format.ts";
import { inStretches } from "../../shared/stretches.ts";
import { element } from "../../shared/ui/dom.ts";
import type { Slices } from "./slices.ts";

/** What to say in place of what only the slices tell, where they are not all here. */
export function notHere({ count, columns: { info } }: Slices): string[] {
  const all = counted(count, "slice");
  if (info.binsOnly) return [all, info.binsOnly];
  if (info.whole) return [`${all}, loading`];
  return [
    `${all}: too many for this page`,
    "Zoom in to see each; run.times(by=…) aggregates them in Python.",
  ];
}

/** Says how many of the slices are here yet, in a corner of the stage. */
export class Coming {
  readonly node = element("output", { class: "tvmdbg-timeline-coming" });
  readonly #slices: Slices;
  readonly #run: RunClient;

  constructor(slices: Slices, run: RunClient) {
    this.#slices = slices;
    this.#run = run;
    this.#say(0, slices.count);
  }

  /** Whether there is anything to wait for. */
  static expects({ complete, columns: { info } }: Slices): boolean {
    return !complete && info.whole && !info.binsOnly;
  }

  /** Waits for the slices and takes them; without them the picture stays as coarse as it is. */
  async take(signal: AbortSignal): Promise<void> {
    try {
      const data = await this.#run.slices((done, total) => this.#say(done, total));
      if (data && !signal.aborted) await inStretches(this.#slices.filling(data), signal);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      this.node.textContent = `no more detail: ${why}`;
    }
  }

  #say(done: number, total: number): void {
    const share = percent(total > 0 ? done / total : 0);
    this.node.textContent = `reading ${counted(total, "slice")}: ${share}`;
  }
}
