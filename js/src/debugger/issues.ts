import type { RunSummary } from "../shared/client/run_client.ts";
import { button, element } from "../shared/ui/dom.ts";

const NODES_SHOWN = 8;

/** Where the run comes from, and all that disagrees or is uncertain in it; nodes can be gone to. */
export function issuesPanel(summary: RunSummary, onNode: (node: number) => void): HTMLElement {
  const rows = summary.issues.map(({ severity, rule, message, nodes }) =>
    element(
      "li",
      { class: `tvmdbg-issue tvmdbg-${severity === "note" ? "muted" : severity}` },
      element("strong", {}, severity),
      ` ${message} `,
      element("code", {}, rule),
      ...nodes
        .slice(0, NODES_SHOWN)
        .map((node) => button(`#${node}`, `Go to node #${node}`, () => onNode(node))),
      nodes.length > NODES_SHOWN ? ` and ${nodes.length - NODES_SHOWN} more` : null,
    ),
  );
  const [format = "", ...evidence] = summary.provenance;
  return element(
    "div",
    {},
    rows.length
      ? element("ul", { "aria-label": "Issues" }, ...rows)
      : element("p", {}, "No issues."),
    element("p", {}, `Source: ${format}`),
    element("ul", {}, ...evidence.map((fact) => element("li", { class: "tvmdbg-muted" }, fact))),
  );
}
