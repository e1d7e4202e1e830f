import type { ViewContext } from "../shared/ui/view.ts";
import type { FindingsHead } from "./head.ts";
import { type FindingsOptions, FindingsPanel } from "./panel.ts";

/** Mounts the list of what was found in a run, with its counts and controls in `head`; it begins the scan of the tensors. */
export function mountFindings(
  root: HTMLElement,
  context: ViewContext<FindingsOptions>,
  head: FindingsHead,
): void {
  root.classList.add("tvmdbg-findings");
  root.setAttribute("role", "application");
  root.setAttribute("aria-roledescription", "findings");
  root.setAttribute(
    "aria-label",
    "Findings of the run: arrow keys move, Enter selects, f folds the list, ? lists all keys",
  );
  new FindingsPanel(root, context, head);
}
