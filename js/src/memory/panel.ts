import type { Chip } from "../shared/drawing/figure.ts";
import { heatFill, kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { element } from "../shell/dom.ts";
import { ELSEWHERE, FAINT, type Plan, short } from "./plan.ts";

const KINDS = 8;

export function chipsOf(plan: Plan): Chip[] {
  const kinds = kindsOf(plan);
  const chips: Chip[] = kinds
    .slice(0, KINDS)
    .map((kind) => ({ name: kind, fill: (theme) => kindFill(theme, kind) }));
  const more = kinds.length - KINDS;
  if (more > 0) chips.push({ name: `and ${counted(more, "more kind")}` });
  if (plan.columns.info.buffers) {
    chips.push({ name: ELSEWHERE, fill: (theme) => theme.muted, alpha: FAINT });
  }
  return chips;
}

function kindsOf(plan: Plan): string[] {
  const { codes, unique } = plan.graph.opKinds;
  const bytes = new Float64Array(unique.length).fill(-1);
  for (let entry = 0; entry < plan.owner.length; entry++) {
    if (plan.rowOfEntry(entry) < 0) continue;
    const code = codes[plan.owner[entry]!]!;
    bytes[code] = Math.max(0, bytes[code]!) + Math.max(0, plan.columns.entryBytes[entry]!);
  }
  const used = Array.from(bytes.keys()).filter((code) => bytes[code]! >= 0);
  return used.sort((a, b) => bytes[b]! - bytes[a]!).map((code) => unique[code]!);
}

const STOPS = 5;

export function legend(plan: Plan, bySize: boolean, theme: Theme): HTMLElement[] {
  if (bySize) {
    const stops = Array.from({ length: STOPS }, (_, i) => heatFill(theme, i / (STOPS - 1)));
    const scale = element("i", { class: "tvmdbg-memory-scale" });
    scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    return [element("span", {}, "0 B", scale, short(plan.largest))];
  }
  return chipsOf(plan).map(({ name, fill, alpha = 1 }) => {
    if (!fill) return element("span", {}, name);
    const chip = element("i", { class: "tvmdbg-swatch" });
    chip.style.backgroundColor = fill(theme);
    chip.style.opacity = `${alpha}`;
    return element("span", {}, chip, name);
  });
}
