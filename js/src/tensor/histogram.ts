import { clear, layer, Repaint } from "../shared/canvas.ts";
import { button, element, KEEP_KEYS } from "../shared/dom.ts";
import { integer } from "../shared/format.ts";
import type { StatisticsAnswer } from "../shared/tensor_questions.ts";
import { onThemeChange, readTheme } from "../shared/theme.ts";
import { SPECIAL_TEXT } from "./colors.ts";
import { barAt, type HistogramScene, histogramScene } from "./histogram_scene.ts";
import { type Label, Labels } from "./labels.ts";
import { part } from "./parts.ts";
import { paintSpecial } from "./plane_painter.ts";
import type { Shown } from "./state.ts";
import { niceTicks } from "./ticks.ts";

/** How the values of the whole tensor are spread; a bar says its range and count on hover or by arrow keys. */
export class Histogram {
  readonly node: HTMLElement;
  readonly #root: HTMLElement;
  readonly #stage = element("div", {
    class: "tvmdbg-stage tvmdbg-tensor-histogram",
    role: "slider",
    tabindex: 0,
    "aria-label": "Bars of the histogram",
    ...KEEP_KEYS,
  });
  readonly #base = layer("tvmdbg-base");
  readonly #overlay = layer("tvmdbg-overlay");
  readonly #said = part("bar-text");
  readonly #logButton = button("log", "Count on a logarithmic axis (g)", () => this.toggleLog());
  readonly #repaint: Repaint;
  #known: StatisticsAnswer | null = null;
  #scene: HistogramScene | null = null;
  #log = false;
  #bar: number | null = null;
  #labels: Label[] = [];

  constructor(root: HTMLElement, signal: AbortSignal) {
    this.#root = root;
    this.#stage.append(this.#base.canvas, this.#overlay.canvas);
    this.#logButton.setAttribute("aria-pressed", "false");
    this.node = element(
      "section",
      { class: "tvmdbg-tensor-spread", "aria-label": "Histogram" },
      element("h3", {}, "Histogram of finite values", this.#logButton),
      this.#stage,
      this.#said,
    );
    this.#repaint = new Repaint(this.#stage, () => this.#paint(), signal);
    onThemeChange(() => this.#repaint.request(), signal);
    this.#listen(signal);
  }

  show({ statistics }: Shown): void {
    if (statistics === this.#known) return;
    this.#known = statistics;
    this.#bar = null;
    this.#say();
    this.#repaint.request();
  }

  toggleLog(): void {
    this.#log = !this.#log;
    this.#logButton.setAttribute("aria-pressed", String(this.#log));
    this.#repaint.request();
  }

  inspect(): { labels: Label[]; bars: object[] } {
    return { labels: this.#labels, bars: this.#scene?.bars.map((bar) => ({ ...bar })) ?? [] };
  }

  #paint(): void {
    const { clientWidth: width, clientHeight: height } = this.#stage;
    if (width === 0 || height === 0) return;
    clear(this.#base, width, height);
    clear(this.#overlay, width, height);
    this.#scene = this.#known && histogramScene(this.#known, width, height, this.#log);
    this.#labels = [];
    const scene = this.#scene;
    if (!scene) return;
    const theme = readTheme(this.#root);
    const { context } = this.#base;
    const { plot } = scene;
    for (const bar of scene.bars) {
      if (bar.special) {
        paintSpecial(context, bar, bar.special);
        continue;
      }
      context.fillStyle = theme.accent;
      context.fillRect(bar.x, bar.y, Math.max(1, bar.width - (bar.width > 3 ? 1 : 0)), bar.height);
    }
    const bottom = plot.y + plot.height;
    context.fillStyle = theme.line;
    context.fillRect(plot.x, bottom, plot.width, 1);
    if (scene.zero !== null) {
      context.fillStyle = theme.text;
      context.fillRect(Math.round(scene.zero), plot.y - 2, 1, plot.height + 5);
    }
    const labels = new Labels(context, theme, width, height);
    for (const bar of scene.bars) {
      if (!bar.special) continue;
      const middle = bar.x + bar.width / 2;
      const place = { align: "center", color: theme.text } as const;
      labels.write(SPECIAL_TEXT[bar.special], middle, bottom + 10, place);
      labels.write(integer(bar.count), middle, bar.y - 7, place);
    }
    if (scene.zero !== null) labels.write("0", scene.zero, bottom + 10, { align: "center" });
    const high = scene.low + (scene.perUnit ? plot.width / scene.perUnit : 0);
    for (const { value, text } of niceTicks(scene.low, high, plot.width / 55)) {
      const x = plot.x + (value - scene.low) * scene.perUnit;
      context.fillStyle = theme.line;
      context.fillRect(Math.round(x), bottom, 1, 4);
      if (value !== 0) labels.write(text, x, bottom + 10, { align: "center" });
    }
    const largest = `most: ${integer(scene.top)}${this.#log ? " (log)" : ""}`;
    labels.write(largest, plot.x, 8);
    this.#labels = labels.written;
    this.#paintBar();
  }

  #paintBar(): void {
    const { clientWidth: width, clientHeight: height } = this.#stage;
    clear(this.#overlay, width, height);
    const bar = this.#bar === null ? undefined : this.#scene?.bars[this.#bar];
    if (!bar || !this.#scene) return;
    const { plot } = this.#scene;
    this.#overlay.context.strokeStyle = readTheme(this.#root).text;
    this.#overlay.context.lineWidth = 1;
    this.#overlay.context.strokeRect(bar.x - 0.5, plot.y, Math.max(bar.width, 2) + 1, plot.height);
  }

  #choose(bar: number | null): void {
    if (bar === this.#bar) return;
    this.#bar = bar;
    this.#paintBar();
    this.#say();
  }

  #say(): void {
    const text = this.#bar === null ? "" : (this.#scene?.bars[this.#bar]?.text ?? "");
    this.#said.textContent = text;
    this.#stage.setAttribute("aria-valuetext", text || "no bar chosen");
    this.#stage.setAttribute("aria-valuenow", String(this.#bar ?? 0));
  }

  #listen(signal: AbortSignal): void {
    this.#stage.addEventListener(
      "pointermove",
      (event) => {
        const x = event.clientX - this.#stage.getBoundingClientRect().x;
        this.#choose(this.#scene && barAt(this.#scene, x));
      },
      { signal },
    );
    this.#stage.addEventListener("pointerleave", () => this.#choose(null), { signal });
    this.#stage.addEventListener(
      "keydown",
      (event) => {
        const last = (this.#scene?.bars.length ?? 0) - 1;
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (event.key === "Escape") {
          this.#choose(null);
          this.#root.focus();
        } else if (step !== undefined && last >= 0) {
          const from = this.#bar ?? (step > 0 ? -1 : last + 1);
          this.#choose(Math.max(0, Math.min(last, from + step)));
        } else return;
        event.preventDefault();
        event.stopPropagation();
      },
      { signal },
    );
  }
}
