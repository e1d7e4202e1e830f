import {
  isSuspicious,
  UNREAD,
  VERDICT_LABELS,
  Verdict,
  verdictCounts,
} from "../../shared/client/health.ts";
import { isUnderWay } from "../../shared/client/scan.ts";
import type { HealthAnswer } from "../../shared/client/tensor_questions.ts";
import { counted, integer, percent } from "../../shared/format.ts";

/** The state of a run in few words, beside the strip. */
export function stateWords(health: HealthAnswer): string {
  const { state, done, total } = health;
  if (total === 0) return "no tensors";
  if (isUnderWay(health)) return `${integer(done)} of ${integer(total)} …`;
  const found = countsWords(health);
  return state === "cancelled" ? `${found}; ${integer(done)} of ${integer(total)}` : found;
}

/** `16 faulty, 2 suspicious`; OK ones are only told of where nothing else is. */
function countsWords({ verdict, brief, total }: HealthAnswer): string {
  const counts = verdictCounts(verdict);
  const unread = brief.filter((each) => each === UNREAD).length;
  const told = counts.filter(([each]) => each !== Verdict.OK && each !== Verdict.NOT_SCANNED);
  if (told.length) {
    const words = told.map(([each, count]): [number, string] =>
      each === Verdict.UNKNOWN
        ? [count - unread, VERDICT_LABELS[each]]
        : [count, VERDICT_LABELS[each]!],
    );
    words.push([unread, `of ${integer(total)} could not be read`]);
    return words
      .filter(([count]) => count > 0)
      .map(([count, label]) => `${integer(count)} ${label}`)
      .join(", ");
  }
  const fine = counts.find(([each]) => each === Verdict.OK)?.[1] ?? 0;
  return fine === total ? `all ${integer(total)} OK` : `${integer(fine)} OK`;
}

/** All that the strip says of one entry, a line each. */
export function entryLines(health: HealthAnswer, row: number, title: string): string[] {
  const verdict = health.verdict[row]!;
  const words = health.words[row];
  const lines = [
    title,
    [health.brief[row] !== UNREAD && VERDICT_LABELS[verdict], words].filter(Boolean).join(": "),
  ];
  const facts: string[] = [];
  const [low, high] = [health.low[row]!, health.high[row]!];
  if (!Number.isNaN(low)) facts.push(`${rounded(low)} … ${rounded(high)}`);
  const shares = [
    [health.zero[row]!, "zero"],
    [health.saturated[row]!, "saturated"],
    [health.dead[row]!, "of channels dead"],
    [health.denormal[row]!, "denormal"],
  ] as const;
  for (const [share, what] of shares) if (share > 0) facts.push(`${percent(share)} ${what}`);
  if (facts.length) lines.push(facts.join(" · "));
  return lines;
}

function rounded(value: number): string {
  const text = String(Number(value.toPrecision(5)));
  return Number(text) === value ? text : `≈ ${text}`;
}

/** The suspicious row before (-1) or after (1) a row in execution order; -1 where there is none. */
export function suspiciousBeside({ verdict }: HealthAnswer, row: number, by: number): number {
  for (let each = row + by; each >= 0 && each < verdict.length; each += by) {
    if (isSuspicious(verdict[each]!)) return each;
  }
  return -1;
}

/** For the live region once the scan has ended. */
export function sentence(health: HealthAnswer): string {
  const of = counted(health.total, "tensor");
  const first =
    health.firstNonfinite < 0
      ? ""
      : ` The first with NaN or Inf is node ${health.node[health.firstNonfinite]!}.`;
  return `Health of ${of}: ${stateWords(health)}.${first}`;
}
