import type { Entry } from "../shared/client/tensor_questions.ts";
import type { LayoutWish } from "./choose/layout_picker.ts";
import type { CellChoice } from "./colors/color_scale.ts";
import type { Inspector } from "./inspector.ts";
import type { PictureEvents } from "./picture/picture.ts";
import type { Plane } from "./plane.ts";
import type { InspectorCommands, Region, ShowChoice } from "./state.ts";

/** What the panels of the inspector may do beyond what all parts may. */
export interface LayoutCommands
  extends InspectorCommands,
    Omit<PictureEvents, "point" | "pick" | "mark"> {
  pick(entry: Entry): void;
  /** Shows the first fault where nobody has chosen a tensor. */
  fault(entry: Entry): void;
  step(step: 1 | -1): void;
  /** Shows other axes or another index. */
  plane(plane: Plane): void;
  layout(wish: LayoutWish): void;
  cells(cells: CellChoice): void;
  show(show: ShowChoice): void;
  zoom(factor: number): void;
  /** Brings a part of the plane into sight; null brings all of it. */
  zoomTo(region: Region | null): void;
  whole(): void;
  /** Shows the plane at an index of an axis that has none. */
  open(axis: number, index: number): void;
  /** Goes to what was typed; says why where it cannot, else nothing. */
  typed(text: string): string;
  /** Another region is marked, or none. */
  marked(): void;
  copy(): void;
  words(): string;
}

/** Lets the panels of the inspector tell the inspector what to do. */
export function boardActs(inspector: Inspector): LayoutCommands {
  const mark: InspectorCommands["mark"] = (point) => inspector.panels.cross.mark(point);
  return {
    pick: (entry) => inspector.pick(entry),
    fault: (entry) => inspector.openAt(entry),
    step: (step) => inspector.step(step),
    leave: () => inspector.leave(),
    go: (index, space) => inspector.go(index, space),
    mark,
    recolor: (change) => inspector.recolor(() => change),
    look: (change) => inspector.value(change),
    read: (reading) => inspector.read(reading),
    along: (axis) => inspector.along(axis),
    nextAlong: () => inspector.nextAlong(),
    plane: (plane) => inspector.look(() => plane),
    layout: (wish) => inspector.lay(wish),
    cells: (cells) => inspector.cells(() => cells),
    show: (show) => inspector.display(() => show),
    zoomTo: (region) => inspector.steering.region(region),
    zoom: (factor) => inspector.steering.zoom(factor),
    whole: () => inspector.whole(),
    count: (go) => inspector.viewing.count(go),
    open: (axis, index) => inspector.open(axis, index),
    typed: (text) => inspector.typed(text),
    marked: () => inspector.marked(),
    copy: () => inspector.copy(),
    words: () => inspector.viewing.words(),
    wheel: (steps) => inspector.steering.index(steps),
    moved: () => inspector.moved(),
    resized: () => inspector.resized(),
    painted: () => inspector.painted(),
  };
}
