import type { GraphColumns } from "../../shared/client/run_client.ts";
import { kindFill } from "../../shared/drawing/theme.ts";
import { counted, integer, percent } from "../../shared/format.ts";
import { button, element, KEEP_KEYS, keepChildren, relabel } from "../../shared/ui/dom.ts";
import { ClassColors } from "../color/classes.ts";
import type { Colors } from "../color/colors.ts";
import type { Work } from "../color/columns.ts";
import { NumberKey } from "../color/number_key.ts";
import { NumberColors } from "../color/numbers.ts";
import type { NodeHealth } from "../data/health.ts";
import type { Times } from "../data/times.ts";
import type { Palette } from "../paint/palette.ts";
import { type HealthActs, HealthKey } from "./health_key.ts";
import { ScanProgress } from "./scan_progress.ts";

/** Room of the row's own margins, and of the button for what does not fit, CSS px. */
const PADDING = 14;
const MORE = 66;

export interface LegendState {
  colorBy: string;
  /** Null until there is a picture. */
  colors: Colors | null;
  /** How far what is shown is worked out; null where that takes no time. */
  work: Work | null;
  /** Why there are no such colors; empty where there are. */
  problem: string;
  health: NodeHealth | null;
  highlight: string | null;
  palette: Palette;
}

/** What can be done by the legend. */
export interface LegendActs {
  /** Sets off what it names; null ends that. */
  highlight(key: string | null): void;
  /** The same for as long as the pointer or the keyboard is there. */
  glance(key: string | null): void;
  /** Selects the nodes of a class. */
  select(key: string): void;
  limit(range: readonly [low: number, high: number] | null): void;
  pause(on: boolean): void;
  health: HealthActs;
}

interface Chip {
  key: string;
  label: string;
  color: string;
  aside: string;
  title: string;
}

/** What the colors mean: the scale of numbers, the classes, and op kinds with their share of the time; each sets the others back. */
export class Legend {
  readonly node = element("div", { class: "tvmdbg-graph-legend", role: "group" });
  readonly #kinds: [kind: string, sum: { nodes: number; ns: number }][];
  readonly #times: Times;
  readonly #commands: LegendActs;
  readonly #key: NumberKey;
  readonly #health: HealthKey;
  readonly #work: ScanProgress;
  readonly #slot = element("span", { class: "tvmdbg-graph-key" });
  readonly #words = element("span");
  readonly #more = button("", "", () => {
    this.#all = !this.#all;
    this.#fit();
  });
  #items: HTMLElement[] = [];
  #shown = "";
  #all = false;

  constructor(graph: GraphColumns, times: Times, commands: LegendActs, signal: AbortSignal) {
    this.#commands = commands;
    this.#times = times;
    this.#key = new NumberKey((range) => commands.limit(range));
    this.#health = new HealthKey(commands.health);
    const [stop, goOn] = [() => commands.pause(true), () => commands.pause(false)];
    this.#work = new ScanProgress("color work", "computing", stop, goOn);
    this.#kinds = [...times.byKind(graph)].sort(([, a], [, b]) => b.ns - a.ns || b.nodes - a.nodes);
    this.node.append(this.#slot, this.#more);
    const size = new ResizeObserver(() => this.#fit());
    size.observe(this.node);
    signal.addEventListener("abort", () => size.disconnect());
  }

  show(state: LegendState): void {
    const { colors, palette } = state;
    const active = document.activeElement as HTMLElement | null;
    const focused = this.node.contains(active) ? active?.dataset.kind : undefined;
    this.node.setAttribute("aria-label", `legend: ${state.colorBy}`);
    this.#showKey(state);
    const chips = colors instanceof ClassColors ? classChips(colors) : this.#kindChips(palette);
    const shown = JSON.stringify([chips, state.highlight, state.colorBy]);
    if (shown === this.#shown) {
      this.#fit();
      return;
    }
    this.#shown = shown;
    for (const item of this.#items) item.remove();
    this.#items = chips.map((chip) => this.#chip(chip, state));
    if (colors instanceof ClassColors && colors.unknown) {
      const swatch = element("span", { class: "tvmdbg-graph-swatch tvmdbg-graph-hatched" });
      const text = `${integer(colors.unknown)} unknown`;
      this.#items.push(element("span", { class: "tvmdbg-graph-scale" }, swatch, text));
    }
    this.#more.before(...this.#items);
    this.#fit();
    if (!focused) return;
    const buttons = this.node.querySelectorAll<HTMLElement>("[data-kind]");
    Array.from(buttons)
      .find((each) => each.dataset.kind === focused)
      ?.focus({ preventScroll: true });
  }

  /** What stands before the chips; keys stay while they change: one may just be held or pressed. */
  #showKey({ colorBy, colors, work, problem, health, palette }: LegendState): void {
    const parts: HTMLElement[] = [];
    const say = (words: string) => {
      this.#words.textContent = words;
      parts.push(this.#words);
    };
    if (problem) say(problem);
    else if (colors instanceof NumberColors) {
      if (colorBy === "time" && !this.#times.known) say("the run has no times");
      else {
        parts.push(this.#key.node);
        this.#key.show(colors);
      }
    } else if (colorBy === "health") {
      parts.push(this.#health.node);
      this.#health.show(health, palette);
    } else if (colors instanceof ClassColors) say(colors.column.name);
    if (work && work.state !== "done") {
      parts.push(this.#work.node);
      this.#work.show(work, "", work.state === "cancelled");
    }
    keepChildren(this.#slot, ...parts);
  }

  /** The scale, as many chips as the row holds beside it, and a button for the others. */
  #fit(): void {
    const { clientWidth } = this.node;
    for (const part of [...this.#items, this.#more]) part.hidden = false;
    relabel(this.#more, "less", "show one row of the legend");
    if (clientWidth === 0) return;
    const scale = this.#slot.offsetWidth;
    const widths = this.#items.map((item) => item.offsetWidth);
    const sum = widths.reduce((total, width) => total + width, PADDING + scale);
    this.#more.hidden = sum <= clientWidth;
    if (this.#all || sum <= clientWidth) return;
    let room = clientWidth - PADDING - MORE - scale;
    let shown = 0;
    for (; shown < widths.length && widths[shown]! <= room; shown++) room -= widths[shown]!;
    for (const item of this.#items.slice(shown)) item.hidden = true;
    const left = this.#items.length - shown;
    relabel(this.#more, `${left} more`, `show ${left} more of the legend`);
  }

  #kindChips(palette: Palette): Chip[] {
    return this.#kinds.map(([kind, { nodes, ns }]) => {
      const share = ns > 0 ? percent(ns / this.#times.total) : "";
      const timed = share ? `, ${this.#times.told(ns)}, ${share} of the total time` : "";
      return {
        key: kind,
        label: kind,
        color: kindFill(palette.theme, kind),
        aside: share || integer(nodes),
        title: `${kind}: ${counted(nodes, "node")}${timed}`,
      };
    });
  }

  #chip({ key, label, color, aside, title }: Chip, { highlight }: LegendState): HTMLElement {
    const swatch = element("span", { class: "tvmdbg-graph-swatch" });
    swatch.style.background = color;
    const chip = element(
      "button",
      {
        type: "button",
        title: `${title}; Shift selects them`,
        "aria-pressed": String(highlight === key),
        "data-kind": key,
        ...KEEP_KEYS,
      },
      swatch,
      label,
      element("span", { class: "tvmdbg-muted" }, ` ${aside}`),
    );
    const { glance, select, highlight: set } = this.#commands;
    chip.addEventListener("click", (event) => {
      if (event.shiftKey) select(key);
      else set(highlight === key ? null : key);
    });
    chip.addEventListener("pointerenter", () => glance(key));
    chip.addEventListener("pointerleave", () => glance(null));
    return chip;
  }
}

function classChips(colors: ClassColors): Chip[] {
  return colors.rows.map(({ key, label, nodes, color }) => ({
    key,
    label,
    color,
    aside: integer(nodes),
    title: `${label}: ${counted(nodes, "node")}`,
  }));
}
