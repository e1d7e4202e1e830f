import { button, element } from "../shared/dom.ts";
import { counted, integer } from "../shared/format.ts";
import { verdictCounts } from "../shared/health.ts";
import { isUnderWay } from "../shared/scan.ts";
import { inkOn } from "../shared/theme.ts";
import { isUnknown, type NodeHealth, verdictLabel, verdictSign, weight } from "./health.ts";
import type { Palette } from "./palette.ts";

export interface HealthActs {
  /** Goes to the next node of a verdict. */
  next(verdict: number): void;
  stop(): void;
  goOn(): void;
}

/** What the fills say of the values of nodes, how many there are of each, and how far the scan is. */
export function healthKey(
  health: NodeHealth | null,
  palette: Palette,
  acts: HealthActs,
): HTMLElement {
  const node = element("span", { class: "tvmdbg-graph-scale tvmdbg-graph-health" });
  if (!health) node.append("looking at the tensors …");
  else if (health.answer.total === 0) node.append("the run holds no tensors");
  else {
    const counts = verdictCounts(health.verdict).sort(([a], [b]) => weight(b) - weight(a));
    node.append(...counts.map(([verdict, count]) => chip(verdict, count, palette, acts)));
    node.append(...progress(health, acts));
  }
  return node;
}

function chip(verdict: number, count: number, palette: Palette, acts: HealthActs): HTMLElement {
  const label = verdictLabel(verdict);
  const title = `${counted(count, "node")} ${label}: go to the next`;
  const chip = button("", title, () => acts.next(verdict));
  const swatch = element("span", { class: "tvmdbg-graph-sign" }, verdictSign(verdict));
  if (isUnknown(verdict)) swatch.classList.add("tvmdbg-graph-hatched");
  else {
    const fill = palette.verdict(verdict);
    swatch.style.background = fill;
    swatch.style.color = inkOn(fill);
  }
  chip.dataset.kind = `health ${verdict}`;
  chip.append(swatch, label, element("span", { class: "tvmdbg-muted" }, ` ${integer(count)}`));
  return chip;
}

function progress({ answer }: NodeHealth, acts: HealthActs): (string | HTMLElement)[] {
  const stopped = answer.state === "cancelled";
  if (!stopped && !isUnderWay(answer)) return [];
  const said = ` ${integer(answer.done)} of ${integer(answer.total)} tensors `;
  const act = stopped
    ? button("go on", "go on looking at the tensors", acts.goOn)
    : button("stop", "stop looking at the tensors", acts.stop);
  act.dataset.kind = "health scan";
  return [said, act];
}
