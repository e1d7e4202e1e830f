import { isUnderWay, type Scan } from "../../shared/client/health.ts";
import type { HealthAnswer } from "../../shared/client/tensor_questions.ts";
import { inkOn, kindFill } from "../../shared/drawing/theme.ts";
import { counted, integer, percent } from "../../shared/format.ts";
import {
  button,
  div,
  element,
  KEEP_KEYS,
  keepChildren,
  onResize,
  relabel,
  span,
} from "../../shell/dom.ts";
import { RangeHandles } from "../../shell/range_handles.ts";
import { ClassColors } from "../data/coloring.ts";
import type { BoxColors } from "../data/colors.ts";
import { countsByWeight, isUnknown, MARKS, verdictLabel, verdictSign } from "../data/health.ts";
import type { Work } from "../data/node_columns.ts";
import { NumberColors } from "../data/number_colors.ts";
import { type GraphHost, GraphPart } from "../parts.ts";

const WIDTH = 150;
const BAR = 9;
const SIDE = 26;
const DIGIT = 6.3;
const STOPS = 24;
const TICKS = 3;

class NumberKey extends GraphPart {
  readonly node = span("tvmdbg-graph-scale");
  readonly #name = element("span");
  readonly #bar = span("tvmdbg-graph-bar-key");
  readonly #ramp = span("tvmdbg-graph-ramp");
  readonly #ticks = element("span");
  readonly #counts = element("span");
  readonly #handles = new RangeHandles(this);
  #colors: NumberColors | null = null;

  constructor(view: GraphHost) {
    super(view);
    this.#bar.style.width = `${WIDTH + 2 * SIDE}px`;
    Object.assign(this.#ramp.style, { left: `${SIDE}px`, width: `${WIDTH}px`, height: `${BAR}px` });
    this.#ramp.addEventListener("dblclick", () => this.limit(null));
    this.#bar.append(this.#ramp, this.#ticks, ...this.#handles.nodes);
    this.node.append(this.#name, this.#bar, this.#counts);
  }

  limit(range: readonly [number, number] | null): void {
    this.view.context.options.set("color_limits", range && [...range]);
  }

  words(value: number): string {
    return this.#colors?.text(value) ?? "";
  }

  show(colors: NumberColors): void {
    this.#colors = colors;
    const { axis, scale, column, counts, together } = colors;
    this.#name.textContent = colors.title;
    const fill = `fill: ${column.name}, ${column.scale}; for several nodes the ${together}`;
    this.node.title = [fill, column.note].filter(Boolean).join("; ");
    this.#bar.hidden = counts.known === 0;
    const stops = Array.from({ length: STOPS + 1 }, (_, i) => colors.color(axis.value(i / STOPS)));
    this.#ramp.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    this.#ticks.replaceChildren(...this.#texts(colors));
    this.#handles.place({ x: SIDE, y: 7, width: WIDTH, height: 0 }, axis, [scale.low, scale.high]);
    const unknown = counts.known && counts.unknown;
    this.#counts.replaceChildren(
      ...colors.outside.flatMap(({ text, color }) => [color ? swatch(color) : " ", text]),
      ...(unknown ? [swatch(""), `${integer(unknown)} unknown`] : []),
      column.note ? span("tvmdbg-graph-aside", ` (${column.note})`) : "",
    );
  }

  #texts(colors: NumberColors): HTMLElement[] {
    const { axis } = colors;
    if (axis.single) return [this.#text(brief(colors.text(axis.low)), WIDTH / 2)];
    const taken: [number, number][] = [];
    const ticks: HTMLElement[] = [];
    const values = [axis.low, axis.high, ...axis.ticks(TICKS).map(({ value }) => value)];
    for (const value of values) {
      const text = brief(colors.text(value));
      const half = (text.length * DIGIT) / 2 + 3;
      const at = Math.max(half - SIDE, Math.min(WIDTH + SIDE - half, axis.share(value) * WIDTH));
      if (taken.some(([from, to]) => at - half < to && at + half > from)) continue;
      taken.push([at - half, at + half]);
      ticks.push(this.#text(text, at));
    }
    return ticks;
  }

  #text(text: string, at: number): HTMLElement {
    const node = span("tvmdbg-graph-tick", text);
    node.style.left = `${SIDE + at}px`;
    return node;
  }
}

/** A sample of a color, or of the hatch of unknown values. */
function swatch(color: string): HTMLElement {
  const sample = span("tvmdbg-graph-swatch tvmdbg-swatch");
  sample.classList.toggle("tvmdbg-graph-hatched", !color);
  sample.style.background = color;
  return sample;
}

/** Without zeros that say nothing, `2 ms` for `2.000 ms`, and with room between the ends: `same`. */
function brief(text: string): string {
  if (text === "same speed") return "same";
  return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

/** Progress of a scan with a button to stop or resume it, which survives updates while it is pressed. */
class ScanProgress {
  readonly node = element("span");
  readonly #text = element("span");
  readonly #act: HTMLButtonElement;
  readonly #doing: string;
  #stopped = false;

  constructor(kind: string, doing: string, run: (on: boolean) => void) {
    this.#doing = doing;
    this.#act = button("", "", () => run(this.#stopped));
    this.#act.dataset.kind = kind;
    this.node.append(this.#text, this.#act);
  }

  show({ done, total }: { done: number; total: number }, things: string, stopped: boolean): void {
    this.#stopped = stopped;
    this.#text.textContent = ` ${integer(done)} of ${integer(total)} ${things}`;
    const act = stopped ? "resume" : "stop";
    relabel(this.#act, act, `${act} ${this.#doing}`);
  }
}

/** A swatch, a name and a number as a button, which survives updates while it is pressed. */
class LegendChip {
  readonly node: HTMLButtonElement;
  readonly #swatch: HTMLElement;
  readonly #aside = span("tvmdbg-muted");

  constructor(key: string, label: string, swatch: HTMLElement) {
    this.#swatch = swatch;
    const attributes = { type: "button", "data-kind": key, ...KEEP_KEYS };
    this.node = element("button", attributes, swatch, label, this.#aside);
  }

  show(fill: string, aside: string, title: string): HTMLButtonElement {
    this.node.title = title;
    this.#aside.textContent = ` ${aside}`;
    if (fill) Object.assign(this.#swatch.style, { background: fill, color: inkOn(fill) });
    return this.node;
  }
}

/** Verdicts with their counts and the progress of the scan. */
class HealthKey extends GraphPart {
  readonly node = span("tvmdbg-graph-scale tvmdbg-graph-health tvmdbg-inline");
  readonly #words = element("span");
  readonly #chips = new Map<number, LegendChip>();
  readonly #progress: ScanProgress;

  constructor(view: GraphHost, scan: Scan<HealthAnswer>) {
    super(view);
    this.#progress = new ScanProgress("health scan", "scanning the tensors", (on) => {
      void (on ? scan.start(true) : scan.stop());
    });
  }

  show(): void {
    const { health } = this.view.model.describe;
    if (!health?.answer.total) {
      this.#words.textContent = health ? "the run has no tensors" : "scanning the tensors …";
      keepChildren(this.node, this.#words);
      return;
    }
    const { answer, verdict } = health;
    const counts = countsByWeight(verdict);
    const chips = counts.map(([verdict, count]) => this.#chip(verdict, count));
    const stopped = answer.state === "cancelled";
    this.#progress.show(answer, "tensors ", stopped);
    const progress = stopped || isUnderWay(answer) ? [this.#progress.node] : [];
    keepChildren(this.node, ...chips, ...progress);
  }

  #chip(verdict: number, nodes: number): HTMLElement {
    const chip = this.#chips.get(verdict) ?? this.#made(verdict);
    this.#chips.set(verdict, chip);
    const title = `${counted(nodes, "node")} ${verdictLabel(verdict)}: go to the next one`;
    chip.node.ariaLabel = title;
    const fill = isUnknown(verdict) ? "" : this.view.palette.verdict(verdict);
    return chip.show(fill, integer(nodes), title);
  }

  #made(verdict: number): LegendChip {
    const swatch = span("tvmdbg-graph-sign", verdictSign(verdict));
    swatch.classList.toggle("tvmdbg-graph-hatched", isUnknown(verdict));
    const chip = new LegendChip(`health ${verdict}`, verdictLabel(verdict), swatch);
    chip.node.addEventListener("click", () => this.view.commands.nextOf(verdict));
    return chip;
  }
}

/** Room of the row's own margins, and of the button for the chips that do not fit, CSS px. */
const PADDING = 14;
const MORE = 66;

interface ClassChip {
  key: string;
  label: string;
  color: string;
  aside: string;
  title: string;
}

/** Legend of the colors: number scale, classes, op kinds with their time shares; hovering fades the others. */
export class GraphLegend extends GraphPart {
  readonly node = div("tvmdbg-graph-legend tvmdbg-row tvmdbg-wrap tvmdbg-fixed tvmdbg-line-below");
  readonly #kinds = this.view.model.times.kindSums();
  readonly #key = new NumberKey(this.view);
  readonly #health: HealthKey;
  readonly #work: ScanProgress;
  readonly #slot = span("tvmdbg-graph-key tvmdbg-inline tvmdbg-fixed");
  readonly #words = element("span");
  readonly #more = button("", "", () => {
    this.#all = !this.#all;
    this.#fit();
  });
  readonly #chips = new Map<string, LegendChip>();
  #items: HTMLElement[] = [];
  #shown = "";
  #all = false;

  constructor(view: GraphHost, scan: Scan<HealthAnswer>) {
    super(view);
    const { options, signal } = view.context;
    this.#health = new HealthKey(view, scan);
    this.#work = new ScanProgress("color work", "computing", (on) =>
      options.set("_color_paused", !on),
    );
    this.node.role = "group";
    this.node.append(this.#slot, this.#more);
    onResize([this.node], () => this.#fit(), signal);
  }

  /** Shows the colors, the progress of their computation, and an error. */
  show(colors: BoxColors | null, work: Work | null, problem: string): void {
    const { chosen, highlighted } = this.view;
    this.node.setAttribute("aria-label", `legend: ${chosen.colorBy}`);
    this.#showKey(colors, work, problem);
    const chips = colors instanceof ClassColors ? classChips(colors) : this.#kindChips();
    const { health } = this.view.model.describe;
    const marks = chosen.colorBy === "health" ? [] : (health?.marks ?? []);
    const shown = JSON.stringify([chips, highlighted, chosen.colorBy, marks]);
    if (shown !== this.#shown) {
      this.#shown = shown;
      const [keys, others] = [marks.map(markKey), chips.map((chip) => this.#chip(chip))];
      // Chips that explain the fill come first.
      this.#items = colors instanceof NumberColors ? [...keys, ...others] : [...others, ...keys];
      if (colors instanceof ClassColors && colors.unknown) {
        const text = `${integer(colors.unknown)} unknown`;
        this.#items.push(span("tvmdbg-graph-scale", swatch(""), text));
      }
      keepChildren(this.node, this.#slot, ...this.#items, this.#more);
    }
    this.#fit();
  }

  /** Key before the chips; kept while it changes, since a part may just be held or pressed. */
  #showKey(colors: BoxColors | null, work: Work | null, problem: string): void {
    const { chosen, model } = this.view;
    const parts: HTMLElement[] = [];
    const say = (words: string) => {
      this.#words.textContent = words;
      parts.push(this.#words);
    };
    if (problem) say(problem);
    else if (colors instanceof NumberColors) {
      if (chosen.colorBy === "time" && !model.times.known) say("the run has no times");
      else {
        parts.push(this.#key.node);
        this.#key.show(colors);
      }
    } else if (chosen.colorBy === "health") {
      parts.push(this.#health.node);
      this.#health.show();
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

  #kindChips(): ClassChip[] {
    const { model, palette } = this.view;
    const { times } = model;
    return this.#kinds.map(({ kind, nodes, ns }) => {
      const share = ns > 0 ? percent(ns / times.total) : "";
      const timed = share ? `, ${times.timeText(ns)}, ${share} of the total time` : "";
      return {
        key: kind,
        label: kind,
        color: kindFill(palette.theme, kind),
        aside: share || integer(nodes),
        title: `${kind}: ${counted(nodes, "node")}${timed}`,
      };
    });
  }

  #chip({ key, label, color, aside, title }: ClassChip): HTMLElement {
    const chip = this.#chips.get(`${key} ${label}`) ?? this.#made(key, label);
    this.#chips.set(`${key} ${label}`, chip);
    chip.node.ariaPressed = String(this.view.highlighted === key);
    return chip.show(color, aside, `${title}; Shift selects them`);
  }

  #made(key: string, label: string): LegendChip {
    const { appearance } = this.view;
    const chip = new LegendChip(key, label, span("tvmdbg-graph-swatch tvmdbg-swatch"));
    chip.node.addEventListener("click", (event) => {
      if (event.shiftKey) appearance.select(key);
      else this.view.highlight(this.view.highlighted === key ? null : key);
    });
    chip.node.addEventListener("pointerenter", () => appearance.setOff(key));
    chip.node.addEventListener("pointerleave", () => appearance.setOff(null));
    return chip;
  }
}

function markKey(mark: number): HTMLElement {
  return span(
    "tvmdbg-graph-scale",
    span(`tvmdbg-graph-sign tvmdbg-graph-mark${mark}`),
    MARKS[mark]!,
  );
}

function classChips(colors: ClassColors): ClassChip[] {
  return colors.rows.map(({ key, label, nodes, color }) => ({
    key,
    label,
    color,
    aside: integer(nodes),
    title: `${label}: ${counted(nodes, "node")}`,
  }));
}
