import type { InspectorLayout } from "./inspector_layout.ts";
import { fixedAxes, type Plane, withIndex } from "./plane.ts";
import { hasValues, type Region } from "./state.ts";

/** Moves what is in sight, and the crosshair or the choice of a channel, by steps. */
export class Steering {
  readonly #panels: InspectorLayout;
  readonly #plane: () => Plane | null;
  readonly #look: (plane: Plane) => void;

  constructor(panels: InspectorLayout, plane: () => Plane | null, look: (plane: Plane) => void) {
    this.#panels = panels;
    this.#plane = plane;
    this.#look = look;
  }

  /** Goes in by a factor at the crosshair, else in the middle. */
  zoom(factor: number): void {
    const { picture, cross } = this.#panels;
    const at = cross.point && picture.placeOf(cross.point);
    if (picture.viewport.zoom(factor, at ?? undefined)) picture.moved();
  }

  /** Brings a part of the plane into sight; null brings all of it. */
  region(region: Region | null): void {
    this.#panels.picture.viewport.show(region);
    this.#panels.picture.moved();
  }

  /** Moves what is in sight by shares of itself. */
  pan(right: number, down: number): void {
    const { picture } = this.#panels;
    const plot = picture.viewport.layout?.plot;
    if (plot && picture.viewport.pan(-right * plot.width, -down * plot.height)) picture.moved();
  }

  /** Moves the crosshair, or the choice among channels where those are shown. */
  move(rows: number, cols: number): void {
    const { shown, channels, cross } = this.#panels;
    const plane = this.#plane();
    if (shown?.show === "channels") channels.move(rows, cols);
    else if (plane && shown?.answer && hasValues(shown.answer)) cross.move(plane, rows, cols);
  }

  /** Moves the corner of the region that is marked, which begins at the crosshair. */
  mark(rows: number, cols: number): void {
    const { shown, cross, marked } = this.#panels;
    const plane = this.#plane();
    if (!plane || shown?.show !== "picture" || !shown.answer?.tile) return;
    cross.put(marked.extend(plane, cross.point ?? { row: 0, col: 0 }, rows, cols));
  }

  /** Moves along the first axis that is held at one index. */
  index(steps: number): void {
    const plane = this.#plane();
    const axis = plane && fixedAxes(plane).find((each) => plane.shape[each]! > 1);
    if (!plane || axis === null || axis === undefined) return;
    this.#look(withIndex(plane, axis, plane.index[axis]! + steps));
  }
}
