import { errorText } from "../shared/client/message.ts";
import { isAbort } from "../shared/client/request.ts";
import type { Bar } from "./bar.ts";
import type { TuningClient } from "./data/client.ts";
import type { Legend } from "./panes/legend.ts";

interface FilterParts {
  client: TuningClient;
  bar: Bar;
  legend: Legend;
  say: (text: string) => void;
  /** Puts what was found in the foreground, one byte a trial; null is all. */
  show: (mask: Uint8Array | null) => void;
}

/** The query for trials, and what became of it. */
export class TrialFilter {
  /** What is looked for; empty is all. */
  query = "";
  readonly #parts: FilterParts;

  constructor(parts: FilterParts) {
    this.#parts = parts;
  }

  async find(query: string): Promise<void> {
    const { client, bar, legend, say, show } = this.#parts;
    this.query = query;
    legend.mark(query);
    if (!query) {
      bar.showQuery("", "", false);
      show(null);
      return;
    }
    try {
      const { mask, caption } = await client.select(query);
      if (query !== this.query) return;
      bar.showQuery(query, caption.replace(`: ${query}`, ""), false);
      say(caption);
      show(mask);
    } catch (error) {
      if (query !== this.query || isAbort(error)) return;
      bar.showQuery(query, errorText(error), true);
      say(errorText(error));
      show(null);
    }
  }
}
