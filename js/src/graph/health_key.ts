import { button, element, relabel } from "../shared/dom.ts";
import { counted, integer } from "../shared/format.ts";
import { verdictCounts } from "../shared/health.ts";
import { isUnderWay } from "../shared/scan.ts";
import { inkOn } from "../shared/theme.ts";
import { isUnknown, type NodeHealth, verdictLabel, verdictSign, weight } from "./health.ts";
import type { Palette } from "./palette.ts";
import { ScanProgress } from "./scan_progress.ts";

export interface HealthActs {
  /** Goes to the next node of a verdict. */
  next(verdict: number): void;
  stop(): void;
  goOn(): void;
}

/**
 * What the fills say of the values of nodes, how many there are of each, and how far the scan is.
 * Its buttons stay while answers come, since one may just be pressed.
 */
export class HealthKey {
  readonly node = element("span", { class: "tvmdbg-graph-scale tvmdbg-graph-health" });
  readonly #acts: HealthActs;
  readonly #counts = element("span");
  readonly #chips = new Map<number, HTMLButtonElement>();
  readonly #progress: ScanProgress;

  constructor(acts: HealthActs) {
    this.#acts = acts;
    const doing = "looking at the tensors";
    this.#progress = new ScanProgress("health scan", doing, acts.stop, acts.goOn);
    this.node.append(this.#counts, this.#progress.node);
  }

  show(health: NodeHealth | null, palette: Palette): void {
    const { answer } = health ?? {};
    const stopped = answer?.state === "cancelled";
    if (answer && answer.total > 0 && (stopped || isUnderWay(answer)))
      this.#progress.show(answer, "tensors ", stopped);
    else this.#progress.hide();
    if (!health) this.#have("looking at the tensors …");
    else if (health.answer.total === 0) this.#have("the run holds no tensors");
    else {
      const counts = verdictCounts(health.verdict).sort(([a], [b]) => weight(b) - weight(a));
      this.#have(...counts.map(([verdict, count]) => this.#chip(verdict, count, palette)));
    }
  }

  #have(...parts: (string | HTMLElement)[]): void {
    const now = [...this.#counts.childNodes];
    if (parts.length === now.length && parts.every((part, i) => part === now[i])) return;
    this.#counts.replaceChildren(...parts);
  }

  #chip(verdict: number, count: number, palette: Palette): HTMLButtonElement {
    const label = verdictLabel(verdict);
    let chip = this.#chips.get(verdict);
    if (!chip) {
      chip = button("", "", () => this.#acts.next(verdict));
      chip.dataset.kind = `health ${verdict}`;
      this.#chips.set(verdict, chip);
    }
    relabel(chip, "", `${counted(count, "node")} ${label}: go to the next`);
    const swatch = element("span", { class: "tvmdbg-graph-sign" }, verdictSign(verdict));
    if (isUnknown(verdict)) swatch.classList.add("tvmdbg-graph-hatched");
    else {
      const fill = palette.verdict(verdict);
      swatch.style.background = fill;
      swatch.style.color = inkOn(fill);
    }
    chip.append(swatch, label, element("span", { class: "tvmdbg-muted" }, ` ${integer(count)}`));
    return chip;
  }
}
