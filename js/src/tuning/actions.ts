import { COPY_KEY } from "../shared/client/code_copy.ts";
import type { KeyAction } from "../shared/ui/keys.ts";
import { PANES } from "./data/options.ts";
import { PANE_LABELS } from "./panes/panes.ts";
import type { TuningView } from "./view.ts";

/** What the keys need of the view. */
type Steered = Pick<TuningView, "step" | "best" | "nextImprovement" | "nextFailure" | "otherTask"> &
  Pick<TuningView, "turnAxis" | "zoom" | "pan" | "showAll" | "countInView" | "nextSort"> &
  Pick<TuningView, "pin" | "focusQuery" | "showPane" | "copy" | "clear">;

/** What the keys do. */
export function actions(view: Steered): KeyAction[] {
  const key = (keys: string[], does: string, run: () => void): KeyAction => ({ keys, does, run });
  return [
    key(["ArrowLeft"], "previous trial", () => view.step(-1)),
    key(["ArrowRight"], "next trial", () => view.step(1)),
    key(["ArrowUp"], "task above in the table", () => view.otherTask(-1)),
    key(["ArrowDown"], "task below in the table", () => view.otherTask(1)),
    key(["Home"], "first trial", () => view.step(Number.NEGATIVE_INFINITY)),
    key(["End"], "last trial", () => view.step(Number.POSITIVE_INFINITY)),
    key(["b"], "best trial of the task", () => view.best()),
    key(["n"], "next improvement", () => view.nextImprovement()),
    key(["e"], "next failed trial", () => view.nextFailure()),
    key(["x"], "over trials or over wall time", () => view.turnAxis()),
    key(["w", "+", "="], "zoom in", () => view.zoom(1 / 1.5)),
    key(["s", "-"], "zoom out", () => view.zoom(1.5)),
    key(["a"], "pan left", () => view.pan(-0.2)),
    key(["d"], "pan right", () => view.pan(0.2)),
    key(["0"], "fit all trials", () => view.showAll()),
    key(["r"], "count only the trials in view", () => view.countInView()),
    key(["o"], "sort tasks by time, gain, errors or number", () => view.nextSort()),
    key(["p"], "keep this schedule and compare the next one", () => view.pin()),
    key(["/"], "filter trials", () => view.focusQuery()),
    ...PANES.map((pane, at) =>
      key([String(at + 1)], `show ${PANE_LABELS[pane].toLowerCase()}`, () => view.showPane(pane)),
    ),
    key([COPY_KEY], "copy Python code for the trial", () => view.copy()),
    key(["Escape"], "clear range, trial, task, filter", () => view.clear()),
  ];
}
