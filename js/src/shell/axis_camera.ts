import type { Viewport } from "../shared/drawing/canvas.ts";
import { bindPointer, type PointerHandlers } from "./pointer.ts";
import { bindAxisWheel } from "./scrolling.ts";
import type { Stage } from "./stage.ts";

const TO_PYTHON_MS = 300;

/** The view of an axis. */
export interface AxisView {
  readonly scene: {
    readonly viewport: Viewport;
    /** Length of the axis, px. */
    readonly room: number;
    /** The place under a px of the stage. */
    at(x: number): number;
  };
  /** Repaints another visible part. */
  moved(): void;
  /** Tells Python a visible part that rests; null: all. */
  keep?(range: [start: number, end: number] | null): void;
}

/** Moves the visible part of an axis, repaints, and tells Python once it rests. */
export class AxisCamera {
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly view: AxisView,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  get viewport(): Viewport {
    return this.view.scene.viewport;
  }

  move(change: (viewport: Viewport) => void): void {
    change(this.viewport);
    this.view.moved();
    clearTimeout(this.#timer);
    const { all, start, end } = this.viewport;
    this.#timer = setTimeout(() => this.view.keep?.(all ? null : [start, end]), TO_PYTHON_MS);
  }

  /** Shows a range that an option names, unless it is visible; null shows all. */
  follow(range: readonly [number, number] | null): void {
    const { all, start, end } = this.viewport;
    if (range === null ? all : range[0] === start && range[1] === end) return;
    this.move((viewport) => (range ? viewport.show(...range) : viewport.showAll()));
  }

  isAll(): boolean {
    return this.viewport.all;
  }

  all(): void {
    this.move((viewport) => viewport.showAll());
  }

  /** Moves by a share of the visible part. */
  pan(share: number): void {
    this.move((viewport) => viewport.pan(viewport.span * share));
  }

  panBy(px: number): void {
    this.pan(px / this.view.scene.room);
  }

  /** Zooms around a place; around the middle if it is not visible. */
  zoom(factor: number, at = Number.NaN): void {
    this.move((viewport) => {
      const isSeen = at >= viewport.start && at <= viewport.end;
      viewport.zoom(factor, isSeen ? at : (viewport.start + viewport.end) / 2);
    });
  }

  /** Binds the pointer to the view, which a press gives the keys, and the wheel to the axis. */
  bind(root: HTMLElement, stage: Stage, view: PointerHandlers, signal: AbortSignal): void {
    const focus = () => root.focus({ preventScroll: true });
    stage.canvas.addEventListener("pointerdown", focus, { signal });
    bindPointer(stage.canvas, view, signal);
    this.onWheel(root, stage, signal);
  }

  /** Pans and zooms by the wheel. */
  onWheel(root: HTMLElement, stage: Stage, signal: AbortSignal): void {
    bindAxisWheel(
      root,
      stage,
      ({ panPx, zoom }, { x }) =>
        panPx ? this.panBy(panPx) : this.zoom(zoom, this.view.scene.at(x)),
      signal,
    );
  }
}
