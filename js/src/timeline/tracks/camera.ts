import type { ViewOptions } from "../../shared/ui/view_options.ts";
import { lengthOf } from "../data/gaps.ts";
import type { TimelineOptions } from "../state.ts";
import type { Scene } from "./scene.ts";

const TO_PYTHON_MS = 300;
/** Room on both sides of what is fitted, as a share of it. */
const MARGIN = 0.25;

/** Moves the part of the time axis in view, and tells the model. */
export class Camera {
  readonly #scene: Scene;
  readonly #options: ViewOptions<TimelineOptions>;
  readonly #moved: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    scene: Scene,
    options: ViewOptions<TimelineOptions>,
    moved: () => void,
    signal: AbortSignal,
  ) {
    this.#scene = scene;
    this.#options = options;
    this.#moved = moved;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** Changes the part in view. */
  move(change: () => void): void {
    change();
    this.#moved();
    clearTimeout(this.#timer);
    const { all, start, end } = this.#scene.viewport;
    this.#timer = setTimeout(() => {
      this.#options.set("time_range", all ? null : [start, end]);
    }, TO_PYTHON_MS);
  }

  all(): void {
    this.move(() => this.#scene.viewport.showAll());
  }

  /** By a share of the part in view. */
  pan(share: number): void {
    const { viewport } = this.#scene;
    this.move(() => viewport.pan(viewport.span * share));
  }

  /** At the pointer, else at the selected slice where it is in view, else at the middle. */
  zoom(factor: number): void {
    const { pointer, viewport, current, slices } = this.#scene;
    let at = (viewport.start + viewport.end) / 2;
    if (pointer) at = this.#scene.ns(pointer.x);
    else if (current >= 0) {
      const middle = (slices.startOf(current) + slices.endOf(current)) / 2;
      if (middle >= viewport.start && middle <= viewport.end) at = middle;
    }
    this.move(() => viewport.zoom(factor, at));
  }

  /** To the measured or marked range, the gap, or the selected slice; else to all. */
  fit(): void {
    const { slices, current, range, gap, measure, viewport } = this.#scene;
    const exact = measure?.range ?? range;
    if (exact && exact[0] < exact[1]) this.move(() => viewport.show(...exact));
    else if (gap) this.#around(gap.from, gap.to, lengthOf(gap));
    else if (current >= 0) {
      const lasts = slices.durationOf(current);
      this.#around(slices.startOf(current), slices.endOf(current), lasts);
    } else this.all();
  }

  /** Brings a time to the middle. */
  center(ns: number): void {
    this.move(() => this.#scene.viewport.center(ns));
  }

  reveal(from: number, to: number): void {
    this.move(() => this.#scene.viewport.reveal(from, to));
  }

  #around(from: number, to: number, length: number): void {
    const { viewport } = this.#scene;
    const margin = length > 0 ? length * MARGIN : viewport.whole / 1000;
    this.move(() => viewport.show(from - margin, to + margin));
  }
}
