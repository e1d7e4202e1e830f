import { COPY_KEY } from "../shared/client/code_copy.ts";
import type { Chip } from "../shared/drawing/figure.ts";
import * as icons from "../shared/drawing/icons.ts";
import { heatFill, kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { button, element, iconButton } from "../shared/ui/dom.ts";
import { helpButton } from "../shared/ui/keys.ts";
import { Overflow } from "../shared/ui/overflow.ts";
import { fullScreenButton } from "../shared/ui/view.ts";
import { ELSEWHERE, FAINT, type Plan, type PlanFact, short } from "./plan.ts";
import type { MemoryScene } from "./scene.ts";

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

const APART = 14;
const STOPS = 5;

export function factList(facts: readonly PlanFact[]): HTMLElement {
  return element(
    "dl",
    {},
    ...facts.map(([name, text]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, text)),
    ),
  );
}

export class MemoryTooltip {
  readonly node = element("div", { class: "tvmdbg-tooltip", hidden: true });

  hide(): void {
    this.node.hidden = true;
  }

  show(title: string, facts: readonly PlanFact[], x: number, y: number, root: HTMLElement): void {
    this.node.replaceChildren(element("strong", {}, title), factList(facts));
    this.node.hidden = false;
    const { offsetWidth, offsetHeight, style } = this.node;
    const left = x + APART + offsetWidth < root.clientWidth ? x + APART : x - APART - offsetWidth;
    const top = y + APART + offsetHeight < root.clientHeight ? y + APART : y - APART - offsetHeight;
    style.left = `${Math.max(2, left)}px`;
    style.top = `${Math.max(2, top)}px`;
  }
}

export function legend(plan: Plan, bySize: boolean, theme: Theme): HTMLElement[] {
  if (bySize) {
    const stops = Array.from({ length: STOPS }, (_, i) => heatFill(theme, i / (STOPS - 1)));
    const scale = element("i", { class: "tvmdbg-memory-scale" });
    scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    return [element("span", {}, "0 B", scale, short(plan.largest))];
  }
  return chipsOf(plan).map(({ name, fill, alpha = 1 }) => {
    if (!fill) return element("span", {}, name);
    const chip = element("i", { class: "tvmdbg-memory-chip" });
    chip.style.backgroundColor = fill(theme);
    chip.style.opacity = `${alpha}`;
    return element("span", {}, chip, name);
  });
}

interface MemoryHost {
  readonly scene: MemoryScene;
  view(change: () => void): void;
  zoom(factor: number): void;
  colorBy(by: "kind" | "size"): void;
  showParameters(): void;
  peak(): void;
  copy(): void;
  focus(): void;
}

export class MemoryBar {
  readonly node: HTMLElement;
  readonly #range = element("output", { class: "tvmdbg-muted", "aria-label": "visible range" });
  readonly #all: HTMLButtonElement;
  readonly #parameters: HTMLButtonElement;
  readonly #kind: HTMLButtonElement;
  readonly #size: HTMLButtonElement;
  readonly #overflow: Overflow;

  constructor(view: MemoryHost, root: HTMLElement, signal: AbortSignal) {
    const focused = (act: () => void) => () => {
      act();
      view.focus();
    };
    const all = focused(() => view.view(() => view.scene.viewport.showAll()));
    const color = (by: "kind" | "size") => focused(() => view.colorBy(by));
    this.#all = iconButton(icons.FIT, "fit", "fit the whole run (0)", all);
    this.#parameters = iconButton(
      icons.LAYERS,
      "parameters",
      "show memory of parameters (m)",
      focused(() => view.showParameters()),
    );
    this.#kind = button("kind", "color entries by operator kind (c)", color("kind"));
    this.#size = button("size", "color entries by size (c)", color("size"));
    const zoom = element(
      "span",
      { class: "tvmdbg-joined" },
      iconButton(icons.ZOOM_OUT, "zoom out", "zoom out (s)", () => view.zoom(2)),
      iconButton(icons.ZOOM_IN, "zoom in", "zoom in (w)", () => view.zoom(0.5)),
    );
    const colors = element(
      "span",
      { class: "tvmdbg-joined", role: "group", "aria-label": "color by" },
      this.#kind,
      this.#size,
    );
    const peak = iconButton(
      icons.PEAK,
      "peak",
      "go to the peak (p)",
      focused(() => view.peak()),
    );
    const copy = `Copy Python code for the selection (${COPY_KEY})`;
    const code = iconButton(icons.CODE, "copy Python code", copy, () => view.copy());
    const help = helpButton(root);
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": "memory" },
      element("span", { class: "tvmdbg-title" }, "Memory"),
      zoom,
      this.#all,
      peak,
      this.#range,
      element("span", { class: "tvmdbg-space" }),
      this.#parameters,
      colors,
      code,
      help,
      fullScreenButton(root),
    );
    this.#overflow = new Overflow(
      this.node,
      { always: [code, help], sometimes: [zoom, this.#parameters, colors, this.#range] },
      signal,
    );
  }

  show(parameters: boolean, bySize: boolean): void {
    this.#parameters.setAttribute("aria-pressed", String(parameters));
    this.#kind.setAttribute("aria-pressed", String(!bySize));
    this.#size.setAttribute("aria-pressed", String(bySize));
  }

  showRange(text: string, all: boolean): void {
    this.#all.disabled = all;
    if (this.#range.textContent === text) return;
    this.#range.textContent = text;
    this.#overflow.fit();
  }
}
