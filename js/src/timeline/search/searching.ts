import type { TimelineQuestions } from "../../shared/client/timeline_client.ts";
import type { FoundSlice } from "../../shared/client/timeline_columns.ts";
import { duration } from "../../shared/format.ts";
import { LISTED } from "../../shared/ui/hit_list.ts";
import type { Bar } from "../bar.ts";
import type { Data } from "../data.ts";
import { Called } from "../sums/called.ts";
import type { Camera } from "../tracks/camera.ts";
import { FarSearch } from "./far_search.ts";
import { HitRows } from "./hit_rows.ts";
import { Found, type Place, parsed } from "./search.ts";

export interface SearchingHost {
  readonly data: Data;
  readonly camera: Camera;
  bar(): Bar;
  say(text: string): void;
  pick(slice: number): void;
  /** Other slices are found than before. */
  changed(): void;
}

/** What is searched, where the hits are told and gone through; in the page or, where it lacks slices, by the kernel. */
export class Searching {
  readonly #host: SearchingHost;
  readonly #far: FarSearch | null;
  #found: Found;
  #rows: HitRows | null = null;
  #text = "";
  /** A slice that is on its way to the page, and is then to be selected. */
  #awaited: FoundSlice | null = null;

  constructor(host: SearchingHost, run: TimelineQuestions, signal: AbortSignal) {
    this.#host = host;
    const { slices, names } = host.data;
    this.#found = new Found(slices, names, parsed(""));
    const far = {
      show: (text: string, wrong: boolean) => host.bar().showHits(text, wrong),
      go: (found: FoundSlice) => this.#go(found),
    };
    this.#far = slices.columns.info.whole ? null : new FarSearch(run, far, signal);
  }

  search(text: string): void {
    this.#text = text;
    if (this.#far) {
      this.#far.search(text);
      return;
    }
    const { slices, names, scene } = this.#host.data;
    this.#found = new Found(slices, names, parsed(text));
    scene.found = this.#found.marked;
    const { marked } = this.#found;
    const called = new Called(slices, names, this.#host.data.graph);
    this.#rows = text ? new HitRows(marked, slices, called) : null;
    this.#host.bar().list.show(this.#rows?.rows(LISTED) ?? [], this.#rows?.total);
    this.show();
    this.#host.changed();
  }

  /** The slices are here: those of what was sought meanwhile are found. */
  arrived(): void {
    if (this.#text && !this.#far) this.search(this.#text);
  }

  /** Goes to what a row of the list stands for: to its next slice from here on. */
  go(row: number): void {
    const slice = this.#rows?.sliceOf(row, this.#here(1)) ?? -1;
    if (slice >= 0) this.#host.pick(slice);
    this.show();
  }

  /** Searches no more; false where nothing was searched. */
  end(): boolean {
    if (!this.#text) return false;
    this.#host.bar().clearSearch();
    this.search("");
    this.#host.say("search ended");
    return true;
  }

  next(by: number): void {
    if (this.#far) {
      this.#far.next(this.#here(by), by);
      return;
    }
    const slice = this.#found.next(this.#here(by), by);
    if (slice >= 0) this.#host.pick(slice);
    this.show();
  }

  /** Says how many hits there are, and which of them the selected slice is. */
  show(): void {
    if (this.#far) return;
    const { current } = this.#host.data.scene;
    this.#host.bar().showHits(this.#found.text(current), this.#found.error !== "");
  }

  /** More slices may be on the page now. */
  painted(): void {
    const slice = this.#awaited?.slice ?? -1;
    if (Number.isNaN(this.#host.data.slices.startOf(slice))) return;
    this.#awaited = null;
    this.#host.pick(slice);
  }

  /** Where one is: at the selected slice where some of it is in view, else at the beginning of the view, or its end. */
  #here(by: number): Place {
    if (this.#awaited) return { at: this.#awaited.start, slice: this.#awaited.slice };
    const { slices, scene } = this.#host.data;
    const { current, viewport } = scene;
    const start = slices.startOf(current);
    if (start <= viewport.end && slices.endOf(current) >= viewport.start) {
      return { at: start, slice: current };
    }
    return { at: by > 0 ? viewport.start : viewport.end };
  }

  /** Brings a slice into view that the page may not hold yet, and selects it as soon as it does. */
  #go(found: FoundSlice): void {
    const { name, start, duration: lasts } = found;
    const margin = 10 * Math.max(1, lasts);
    const { viewport, slices } = this.#host.data.scene;
    this.#awaited = found;
    this.#host.camera.move(() => viewport.show(start - margin, start + lasts + margin));
    this.#host.say(`Found ${name}, starts ${duration(start)}, lasts ${slices.told(lasts)}`);
  }
}
