import type { TensorAnswer } from "../../shared/client/tensor_questions.ts";
import type { Layer } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { counted } from "../../shared/format.ts";
import { div, element } from "../../shell/dom.ts";
import { reveal } from "../../shell/scrolling.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import { AlongPicker } from "../axis_pickers.ts";
import { Failure, Inquiry, muted, part, TensorPart } from "../parts.ts";
import { axesAlong, axisText, type Plane, sameShape } from "../plane.ts";
import { type ShownTensor, type TensorHost, viewOf } from "../state.ts";
import { cellCaption } from "../values/readout.ts";
import {
  Channels,
  channelSigns,
  type DrawChannel,
  type GridLayout,
  gridLayout,
  paintChannel,
  placeIn,
  slotAt,
} from "./channels.ts";
import { cellText } from "./digits.ts";
import { canvasCells } from "./overview.ts";
import type { PlacedLabel } from "./plane_layout.ts";
import { paintCellSigns } from "./plane_painter.ts";

/** Small pictures of the indices of one axis, in the same colors; only visible ones are requested. */
export class ChannelGrid extends TensorPart implements StagePainters {
  readonly #picker = new AlongPicker(this.host, "channels along ", "Axis of the channels (t)");
  readonly #words = muted();
  readonly #scroll = element("div", { class: "tvmdbg-channels-scroll tvmdbg-fill", tabindex: -1 });
  readonly #space = div("tvmdbg-channels-space");
  readonly #stage: Stage;
  readonly #failure = new Failure();
  readonly #pictures = new Inquiry(this.host, "channels");
  readonly node = element(
    "div",
    {
      class: "tvmdbg-tensor-channels tvmdbg-column tvmdbg-fill tvmdbg-gap-4",
      role: "group",
      "aria-label": "Channels",
    },
    part("channels-bar tvmdbg-row tvmdbg-wrap tvmdbg-gap-10", this.#picker.node, this.#words),
    this.#scroll,
    this.#failure.node,
  );
  #shown: ShownTensor | null = null;
  #channels: Channels | null = null;
  #plane = "";
  #opened: number | null = null;
  #at = 0;
  #layout: GridLayout | null = null;
  #request = "";
  #labels: PlacedLabel[] = [];

  constructor(host: TensorHost) {
    super(host);
    const { root, signal } = host;
    this.#scroll.append(this.#space);
    this.#stage = new Stage(root, "tvmdbg-channels-canvas", () => this, signal, this.#scroll);
    this.#scroll.addEventListener("scroll", () => this.#stage.changed(), { signal });
    this.#scroll.addEventListener("pointermove", (event) => this.#hover(event), { signal });
    this.#scroll.addEventListener("click", (event) => {
      const index = this.#indexAt(event);
      if (index === null) return;
      this.#at = index;
      this.open();
    });
  }

  /** Shows the pictures; the one of the requested plane is selected, even if its own picture is still missing. */
  show(shown: ShownTensor, plane: Plane | null): void {
    const { answer } = shown;
    this.#shown = shown;
    if (shown.show !== "channels") this.#opened = null;
    if (shown.show !== "channels" || !answer?.tile) return;
    const isSame = plane !== null && sameShape(plane.shape, answer.viewShape);
    const opened = shown.along === null ? 0 : (isSame ? plane : answer).index[shown.along]!;
    // A late answer keeps a choice made with the keys meanwhile.
    if (this.#start(shown, answer) || opened !== this.#opened) this.#at = opened;
    this.#opened = opened;
    this.#stage.changed();
  }

  move(rows: number, cols: number): void {
    const [channels, layout] = [this.#channels, this.#layout];
    if (!channels || !layout) return;
    const step = Math.abs(rows) > channels.length || Math.abs(cols) > channels.length;
    const to = step
      ? rows + cols > 0
        ? channels.length - 1
        : 0
      : this.#at + rows * layout.columns + cols;
    this.#at = Math.max(0, Math.min(channels.length - 1, to));
    const { y, height } = placeIn(layout, this.#at);
    reveal(this.#scroll, y, height);
    this.host.panels.mirror.say(this.#wordsOf(this.#at));
    this.#stage.changed();
  }

  open(): void {
    if (this.#shown?.show === "channels" && this.#channels)
      this.host.open(this.#channels.axis, this.#at);
  }

  get canvas(): HTMLCanvasElement {
    return this.#stage.canvas;
  }

  inspected(): object {
    const [layout, channels] = [this.#layout, this.#channels];
    if (!layout || !channels) return { labels: [], marks: [] };
    const { first, count } = layout.inSight;
    return {
      labels: this.#labels,
      columns: layout.columns,
      marks: Array.from({ length: count }, (_, k) => {
        const index = first + k;
        const channel = channels.get(index);
        const { x, y, width, height } = placeIn(layout, index);
        const signs = channel ? channelSigns(channel) : null;
        return { index, x, y: y - layout.scrolled, width, height, known: !!channel, signs };
      }),
    };
  }

  #start(shown: ShownTensor, answer: TensorAnswer): boolean {
    const axis = shown.along;
    const { viewShape } = answer;
    const index = answer.index.map((at, dim) =>
      dim === axis || answer.axes.includes(dim) ? 0 : at,
    );
    const plane = JSON.stringify([{ ...viewOf(answer), index }, axis]);
    if (plane === this.#plane) return false;
    this.#plane = plane;
    this.#request = "";
    this.#pictures.forget();
    this.#failure.clear();
    this.#channels = axis === null ? null : new Channels(axis, viewShape[axis]!);
    this.#picker.show(shown, axesAlong(viewShape, answer.axes));
    if (axis === null) {
      this.#words.textContent =
        "No axis is left for channels: the heatmap shows all axes longer than 1.";
    }
    return true;
  }

  base(theme: Theme, width: number, height: number, { canvas, context }: Layer): void {
    const [shown, channels] = [this.#shown, this.#channels];
    if (!shown?.answer?.tile || shown.show !== "channels") return;
    this.#labels = [];
    if (!channels) {
      this.#layout = null;
      this.#space.style.height = "0";
      this.host.painted();
      return;
    }
    const { planeRows, planeCols } = shown.answer.tile;
    const layout = gridLayout(
      { count: channels.length, planeRows, planeCols },
      { width, height },
      this.#scroll.scrollTop,
    );
    this.#layout = layout;
    this.#space.style.height = `${layout.height}px`;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    this.#ask(shown.answer, layout, channels);
    const paint = canvasCells(context, { scale: shown.scale, cells: shown.cells });
    const draw: DrawChannel = (channel, box) => {
      paint(channel, Math.min(box.width / channel.cols, box.height / channel.rows), box);
      paintCellSigns(context, box, channel);
    };
    context.save();
    context.translate(0, -layout.scrolled);
    const { first, count } = layout.inSight;
    for (let index = first; index < first + count; index += 1) {
      const chosen = index === this.#at;
      const channel = channels.get(index);
      this.#labels.push(paintChannel(context, layout, index, channel, { theme, draw, chosen }));
    }
    context.restore();
    this.#announce(channels);
    if (!channels.missing(first, count)) this.host.painted();
  }

  #ask(answer: TensorAnswer, layout: GridLayout, channels: Channels): void {
    const wanted = channels.missing(layout.inSight.first, layout.inSight.count);
    if (!wanted) return;
    const { rows, cols } = layout.cells;
    const question = { ...viewOf(answer), axis: channels.axis, ...wanted, rows, cols };
    const key = JSON.stringify(question);
    if (key === this.#request) return;
    this.#request = key;
    this.#pictures.ask(
      question,
      (answer) => {
        channels.add(answer);
        this.#failure.clear();
        this.#stage.changed();
      },
      (error) => this.#failure.tell("channels", error),
    );
  }

  #announce(channels: Channels): void {
    const { known, dead, odd } = channels.counts();
    const parts = [
      known < channels.length
        ? `${known} of ${counted(channels.length, "channel")} read`
        : counted(channels.length, "channel"),
      dead ? `${dead} dead (all zero)` : "",
      odd ? `${odd} with NaN or Inf` : "",
      channels.steps && this.#shown ? cellCaption(channels.steps, this.#shown.cells) : "",
    ];
    this.#words.textContent = parts.filter(Boolean).join(" · ");
  }

  #wordsOf(index: number): string {
    const channel = this.#channels?.get(index);
    const name = axisText(this.#shown?.answer?.axisNames ?? [], this.#shown?.along ?? null);
    if (!channel) return `${name} ${index}`;
    const signs = channelSigns(channel);
    const dtype = this.#shown?.answer?.valueDtype ?? "";
    const [low, high] = [cellText(channel.low, dtype), cellText(channel.high, dtype)];
    return `${name} ${index}: ${low} to ${high}${signs.length ? `, ${signs.join(", ")}` : ""}`;
  }

  #indexAt(event: MouseEvent): number | null {
    const [layout, channels] = [this.#layout, this.#channels];
    if (!layout || !channels) return null;
    const box = this.#scroll.getBoundingClientRect();
    const index = slotAt(layout, event.clientX - box.x, event.clientY - box.y + layout.scrolled);
    return index !== null && index < channels.length ? index : null;
  }

  #hover(event: PointerEvent): void {
    const index = this.#indexAt(event);
    this.#scroll.title = index === null ? "" : this.#wordsOf(index);
    this.#scroll.style.cursor = index === null ? "" : "pointer";
  }
}
