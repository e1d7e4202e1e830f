import type { Client } from "./client.ts";
import { isAbort } from "./request.ts";
import type { HealthAnswer, ScanAnswer } from "./tensor_questions.ts";

const AGAIN_MS = 400;
/** The next question waits this many times as long as the last answer took. */
const PATIENCE = 2;

interface Questions<T> {
  ask(signal: AbortSignal, goOn: boolean): Promise<T>;
  stop(signal: AbortSignal): Promise<T>;
}

interface ScanHost<T> {
  answered(answer: T): void;
  failed(error: unknown): void;
}

/** True if the scan runs or is about to begin. */
export function isUnderWay({ state }: ScanAnswer): boolean {
  return state === "scanning" || state === "none";
}

/** Polls a scan until it is done or stopped. */
export class Scan<T extends ScanAnswer> {
  readonly #questions: Questions<T>;
  readonly #host: ScanHost<T>;
  readonly #signal: AbortSignal;
  /** Number of the current round of questions; replies to earlier rounds are ignored. */
  #round = 0;

  constructor(questions: Questions<T>, host: ScanHost<T>, signal: AbortSignal) {
    this.#questions = questions;
    this.#host = host;
    this.#signal = signal;
  }

  /** Starts a new round, which starts the scan; `goOn` also resumes a stopped one. */
  async start(goOn = false): Promise<void> {
    const round = ++this.#round;
    for (let first = true; ; first = false) {
      const again = goOn && first;
      const begun = performance.now();
      const answer = await this.#ask(round, () => this.#questions.ask(this.#signal, again));
      if (answer === null || !isUnderWay(answer)) return;
      const wait = Math.max(AGAIN_MS, PATIENCE * (performance.now() - begun));
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (this.#signal.aborted || round !== this.#round) return;
    }
  }

  async stop(): Promise<void> {
    await this.#ask(++this.#round, () => this.#questions.stop(this.#signal));
  }

  async #ask(round: number, question: () => Promise<T>): Promise<T | null> {
    const counts = () => round === this.#round && !this.#signal.aborted;
    try {
      const answer = await question();
      if (!counts()) return null;
      this.#host.answered(answer);
      return answer;
    } catch (error) {
      if (counts() && !isAbort(error)) this.#host.failed(error);
      return null;
    }
  }
}

export const Verdict = { NOT_SCANNED: 0, OK: 1, SUSPICIOUS: 2, FAULTY: 3, UNKNOWN: 4 } as const;
export const VERDICT_LABELS = [
  "not scanned",
  "OK",
  "suspicious",
  "faulty",
  "cannot be judged",
] as const;

/** Severity by verdict; the highest one is shown. */
const SEVERITY = [0, 1, 3, 4, 2] as const;

/** Short label of an entry whose values could not be read; `UNREAD` in `model/health.py`. */
export const UNREAD = "unreadable";

export function severity(verdict: number): number {
  return SEVERITY[verdict] ?? 0;
}

export function isSuspicious(verdict: number): boolean {
  return verdict === Verdict.FAULTY || verdict === Verdict.SUSPICIOUS;
}

/** Role of a node in a fault: none, origin, or a later node that the values spread to. */
export const Fault = { NONE: 0, ORIGIN: 1, SPREAD: 2 } as const;

/** `Fault` of each node of a graph. */
export function faultsOf({ node, verdict, source }: HealthAnswer, nodes: number): Uint8Array {
  const faults = new Uint8Array(nodes);
  for (const [row, entry] of node.entries()) {
    if (entry >= nodes || verdict[row] !== Verdict.FAULTY) continue;
    const spread = source[row]! >= 0 && source[row] !== entry;
    if (!spread) faults[entry] = Fault.ORIGIN;
    else if (faults[entry] === Fault.NONE) faults[entry] = Fault.SPREAD;
  }
  return faults;
}

export function firstFault(health: HealthAnswer): number {
  const first = nextSuspicious(health, -1);
  return first >= 0 && health.verdict[first] === Verdict.FAULTY ? first : -1;
}

/** Entry that the views open on once the scan has ended: what the findings name first, or the first fault. */
export function opensOn(health: HealthAnswer): [node: number, output: number] | null {
  if (health.opens) return [...health.opens];
  const fault = firstFault(health);
  return fault < 0 ? null : [health.node[fault]!, health.output[fault]!];
}

/** Number of entries by verdict, the worst first; verdicts that do not occur are left out. */
export function verdictCounts(verdicts: Uint8Array): [verdict: number, count: number][] {
  const counts: number[] = [];
  for (const verdict of verdicts) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return [...counts.entries()]
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => severity(b) - severity(a));
}

/** Row after `row` in the order of suspicion; the most suspicious one after the last or for an unknown row. */
export function nextSuspicious(health: HealthAnswer, row: number): number {
  const here = row >= 0 && isSuspicious(health.verdict[row]!) ? health.rank[row]! : -1;
  let [next, first] = [-1, -1];
  for (const [entry, rank] of health.rank.entries()) {
    if (!isSuspicious(health.verdict[entry]!)) continue;
    if (first < 0 || rank < health.rank[first]!) first = entry;
    if (rank > here && (next < 0 || rank < health.rank[next]!)) next = entry;
  }
  return next < 0 ? first : next;
}

/** Reports the health of a run while a scan goes on; starts a scan only for small runs. */
export function watchHealth(
  run: Client,
  judged: (answer: HealthAnswer) => void,
  signal: AbortSignal,
): void {
  const scan = healthScan(run, { answered: judged, failed: () => {} }, signal);
  run.ask("health", { glance: true }, signal).then(
    (answer) => {
      if (signal.aborted || answer.state === "none") return;
      judged(answer);
      if (isUnderWay(answer)) void scan.start();
    },
    () => {},
  );
}

export function healthScan(
  run: Client,
  host: ScanHost<HealthAnswer>,
  signal: AbortSignal,
): Scan<HealthAnswer> {
  return new Scan(
    {
      ask: (signal, goOn) => run.ask("health", goOn ? { goOn } : {}, signal),
      stop: async (signal) => {
        await run.ask("cancelFindings", {}, signal);
        return run.ask("health", {}, signal);
      },
    },
    host,
    signal,
  );
}
