import { verdictCounts } from "../../shared/client/health.ts";
import { isUnderWay } from "../../shared/client/scan.ts";
import { inkOn } from "../../shared/drawing/theme.ts";
import { counted, integer } from "../../shared/format.ts";
import { button, element, keepChildren } from "../../shared/ui/dom.ts";
import { isUnknown, type NodeHealth, verdictLabel, verdictSign, weight } from "../data/health.ts";
import type { Palette } from "../paint/palette.ts";
import { ScanProgress } from "./scan_progress.ts";

export interface HealthActs {
  /** Goes to the next node of a verdict. */
  next(verdict: number): void;
  stop(): void;
  goOn(): void;
}

interface Chip {
  node: HTMLButtonElement;
  swatch: HTMLElement;
  count: HTMLElement;
}

/**
 * What the fills say of the values of nodes, how many there are of each, and how far the scan is.
 * Its buttons stay while answers come, since one may just be pressed.
 */
export class HealthKey {
  readonly node = element("span", { class: "tvmdbg-graph-scale tvmdbg-graph-health" });
  readonly #commands: HealthActs;
  readonly #words = element("span");
  readonly #chips = new Map<number, Chip>();
  readonly #progress: ScanProgress;

  constructor(commands: HealthActs) {
    this.#commands = commands;
    const doing = "scanning the tensors";
    this.#progress = new ScanProgress("health scan", doing, commands.stop, commands.goOn);
  }

  show(health: NodeHealth | null, palette: Palette): void {
    if (!health?.answer.total) {
      this.#words.textContent = health ? "the run has no tensors" : "scanning the tensors …";
      keepChildren(this.node, this.#words);
      return;
    }
    const { answer, verdict } = health;
    const counts = verdictCounts(verdict).sort(([a], [b]) => weight(b) - weight(a));
    const chips = counts.map(([each, count]) => this.#chip(each, count, palette));
    const stopped = answer.state === "cancelled";
    this.#progress.show(answer, "tensors ", stopped);
    const progress = stopped || isUnderWay(answer) ? [this.#progress.node] : [];
    keepChildren(this.node, ...chips, ...progress);
  }

  #chip(verdict: number, nodes: number, palette: Palette): HTMLElement {
    let chip = this.#chips.get(verdict);
    if (!chip) {
      chip = this.#made(verdict);
      this.#chips.set(verdict, chip);
    }
    const { node, swatch, count } = chip;
    node.title =
      node.ariaLabel = `${counted(nodes, "node")} ${verdictLabel(verdict)}: go to the next one`;
    count.textContent = ` ${integer(nodes)}`;
    if (!isUnknown(verdict)) {
      const fill = palette.verdict(verdict);
      swatch.style.background = fill;
      swatch.style.color = inkOn(fill);
    }
    return node;
  }

  #made(verdict: number): Chip {
    const node = button("", "", () => this.#commands.next(verdict));
    const swatch = element("span", { class: "tvmdbg-graph-sign" }, verdictSign(verdict));
    swatch.classList.toggle("tvmdbg-graph-hatched", isUnknown(verdict));
    const count = element("span", { class: "tvmdbg-muted" });
    node.dataset.kind = `health ${verdict}`;
    node.append(swatch, verdictLabel(verdict), count);
    return { node, swatch, count };
  }
}
