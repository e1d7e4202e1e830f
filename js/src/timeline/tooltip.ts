import { counted, duration } from "../shared/format.ts";
import { shortName } from "../shared/short_name.ts";
import { Tooltip, titled } from "../shell/tooltip.ts";
import type { SliceDescriptions } from "./descriptions.ts";
import type { TimelineHit, TimelineScene } from "./tracks/scene.ts";

/** Length of a title on one line. */
const LETTERS = 60;

export class SliceTooltip extends Tooltip {
  readonly #scene: TimelineScene;
  readonly #words: SliceDescriptions;

  constructor(scene: TimelineScene, words: SliceDescriptions, signal: AbortSignal) {
    super(signal, "tvmdbg-timeline-tooltip");
    this.#scene = scene;
    this.#words = words;
  }

  /** Shows a hit beside its slice or gap in a part of the view. */
  showHit(hit: TimelineHit, part: HTMLElement, x: number, y: number): void {
    const key = "slice" in hit ? `${hit.slice} ${hit.instants}` : `gap ${hit.gap.from}`;
    this.show(key, () => titled(...this.#lines(hit)), part, x, y, this.#scene.boxOf(hit));
  }

  #lines(hit: TimelineHit): [title: string, ...lines: string[]] {
    if (!("slice" in hit)) {
      const { track, from, to } = hit.gap;
      const { name } = this.#scene.slices.tracks[track]!;
      const when = `${name}, from ${duration(from)} to ${duration(to)}`;
      return [`idle for ${duration(to - from)}`, when];
    }
    const [time, fact] = this.#words.brief(hit.slice);
    const others = hit.instants - 1;
    const more = `and ${counted(others, "more slice")}, ${this.#scene.slices.noTime}, here`;
    return [shortName(this.#words.title(hit.slice), LETTERS), time, others > 0 ? more : fact];
  }
}
