import { counted, duration } from "../shared/format.ts";
import { div, element } from "../shell/dom.ts";
import { factList, Tooltip } from "../shell/tooltip.ts";
import type { SliceDescriptions } from "./descriptions.ts";
import type { TimelineHit, TimelineScene } from "./tracks/scene.ts";

export class SliceTooltip extends Tooltip {
  readonly #scene: TimelineScene;
  readonly #words: SliceDescriptions;

  constructor(scene: TimelineScene, words: SliceDescriptions, signal: AbortSignal) {
    super(signal, "tvmdbg-timeline-tooltip");
    this.#scene = scene;
    this.#words = words;
  }

  /** Shows a hit beside a point of a part of the view. */
  showHit(hit: TimelineHit, part: HTMLElement, x: number, y: number): void {
    const key = "slice" in hit ? `${hit.slice} ${hit.instants}` : `gap ${hit.gap.from}`;
    this.show(key, () => this.#content(hit), part, x, y);
  }

  #content(hit: TimelineHit): Node[] {
    if (!("slice" in hit)) {
      const { track, from, to } = hit.gap;
      const { name } = this.#scene.slices.tracks[track]!;
      return [
        element("strong", {}, `idle for ${duration(to - from)}`),
        element("div", {}, `${name}, from ${duration(from)} to ${duration(to)}`),
      ];
    }
    const { names, slices } = this.#scene;
    const node = slices.nodeOf(hit.slice);
    const recorded = slices.nameOf(hit.slice);
    const title = this.#words.title(hit.slice);
    const full = names.fullName(node) || recorded;
    const name = title === full ? "" : full;
    const others = hit.instants - 1;
    return [
      element("strong", {}, title),
      ...(name ? [div("tvmdbg-muted", name)] : []),
      factList(this.#words.ofSlice(hit.slice, true)),
      ...(others > 0
        ? [div("tvmdbg-muted", `and ${counted(others, "more slice")}, ${slices.noTime}, here`)]
        : []),
    ];
  }
}
