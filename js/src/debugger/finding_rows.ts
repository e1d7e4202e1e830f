import type { Finding, FindingsAnswer } from "../shared/client/answers.ts";
import { agree, counted } from "../shared/format.ts";
import { append } from "../shared/many.ts";
import { button, element, relabel, span } from "../shell/dom.ts";

/** A row of the list keeps its key while it reports the same fact, even if its words change. */
export interface FindingRow {
  key: string;
  severity: Finding["severity"] | "noted";
  title: string;
  nodes: readonly number[];
  rank: number | null;
  finding: Finding | null;
}

export const SEVERITIES = ["error", "warning", "hotspot", "info"] as const;
export const CHIPS = 3;

/** Tests for the same finding as before, the surest first. */
const SAMENESS: readonly ((a: Finding, b: Finding) => boolean)[] = [
  (a, b) => a.title === b.title && a.nodes[0] === b.nodes[0],
  (a, b) => a.nodes[0] === b.nodes[0],
  () => true,
];

export function rowsOf(
  before: readonly FindingRow[],
  findings: readonly Finding[],
  notes: readonly (readonly [node: number, text: string])[],
  newKey: () => string,
): FindingRow[] {
  const free = before.filter(({ finding }) => finding !== null);
  const keys = new Map<Finding, string>();
  for (const same of SAMENESS) {
    for (const finding of findings) {
      if (keys.has(finding)) continue;
      const at = free.findIndex(
        (row) => row.finding!.rule === finding.rule && same(row.finding!, finding),
      );
      if (at >= 0) keys.set(finding, free.splice(at, 1)[0]!.key);
    }
  }
  return [
    ...findings.map((finding, rank) => ({
      key: keys.get(finding) ?? newKey(),
      severity: finding.severity,
      title: finding.title,
      nodes: finding.nodes,
      rank,
      finding,
    })),
    ...notes.map(([node, text]) => ({
      key: `noted-${node}`,
      severity: "noted" as const,
      title: text,
      nodes: [node],
      rank: null,
      finding: null,
    })),
  ];
}

const FUSED = /(#[\d:]+ \w+) (?:\+ (?:\w+|…) )+\+ (\w+)/gu;

/** A title for one line: of fused operators with an id the first and the last. */
export function brief(title: string): string {
  return title.replace(FUSED, "$1 + … + $2");
}

export function nextNode({ nodes }: FindingRow, node: number | null, by: number): number | null {
  if (nodes.length === 0) return null;
  const at = node === null ? -1 : nodes.indexOf(node);
  return at < 0 ? nodes[0]! : nodes[(at + by + nodes.length) % nodes.length]!;
}

export function sentence(row: FindingRow, place: number, of: number, open: boolean): string {
  const nodes = row.nodes.slice(0, CHIPS).join(", ");
  const more = row.nodes.length > CHIPS ? ` and ${row.nodes.length - CHIPS} more` : "";
  const { finding } = row;
  const parts = [
    `${row.severity === "noted" ? "Note" : "Finding"} ${place + 1} of ${of}`,
    finding ? `${finding.severity}, ${finding.confidence} confidence: ${row.title}` : row.title,
  ];
  if (nodes) parts.push(`${agree(row.nodes.length, "node", "nodes")} ${nodes}${more}`);
  if (finding && open) {
    append(parts, [...finding.evidence, finding.why, finding.next && `next: ${finding.next}`]);
  } else if (finding) parts.push("folded");
  return `${parts.filter(Boolean).join("; ")}.`;
}

export function counts(
  findings: readonly Finding[],
): [severity: Finding["severity"], text: string][] {
  return SEVERITIES.map((severity): [Finding["severity"], number] => [
    severity,
    findings.filter((finding) => finding.severity === severity).length,
  ])
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => [
      severity,
      severity === "info" ? `${count} info` : counted(count, severity),
    ]);
}

export function progress({ state, done, total }: FindingsAnswer): string {
  const of = `${done.toLocaleString("en-US")} of ${counted(total, "tensor")}`;
  if (state === "none") return "scanning …";
  if (state === "scanning") return `scanning ${of} …`;
  if (state === "cancelled") return `stopped after ${of}`;
  return total > 0 ? `${counted(total, "tensor")} scanned` : "no tensors to scan";
}

const FOLD = "Fold all findings to one line (f)";
const UNFOLD = "Show all findings (f)";

/** Counts of findings and progress of the scan, with buttons, for the bar of the enclosing view. */
export class FindingsHead {
  readonly fold = button("▾", FOLD, () => this.onFold());
  readonly counts = span("tvmdbg-findings-counts tvmdbg-inline tvmdbg-gap-12 tvmdbg-fixed");
  readonly progress = span("tvmdbg-findings-progress tvmdbg-nowrap tvmdbg-muted");
  readonly meter = element("progress", { class: "tvmdbg-findings-meter", hidden: true });
  readonly stop = button("stop", "Stop scanning tensors (s)", () => this.onStop());
  readonly tools = element("span", {
    class: "tvmdbg-joined",
    role: "group",
    "aria-label": "findings",
  });
  onFold = () => {};
  onStop = () => {};

  constructor() {
    this.fold.classList.add("tvmdbg-findings-fold");
    this.stop.hidden = true;
    this.progress.textContent = "scanning …";
  }

  get items(): HTMLElement[] {
    return [this.fold, this.counts, this.progress, this.meter, this.stop, this.tools];
  }

  showFolded(folded: boolean): void {
    this.fold.setAttribute("aria-expanded", String(!folded));
    relabel(this.fold, folded ? "▸" : "▾", folded ? UNFOLD : FOLD);
  }

  show(answer: FindingsAnswer): void {
    const { state, done, total, findings } = answer;
    this.progress.textContent = progress(answer);
    this.meter.hidden = state !== "scanning";
    this.meter.max = Math.max(1, total);
    this.meter.value = done;
    this.stop.hidden = state !== "scanning" && state !== "cancelled";
    const act = state === "cancelled" ? "Resume" : "Stop";
    relabel(this.stop, act.toLowerCase(), `${act} scanning tensors (s)`);
    const chips = counts(findings).map(([severity, text]) =>
      span(
        `tvmdbg-findings-count tvmdbg-finding-${severity}`,
        element("i", { class: `tvmdbg-icon tvmdbg-icon-${severity}`, "aria-hidden": "true" }),
        text,
      ),
    );
    this.counts.replaceChildren(...chips);
  }

  /** Ends a failed scan. */
  clear(): void {
    this.meter.hidden = this.stop.hidden = true;
    this.progress.textContent = "";
  }
}
