import type { Mount } from "../shared/view.ts";
import { type FindingsOptions, FindingsPanel } from "./panel.ts";

/** Mounts the list of what was found in a run; it begins the scan of the tensors. */
export const mountFindings: Mount<FindingsOptions> = (root, context) => {
  root.classList.add("tvmdbg-findings");
  root.setAttribute("role", "application");
  root.setAttribute("aria-roledescription", "findings");
  root.setAttribute(
    "aria-label",
    "Findings of the run: arrow keys move, Enter selects, f folds the list, ? lists all keys",
  );
  new FindingsPanel(root, context);
};
