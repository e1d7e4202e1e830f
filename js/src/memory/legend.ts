import type { Chip } from "../shared/drawing/figure_parts.ts";
import { kindFill } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { ELSEWHERE, FAINT } from "./offsets.ts";
import type { Plan } from "./plan.ts";

const KINDS = 8;

/** What the colors of the lives mean: kinds of operators, those of most bytes first. */
export function chipsOf(plan: Plan): Chip[] {
  const kinds = kindsOf(plan);
  const found: Chip[] = kinds.slice(0, KINDS).map((kind) => ({
    name: kind,
    fill: (theme) => kindFill(theme, kind),
  }));
  const more = kinds.length - KINDS;
  if (more > 0) found.push({ name: `and ${counted(more, "more kind")}` });
  if (plan.columns.info.buffers) {
    found.push({ name: ELSEWHERE, fill: (theme) => theme.muted, alpha: FAINT });
  }
  return found;
}

/** Kinds of the nodes whose entries lie in the workspace. */
function kindsOf(plan: Plan): string[] {
  const { codes, unique } = plan.graph.opKinds;
  const bytes = new Float64Array(unique.length).fill(-1);
  for (let entry = 0; entry < plan.owner.length; entry++) {
    if (plan.rowOfEntry(entry) < 0) continue;
    const code = codes[plan.owner[entry]!]!;
    bytes[code] = Math.max(0, bytes[code]!) + Math.max(0, plan.columns.entryBytes[entry]!);
  }
  const found = Array.from(bytes.keys()).filter((code) => bytes[code]! >= 0);
  return found.sort((a, b) => bytes[b]! - bytes[a]!).map((code) => unique[code]!);
}
