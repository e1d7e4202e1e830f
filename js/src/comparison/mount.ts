import { errorText, hinted, message } from "../shared/client/message.ts";
import { isAbort } from "../shared/client/request.ts";
import { element } from "../shared/ui/dom.ts";
import type { ComparisonContext } from "./context.ts";
import { ComparisonData } from "./data.ts";
import { ComparisonView } from "./view.ts";

/** Mounts a comparison into `root`, which carries the class `tvmdbg`. */
export async function mountComparison(
  root: HTMLElement,
  context: ComparisonContext,
): Promise<void> {
  root.classList.add("tvmdbg-comparison");
  root.replaceChildren(message("busy", "comparing the graphs …"));
  let data: ComparisonData;
  try {
    data = new ComparisonData(await context.ask());
  } catch (error) {
    if (context.signal.aborted || isAbort(error)) return;
    const hint = "Run the cell again; tvmdbg.compare(a, b) gives the same as text.";
    root.replaceChildren(message("error", "The runs could not be compared", hinted(error, hint)));
    root.dataset.ready = "true";
    return;
  }
  if (context.signal.aborted) return;
  const view = new ComparisonView(root, context, data);
  try {
    await view.mount();
  } catch (error) {
    if (context.signal.aborted) return;
    root.append(element("div", {}, message("error", "A graph failed", errorText(error))));
  }
  root.dataset.ready = "true";
}
