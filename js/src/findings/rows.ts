import type { Finding, FindingsAnswer } from "../shared/client/findings.ts";
import { agree, counted } from "../shared/format.ts";
import { append } from "../shared/many.ts";

/** A row of the list keeps its key for as long as it says the same thing, however its words change meanwhile. */
export interface Row {
  key: string;
  severity: Finding["severity"] | "noted";
  title: string;
  nodes: readonly number[];
  /** Position among the run's findings; null for what the user noted at a node. */
  rank: number | null;
  finding: Finding | null;
}

export const SEVERITIES = ["error", "warning", "hotspot", "info"] as const;
export const CHIPS = 3;

type Same = (a: Finding, b: Finding) => boolean;
/** What makes a finding the one that was there before, from the surest sign to the least sure. */
const SAMENESS: readonly Same[] = [
  (a, b) => a.title === b.title && a.nodes[0] === b.nodes[0],
  (a, b) => a.nodes[0] === b.nodes[0],
  () => true,
];

/** The rows of what is known now; rows that were there before keep their keys. */
export function rowsOf(
  before: readonly Row[],
  findings: readonly Finding[],
  notes: readonly (readonly [node: number, text: string])[],
  newKey: () => string,
): Row[] {
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

/** The node after or before the one looked at, among the row's; the first where it is none of them. */
export function nextNode({ nodes }: Row, node: number | null, by: number): number | null {
  if (nodes.length === 0) return null;
  const at = node === null ? -1 : nodes.indexOf(node);
  return at < 0 ? nodes[0]! : nodes[(at + by + nodes.length) % nodes.length]!;
}

/** A row in words, for screen readers. */
export function sentence(row: Row, place: number, of: number, open: boolean): string {
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

/** How many there are of each severity, none left out but those of which there is none. */
export function counts(
  findings: readonly Finding[],
): [severity: Finding["severity"], text: string][] {
  return SEVERITIES.map((severity): [Finding["severity"], number] => [
    severity,
    findings.filter((each) => each.severity === severity).length,
  ])
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => [
      severity,
      severity === "info" ? `${count} info` : counted(count, severity),
    ]);
}

/** How far the scan of the tensors is. */
export function progress({ state, done, total }: FindingsAnswer): string {
  const of = `${done.toLocaleString("en-US")} of ${counted(total, "tensor")}`;
  if (state === "none") return "scanning …";
  if (state === "scanning") return `scanning ${of} …`;
  if (state === "cancelled") return `stopped after ${of}`;
  return total > 0 ? `${counted(total, "tensor")} scanned` : "no tensors to scan";
}
