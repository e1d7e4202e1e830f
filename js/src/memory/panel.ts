import { heatFill, kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { element } from "../shared/ui/dom.ts";
import { ELSEWHERE, FAINT } from "./offsets.ts";
import type { Plan } from "./plan.ts";
import { type Fact, short } from "./words.ts";

const KINDS = 8;
const APART = 14;
const STOPS = 5;

/** Facts as a list of terms. */
export function factList(facts: readonly Fact[]): HTMLElement {
  return element(
    "dl",
    {},
    ...facts.map(([name, text]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, text)),
    ),
  );
}

/** Beside the pointer, inside the view's box. */
export class Tooltip {
  readonly node = element("div", { class: "tvmdbg-tooltip", hidden: true });

  hide(): void {
    this.node.hidden = true;
  }

  show(title: string, facts: readonly Fact[], x: number, y: number, root: HTMLElement): void {
    this.node.replaceChildren(element("strong", {}, title), factList(facts));
    this.node.hidden = false;
    const { offsetWidth, offsetHeight, style } = this.node;
    const left = x + APART + offsetWidth < root.clientWidth ? x + APART : x - APART - offsetWidth;
    const top = y + APART + offsetHeight < root.clientHeight ? y + APART : y - APART - offsetHeight;
    style.left = `${Math.max(2, left)}px`;
    style.top = `${Math.max(2, top)}px`;
  }
}

/** What the colors of the lives mean: kinds of operators, those of most bytes first, or sizes. */
export function legend(plan: Plan, bySize: boolean, theme: Theme): HTMLElement[] {
  if (bySize) {
    const stops = Array.from({ length: STOPS }, (_, i) => heatFill(theme, i / (STOPS - 1)));
    const scale = element("i", { class: "tvmdbg-memory-scale" });
    scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    return [element("span", {}, "0 B", scale, short(plan.largest))];
  }
  const kinds = kindsOf(plan);
  const shown = kinds.slice(0, KINDS).map((kind) => {
    const chip = element("i", { class: "tvmdbg-memory-chip" });
    chip.style.backgroundColor = kindFill(theme, kind);
    return element("span", {}, chip, kind);
  });
  const more = kinds.length - KINDS;
  if (more > 0) shown.push(element("span", {}, `and ${counted(more, "more kind")}`));
  if (plan.columns.info.buffers) {
    const chip = element("i", { class: "tvmdbg-memory-chip" });
    chip.style.backgroundColor = theme.muted;
    chip.style.opacity = `${FAINT}`;
    shown.push(element("span", {}, chip, ELSEWHERE));
  }
  return shown;
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
