import type { Entry } from "../shared/client/tensor_questions.ts";
import type { LayoutWish } from "./choose/layout_picker.ts";
import type { CellChoice } from "./colors/color_scale.ts";
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
