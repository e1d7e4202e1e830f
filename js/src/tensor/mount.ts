import { bindKeys, type KeyAction } from "../shared/keys.ts";
import { errorText, message } from "../shared/message.ts";
import type { Mount } from "../shared/view.ts";
import { nextMap, nextRange, nextScale } from "./color_controls.ts";
import { Entries } from "./entries.ts";
import { Inspector } from "./inspector.ts";
import type { TensorOptions } from "./options.ts";
import { swapped } from "./plane.ts";

export type { TensorOptions };

/** Shows one tensor of the run at a time. */
export const mountTensor: Mount<TensorOptions> = async (root, context) => {
  const { run, signal } = context;
  root.classList.add("tvmdbg-tensor");
  root.setAttribute("role", "application");
  root.setAttribute("aria-label", "Tensor inspector");
  root.setAttribute("aria-roledescription", "tensor inspector");
  const busy = message("busy", "Reading the list of tensors…");
  const wait = setTimeout(() => root.append(busy), 150);
  try {
    const [tensors, graph, summary] = await Promise.all([
      run.tensors(),
      run.graph(),
      run.summary(),
    ]);
    if (signal.aborted) return;
    if (!tensors || tensors.node.length === 0) {
      const why = summary.missing.tensors ?? "The run holds none.";
      root.append(message("empty", "No tensors", why));
      bindKeys(root, [], signal);
      root.dataset.ready = "true";
      return;
    }
    const inspector = new Inspector(root, context, new Entries(tensors, graph), graph);
    bindKeys(root, actions(inspector), signal);
    inspector.start();
  } catch (error) {
    if (signal.aborted) return;
    root.append(
      message(
        "error",
        "The tensors could not be listed",
        `${errorText(error)}\nRun the cell again to retry.`,
      ),
    );
    root.dataset.ready = "true";
  } finally {
    clearTimeout(wait);
    busy.remove();
  }
};

const PAGE = 16;
const STRIDE = 10;

function actions(inspector: Inspector): KeyAction[] {
  const arrow = (rows: number, cols: number) => (event: KeyboardEvent) => {
    const stride = event.shiftKey ? STRIDE : 1;
    inspector.move(rows * stride, cols * stride);
  };
  const colors = () => inspector.colors;
  const end = Number.MAX_SAFE_INTEGER;
  return [
    { keys: ["ArrowUp"], does: "value above (shift: by ten)", run: arrow(-1, 0) },
    { keys: ["ArrowDown"], does: "value below", run: arrow(1, 0) },
    { keys: ["ArrowLeft"], does: "value to the left", run: arrow(0, -1) },
    { keys: ["ArrowRight"], does: "value to the right", run: arrow(0, 1) },
    { keys: ["Home"], does: "start of the row", run: () => inspector.move(0, -end) },
    { keys: ["End"], does: "end of the row", run: () => inspector.move(0, end) },
    { keys: ["PageUp"], does: `${PAGE} rows up`, run: () => inspector.move(-PAGE, 0) },
    { keys: ["PageDown"], does: `${PAGE} rows down`, run: () => inspector.move(PAGE, 0) },
    { keys: ["Escape"], does: "take the crosshair away", run: () => inspector.unmark() },
    { keys: ["m"], does: "go to the minimum", run: () => inspector.goToExtreme("argmin") },
    { keys: ["x"], does: "go to the maximum", run: () => inspector.goToExtreme("argmax") },
    { keys: ["i"], does: "next NaN or Inf of the picture", run: () => inspector.goToNext() },
    {
      keys: [",", "-"],
      does: "previous index of the first fixed axis",
      run: () => inspector.stepIndex(-1),
    },
    {
      keys: [".", "+"],
      does: "next index of the first fixed axis",
      run: () => inspector.stepIndex(1),
    },
    { keys: ["s"], does: "swap the two axes", run: () => inspector.look(swapped) },
    { keys: ["[", "p"], does: "previous tensor", run: () => inspector.step(-1) },
    { keys: ["]", "n"], does: "next tensor", run: () => inspector.step(1) },
    { keys: ["/"], does: "search a tensor", run: () => inspector.search() },
    { keys: ["v"], does: "table of values", run: () => inspector.toggleTable() },
    { keys: ["g"], does: "logarithmic counts", run: () => inspector.toggleCounts() },
    {
      keys: ["l"],
      does: "linear or symlog",
      run: () => inspector.setColors({ scale: nextScale(colors().scale) }),
    },
    {
      keys: ["c"],
      does: "next colours",
      run: () => inspector.setColors({ map: nextMap(colors().map) }),
    },
    {
      keys: ["r"],
      does: "next colour range",
      run: () => inspector.setColors({ range: nextRange(colors().range) }),
    },
    { keys: ["y"], does: "copy Python code for the value", run: () => inspector.copy() },
  ];
}
