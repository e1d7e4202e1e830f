import { COPY_KEY } from "../shared/client/code_copy.ts";
import type { KeyAction } from "../shared/ui/keys.ts";
import type { MemoryView } from "./view.ts";

/** What the keys need of the view. */
type Steered = Pick<
  MemoryView,
  "scene" | "view" | "scroll" | "zoom" | "zoomToSelection" | "center"
> &
  Pick<MemoryView, "move" | "otherSlot" | "sameSlot" | "peak" | "pick" | "copy"> &
  Pick<MemoryView, "showParameters" | "nextColor">;

/** What the keys do. */
export function actions(view: Steered): KeyAction[] {
  const { viewport } = view.scene;
  const pan = (share: number) => view.view(() => viewport.pan(viewport.span * share));
  const key = (keys: string[], does: string, run: () => void): KeyAction => ({ keys, does, run });
  return [
    key(["ArrowLeft"], "previous node", () => view.move(-1)),
    key(["ArrowRight"], "next node", () => view.move(1)),
    key(["ArrowUp"], "entry in the slot above", () => view.otherSlot(-1)),
    key(["ArrowDown"], "entry in the slot below", () => view.otherSlot(1)),
    key([","], "previous entry in this slot", () => view.sameSlot(-1)),
    key(["."], "next entry in this slot", () => view.sameSlot(1)),
    key(["PageUp"], "slots above", () => view.scroll(-0.9)),
    key(["PageDown"], "slots below", () => view.scroll(0.9)),
    key(["Home"], "first node", () => view.move(-Infinity)),
    key(["End"], "last node", () => view.move(Infinity)),
    key(["p"], "go to the peak", () => view.peak()),
    key(["w", "+", "="], "zoom in", () => view.zoom(1 / 1.5)),
    key(["s", "-"], "zoom out", () => view.zoom(1.5)),
    key(["a"], "pan left", () => pan(-0.2)),
    key(["d"], "pan right", () => pan(0.2)),
    key(["f"], "zoom to the lifetime of the selected entry", () => view.zoomToSelection()),
    key(["0"], "fit the whole run", () => view.view(() => viewport.showAll())),
    key(["Enter"], "center the selected entry", () => view.center()),
    key(["m"], "show or hide the parameters", () => view.showParameters()),
    key(["c"], "color by kind or by size", () => view.nextColor()),
    key([COPY_KEY], "copy Python code for the selection", () => view.copy()),
    key(["Escape"], "clear the selection", () => view.pick(-1)),
  ];
}
