/** A ranked statement about the run; see `tvmdbg_widgets/model/verdicts/findings.py`. */
export interface Finding {
  rule: string;
  severity: "error" | "warning" | "hotspot" | "info";
  title: string;
  evidence: string[];
  confidence: "high" | "medium" | "low";
  /** What the confidence rests on. */
  why: string;
  nodes: number[];
  entries: [node: number, output: number][];
  /** What to do next. */
  next: string;
}

/** What is known so far, ranked; the first question starts the scan of the tensors. */
export interface FindingsAnswer {
  state: "scanning" | "done" | "cancelled" | "none";
  /** Tensors scanned, of how many. */
  done: number;
  total: number;
  findings: Finding[];
}
