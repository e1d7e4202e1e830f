import { errorText } from "../../shared/client/message.ts";
import { isAbort } from "../../shared/client/request.ts";
import type { TimelineQuestions } from "../../shared/client/timeline_client.ts";
import type { FindAnswer, FoundSlice } from "../../shared/client/timeline_columns.ts";
import { counted, duration } from "../../shared/format.ts";
import { type Place, parsed } from "./search.ts";

export interface FarSearchEvents {
  /** What is known of the hits; `wrong`: what is sought cannot be. */
  show(text: string, wrong: boolean): void;
  go(slice: FoundSlice): void;
}

/** Search among more slices than a page holds: the kernel looks. */
export class FarSearch {
  readonly #run: TimelineQuestions;
  readonly #events: FarSearchEvents;
  readonly #signal: AbortSignal;
  #text = "";
  #asked = 0;

  constructor(run: TimelineQuestions, events: FarSearchEvents, signal: AbortSignal) {
    this.#run = run;
    this.#events = events;
    this.#signal = signal;
  }

  search(typed: string): void {
    const { text, error } = parsed(typed);
    this.#text = error ? "" : text;
    if (error) this.#events.show(error, true);
    else if (!text) this.#events.show("", false);
    else {
      this.#events.show("searching …", false);
      void this.#ask({ at: 0 }, (found) => this.#events.show(said(found), false));
    }
  }

  /** Goes to the next hit from a place, or to the one before (`by` < 0). */
  next(from: Place, by: number): void {
    if (!this.#text) return;
    void this.#ask(from, (found) => {
      this.#events.show(said(found), false);
      const hit = by > 0 ? found.next : found.previous;
      if (hit) this.#events.go(hit);
    });
  }

  async #ask(from: Place, done: (found: FindAnswer) => void): Promise<void> {
    const asked = ++this.#asked;
    const regex = this.#text.length > 1 && this.#text.startsWith("/") && this.#text.endsWith("/");
    const text = regex ? this.#text.slice(1, -1) : this.#text;
    try {
      const found = await this.#run.find({ text, regex, ...from }, this.#signal);
      if (asked === this.#asked && !this.#signal.aborted) done(found);
    } catch (error) {
      if (asked === this.#asked && !isAbort(error)) this.#events.show(errorText(error), true);
    }
  }
}

function said({ count, selfNs }: FindAnswer): string {
  return count ? `${counted(count, "hit")}, self time Σ ${duration(selfNs)}` : "no hits";
}
