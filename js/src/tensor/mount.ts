import { hinted, message } from "../shared/client/message.ts";
import { paletteAction } from "../shared/palette/palette.ts";
import { fullScreenAction } from "../shared/ui/full_screen.ts";
import { bindKeys } from "../shared/ui/keys.ts";
import type { Mount } from "../shared/ui/view.ts";
import { actions } from "./actions.ts";
import { Entries } from "./choose/entries.ts";
import { Inspector } from "./inspector.ts";
import type { TensorOptions } from "./options.ts";

export type { TensorOptions };

/** Shows one tensor of the run at a time. */
export const mountTensor: Mount<TensorOptions> = async (root, context) => {
  const { run, options, signal } = context;
  root.classList.add("tvmdbg-tensor");
  root.setAttribute("role", "application");
  root.setAttribute("aria-label", "Tensor inspector");
  root.setAttribute("aria-roledescription", "tensor inspector");
  const resize = () => {
    root.style.height = `${options.get("height")}px`;
  };
  options.onChange("height", resize, signal);
  resize();
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
      const why = summary.missing.tensors ?? "This run has none.";
      root.append(message("empty", "No tensors", why));
      bindKeys(root, [], signal);
      root.dataset.ready = "true";
      return;
    }
    const inspector = new Inspector(root, context, new Entries(tensors, graph), graph);
    bindKeys(
      root,
      [...actions(inspector), paletteAction(root, context), fullScreenAction(root)],
      signal,
    );
    inspector.start();
  } catch (error) {
    if (signal.aborted) return;
    root.append(
      message("error", "The tensors could not be listed", hinted(error, "Run the cell again.")),
    );
    root.dataset.ready = "true";
  } finally {
    clearTimeout(wait);
    busy.remove();
  }
};
