import type { Viewport } from "../shared/drawing/canvas.ts";
import { bindAxisWheel } from "./scrolling.ts";
import type { Stage } from "./stage.ts";

const TO_PYTHON_MS = 300;

/** Moves the visible part of an axis, repaints, and tells Python once it rests. */
export class AxisCamera {
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly viewport: () => Viewport,
    readonly moved: () => void,
    readonly keep: (range: [start: number, end: number] | null) => void,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  move(change: (viewport: Viewport) => void): void {
    change(this.viewport());
    this.moved();
    clearTimeout(this.#timer);
    const { all, start, end } = this.viewport();
    this.#timer = setTimeout(() => this.keep(all ? null : [start, end]), TO_PYTHON_MS);
  }

  /** Shows a range that an option names, unless it is visible; null shows all. */
  follow(range: readonly [number, number] | null): void {
    const { all, start, end } = this.viewport();
    if (range === null ? all : range[0] === start && range[1] === end) return;
    this.move((viewport) => (range ? viewport.show(...range) : viewport.showAll()));
  }

  isAll(): boolean {
    return this.viewport().all;
  }

  all(): void {
    this.move((viewport) => viewport.showAll());
  }

  /** Moves by a share of the visible part. */
  pan(share: number): void {
    this.move((viewport) => viewport.pan(viewport.span * share));
  }

  /** Zooms around a place; around the middle if it is not visible. */
  zoom(factor: number, at = Number.NaN): void {
    this.move((viewport) => {
      const isSeen = at >= viewport.start && at <= viewport.end;
      viewport.zoom(factor, isSeen ? at : (viewport.start + viewport.end) / 2);
    });
  }

  /** Pans and zooms by the wheel; `placeAt` gives the place under a px of the stage. */
  onWheel(
    root: HTMLElement,
    { node: stage, canvas }: Stage,
    panBy: (px: number) => void,
    placeAt: (x: number) => number,
    signal: AbortSignal,
  ): void {
    bindAxisWheel(
      root,
      { stage, canvas },
      ({ panPx, zoom }, { x }) => (panPx ? panBy(panPx) : this.zoom(zoom, placeAt(x))),
      signal,
    );
  }
}
