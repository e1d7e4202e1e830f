import type { StatisticsAnswer } from "../../shared/client/tensor_questions.ts";
import type { Layer } from "../../shared/drawing/canvas.ts";
import * as icons from "../../shared/drawing/icons.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { tidy } from "../../shared/drawing/value_axis.ts";
import { counted, integer } from "../../shared/format.ts";
import { aboutText } from "../../shared/number_text.ts";
import {
  button,
  changeIcon,
  element,
  iconButton,
  KEEP_KEYS,
  listening,
  select,
} from "../../shell/dom.ts";
import { RangeHandles } from "../../shell/range_handles.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import { following } from "../layout_picker.ts";
import { muted, part, TensorPart } from "../parts.ts";
import { named, RangeNote } from "../picture/color_controls.ts";
import {
  type ColorScale,
  nearRange,
  SCALE_CHOICES,
  type ScaleChoice,
  type ScaleKind,
} from "../picture/color_scale.ts";
import type { PlacedLabel } from "../picture/plane_layout.ts";
import type { ShownTensor, TensorHost } from "../state.ts";
import { paintChosen, paintHistogram } from "./histogram_painter.ts";
import { type Spread, spreadOf } from "./spread.ts";
import { barAt, type SpreadScene, spreadScene } from "./spread_scene.ts";

const DRAG = 3;

export class Histogram extends TensorPart implements StagePainters {
  readonly node: HTMLElement;
  readonly #stage = element("div", {
    class: "tvmdbg-stage tvmdbg-tensor-histogram",
    role: "slider",
    tabindex: 0,
    "aria-label":
      "Histogram bars. Arrow keys select one; with Shift, several, which set the color range",
    "aria-valuemin": 0,
    ...KEEP_KEYS,
  });
  readonly #caption = part("bar-text");
  readonly #marks = muted();
  readonly #beyond = new RangeNote(this.host);
  readonly #kinds = select("Histogram scale (h)", named(SCALE_CHOICES), "auto", (kind) =>
    this.#scaled(kind as ScaleChoice),
  );
  readonly #logButton = button("log counts", "Logarithmic count axis (g)", () => this.toggleLog());
  readonly #zoomButton = iconButton(icons.ZOOM_IN, "zoom", "Zoom to the color range (z)", () =>
    this.#zoomTo(this.#narrower),
  );
  readonly #resetButton = iconButton(
    icons.BACK,
    "reset",
    "Reset the color range (Esc, or double-click)",
    () => this.limit(null),
  );
  readonly #handles = new RangeHandles(this);
  readonly #bars = new Stage(
    this.host.root,
    "tvmdbg-base",
    () => this,
    this.host.signal,
    this.#stage,
  );
  #shown: ShownTensor | null = null;
  #known: StatisticsAnswer | null = null;
  #colors: ColorScale | null = null;
  #spread: Spread | null = null;
  #scene: SpreadScene | null = null;
  #kind: ScaleChoice = "auto";
  /** Range of the axis; "auto" leaves out outliers as the colors do. */
  #zoom: readonly [number, number] | "auto" | null = "auto";
  #log = false;
  #bar: number | null = null;
  #anchor: number | null = null;
  #drag: { from: number; moved: boolean } | null = null;
  #labels: PlacedLabel[] = [];

  constructor(host: TensorHost) {
    super(host);
    this.#logButton.setAttribute("aria-pressed", "false");
    this.node = element(
      "section",
      { class: "tvmdbg-tensor-spread", "aria-label": "Histogram" },
      element("h3", {}, "Histogram", this.#marks),
      this.#beyond.node,
      part("handled", this.#stage, ...this.#handles.nodes),
      this.#caption,
      part(
        "spread-bar tvmdbg-wrap",
        this.#kinds,
        this.#logButton,
        this.#zoomButton,
        this.#resetButton,
      ),
    );
    this.#say();
    this.#listen(host.signal);
  }

  show(shown: ShownTensor): void {
    const { statistics, scale, answer } = shown;
    const other = shown.entry.join() !== this.#shown?.entry.join();
    const read = answer?.reading !== this.#shown?.answer?.reading;
    if (statistics === this.#known && scale === this.#colors && !other) return;
    const before = this.#shown?.colors.range ?? null;
    const span = this.#span;
    this.#shown = shown;
    this.#beyond.show(shown);
    if (this.#zoom === "auto" && Array.isArray(shown.colors.range)) this.#zoom = span;
    if (other || read) this.#zoom = "auto";
    const whole = before !== null && before !== shown.colors.range;
    if (whole && typeof shown.colors.range === "string") this.#zoom = "auto";
    if (statistics !== this.#known || other) this.#choose(null);
    this.#known = statistics;
    this.#colors = scale;
    this.#marks.textContent = this.#marks.title = marks(statistics);
    this.#resetButton.hidden = !Array.isArray(shown.colors.range);
    this.#showZoom();
    this.#bars.changed();
  }

  toggleLog(): void {
    this.#log = !this.#log;
    this.#logButton.setAttribute("aria-pressed", String(this.#log));
    this.#bars.changed();
  }

  nextKind(): void {
    this.#scaled(following(SCALE_CHOICES, this.#kind));
  }

  inspected() {
    const { bars = [], plot = null } = this.#scene ?? {};
    return { labels: this.#labels, bars, plot, axis: this.#spread?.axis ?? null };
  }

  #scaled(kind: ScaleChoice): void {
    this.#kind = kind;
    this.#kinds.value = kind;
    this.#choose(null);
    this.#bars.changed();
  }

  #zoomTo(range: readonly [number, number] | null): void {
    this.#zoom = range;
    this.#choose(null);
    this.#showZoom();
    this.#bars.changed();
  }

  #showZoom(): void {
    const isIn = !this.#narrower && this.#span !== null;
    changeIcon(this.#zoomButton, isIn ? icons.ZOOM_OUT : icons.ZOOM_IN);
    const title = isIn ? "Zoom out to all values (z)" : "Zoom to the color range (z)";
    this.#zoomButton.title = this.#zoomButton.ariaLabel = title;
    this.#zoomButton.hidden = !this.#narrower && !isIn;
  }

  /** Scale of the axis, by default that of the colors. */
  get #axisKind(): ScaleKind {
    return this.#kind === "auto" ? (this.#colors?.kind ?? "linear") : this.#kind;
  }

  get #span(): readonly [number, number] | null {
    if (this.#zoom !== "auto") return this.#zoom;
    const range = this.#shown?.colors.range ?? "auto";
    const near = nearRange(this.#known, { scale: this.#axisKind, range });
    return near && [near.low, near.high];
  }

  get #narrower(): readonly [number, number] | null {
    const [range, robust, span] = [this.#shown?.colors.range, this.#known?.robust, this.#span];
    if (Array.isArray(range)) return span?.join() === range.join() ? null : [range[0], range[1]];
    return !span && robust ? [robust.low, robust.high] : null;
  }

  limit(range: readonly [number, number] | null): void {
    const isLimited = Array.isArray(this.#shown?.colors.range);
    if (range || isLimited) this.host.recolor({ range: range ?? "auto" });
  }

  words(value: number): string {
    return aboutText(value, this.#shown?.answer?.valueDtype);
  }

  base(theme: Theme, width: number, height: number, { context }: Layer): void {
    const known = this.#known;
    this.#spread =
      known &&
      spreadOf(known, this.#shown?.answer?.valueDtype ?? "", {
        kind: this.#axisKind,
        zoom: this.#span,
      });
    const size = known?.statistics?.size ?? 0;
    this.#scene = this.#spread && spreadScene(this.#spread, size, width, height, this.#log);
    const view = { spread: this.#spread, scene: this.#scene, colors: this.#colors, theme };
    this.#labels = paintHistogram(context, width, height, view, this.#log);
    this.#stage.setAttribute("aria-valuemax", String(Math.max(0, this.#count - 1)));
    const span = this.#spread?.bars.length ? this.#spread : null;
    const colors = this.#colors;
    this.#handles.place(
      (span && this.#scene?.plot) ?? null,
      span?.axis ?? null,
      colors && [colors.least, colors.most],
    );
  }

  over(theme: Theme, _width: number, _height: number, { context }: Layer): void {
    const chosen =
      this.#bar === null ? null : ([this.#anchor ?? this.#bar, this.#bar] as [number, number]);
    paintChosen(context, this.#scene, chosen, theme);
  }

  get #count(): number {
    return this.#scene?.bars.length ?? 0;
  }

  #choose(bar: number | null, anchor: number | null = null): void {
    if (bar === this.#bar && anchor === this.#anchor) return;
    this.#bar = bar;
    this.#anchor = anchor;
    this.#bars.touched();
    this.#say();
  }

  #say(): void {
    const text = this.#bar === null ? "" : (this.#scene?.bars[this.#bar]?.text ?? "");
    const sample = text && this.#known?.state !== "exact" ? `${text}, in the sample` : text;
    this.#caption.textContent = sample;
    this.#stage.setAttribute("aria-valuetext", sample || "no bar selected");
    this.#stage.setAttribute("aria-valuenow", String(this.#bar ?? 0));
  }

  /** Sets the colors' range to two bars and those between them. */
  #brushBars(one: number, other: number): void {
    const [first, last] = one < other ? [one, other] : [other, one];
    const spans = this.#scene?.bars
      .slice(first, last + 1)
      .flatMap(({ span }) => (span ? [span] : []));
    if (!spans?.length) return;
    const [low, high] = [spans[0]![0], spans.at(-1)![1]];
    if (high > low) this.limit([low, high]);
  }

  #brush(from: number, to: number): void {
    if (!this.#scene || !this.#spread) return;
    const { axis } = this.#spread;
    const { x, width } = this.#scene.plot;
    const [low, high] = [Math.min(from, to), Math.max(from, to)].map((value) =>
      tidy(axis, (value - x) / width, 1 / width),
    ) as [number, number];
    if (high > low) this.limit([low, high]);
  }

  #listen(signal: AbortSignal): void {
    const stage = this.#stage;
    const listen = listening(stage, signal);
    const at = (event: PointerEvent) => event.clientX - stage.getBoundingClientRect().x;
    listen("pointerdown", (event) => {
      if (event.button !== 0 || !this.#scene || event.target instanceof HTMLButtonElement) return;
      const { x, width } = this.#scene.plot;
      if (at(event) > x + width + DRAG) return;
      this.#drag = { from: at(event), moved: false };
      this.#choose(barAt(this.#scene, at(event)));
      stage.setPointerCapture(event.pointerId);
    });
    listen("pointermove", (event) => {
      const x = at(event);
      if (this.#drag && Math.abs(x - this.#drag.from) > DRAG) this.#drag.moved = true;
      if (this.#drag?.moved) this.#brush(this.#drag.from, x);
      this.#choose(this.#scene && barAt(this.#scene, x));
    });
    for (const end of ["pointerup", "pointercancel"] as const) {
      listen(end, () => (this.#drag = null));
    }
    listen("pointerleave", (event) => {
      // A tapped bar keeps its text.
      if (event.pointerType !== "touch" && !this.#drag) this.#choose(null);
    });
    listen("dblclick", () => this.limit(null));
    listen("keydown", (event) => this.#key(event));
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#count - 1;
    const bar = this.#bar;
    const to = {
      ArrowLeft: bar === null ? last : bar - 1,
      ArrowRight: bar === null ? 0 : bar + 1,
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) {
      if (last < 0) return;
      const next = Math.max(0, Math.min(last, to));
      const anchor = event.shiftKey ? (this.#anchor ?? bar ?? next) : null;
      this.#choose(next, anchor);
      if (anchor !== null) this.#brushBars(anchor, next);
    } else if (event.key === "Enter" && bar !== null) this.#brushBars(bar, bar);
    else if (event.key === "z" && !this.#zoomButton.hidden) this.#zoomTo(this.#narrower);
    else if (event.key === "g") this.toggleLog();
    else if (event.key === "h") this.nextKind();
    else if (event.key === "Escape") {
      this.#choose(null);
      if (Array.isArray(this.#shown?.colors.range)) this.limit(null);
      else if (this.#span && this.#zoom !== "auto") this.#zoomTo(null);
      else this.host.leave();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Subject of the histogram: all values, or a sample. */
function marks(known: StatisticsAnswer | null): string {
  if (!known?.statistics) return "";
  if (known.state === "exact") return "of all finite values";
  return `of a sample: ${integer(known.statistics.size)} of ${counted(known.total, "value")}`;
}
