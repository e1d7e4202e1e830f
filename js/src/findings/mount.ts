import type { Mount } from "../shared/view.ts";
import { FindingsPanel } from "./panel.ts";

/** Mounts the list of what was found in a run; it begins the scan of the tensors. */
export const mountFindings: Mount<object> = (root, context) => {
  root.classList.add("tvmdbg-findings");
  root.setAttribute("role", "application");
  root.setAttribute("aria-roledescription", "findings");
  root.setAttribute(
    "aria-label",
    "Findings in the run: up and down arrows go through them, Enter selects, ? lists all keys",
  );
  new FindingsPanel(root, context);
};
