import type { FindingsAnswer } from "../shared/client/findings.ts";
import { button, element, relabel } from "../shared/ui/dom.ts";
import { counts, progress } from "./rows.ts";

const FOLD = "Fold all findings to one line (f)";
const UNFOLD = "Show all findings (f)";

/** How many findings there are and how far the scan is, with the buttons for both: for the bar of the view around the list. */
export class FindingsHead {
  readonly fold = button("▾", FOLD, () => this.onFold());
  readonly counts = element("span", { class: "tvmdbg-findings-counts" });
  readonly progress = element("span", { class: "tvmdbg-findings-progress tvmdbg-muted" });
  readonly meter = element("progress", { class: "tvmdbg-findings-meter", hidden: true });
  readonly stop = button("stop", "Stop scanning tensors (s)", () => this.onStop());
  /** For what else can be done with the list. */
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

  /** In the order in which they stand in the bar. */
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
    const told = counts(findings).map(([severity, text]) =>
      element(
        "span",
        { class: `tvmdbg-findings-count tvmdbg-finding-${severity}` },
        element("i", { class: `tvmdbg-icon tvmdbg-icon-${severity}`, "aria-hidden": "true" }),
        text,
      ),
    );
    this.counts.replaceChildren(...told);
  }

  /** The scan is over, for it failed. */
  clear(): void {
    this.meter.hidden = this.stop.hidden = true;
    this.progress.textContent = "";
  }
}
