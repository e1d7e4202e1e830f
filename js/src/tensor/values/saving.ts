import { errorText, isAbort } from "../../shared/client/request.ts";
import type { PlaneView, ProfileAnswer } from "../../shared/client/tensor_questions.ts";
import { TextMeasure } from "../../shared/drawing/canvas.ts";
import * as icons from "../../shared/drawing/icons.ts";
import { readTheme, type Theme } from "../../shared/drawing/theme.ts";
import { bytes as byteText, counted, shapeText } from "../../shared/format.ts";
import { append } from "../../shared/many.ts";
import {
  button,
  div,
  download,
  downloadProblem,
  element,
  fileName,
  iconButton,
  type Mirror,
} from "../../shell/dom.ts";
import { shiftText } from "../descriptions.ts";
import { part, TensorPart } from "../parts.ts";
import { legendTicks } from "../picture/color_legend.ts";
import { cssColor, specialKey } from "../picture/color_scale.ts";
import { answeredPlane, planeCols, planeRows } from "../plane.ts";
import {
  hasValues,
  type Region,
  type ShownTensor,
  type TensorHost,
  type ValueLook,
  viewOf,
} from "../state.ts";
import { codeText, savingText } from "./code_text.ts";
import {
  csvText,
  type FetchedValues,
  fetchBytes,
  fetchTexts,
  npyHeader,
  numbersOf,
} from "./fetch_view.ts";

const PAD = 12;
const LINE = 17;
const BAR = 260;
const FONT = 12;

/** The picture as on screen, with its title above and its legend below. */
function snapshot(
  picture: HTMLCanvasElement,
  shown: ShownTensor,
  words: readonly string[],
  theme: Theme,
): HTMLCanvasElement {
  const ratio = picture.width / (picture.clientWidth || picture.width) || 1;
  const [width, height] = [picture.width / ratio, picture.height / ratio];
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2-D canvas");
  const font = `${FONT}px ${theme.font}`;
  context.font = font;
  const measure = new TextMeasure(context);
  const total = Math.max(width, BAR + 60, 320) + 2 * PAD;
  const swatches = specialKey(shown.statistics?.statistics);
  const below = (shown.scale ? 40 : 0) + (swatches.length ? LINE + 4 : 0);
  const top = PAD + words.length * LINE + 6;
  canvas.width = Math.round(total * ratio);
  canvas.height = Math.round((top + height + below + PAD) * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, total, top + height + below + PAD);
  context.textBaseline = "middle";
  context.fillStyle = theme.text;
  words.forEach((line, k) => {
    context.font = k === 0 ? `600 ${font}` : font;
    context.fillText(measure.fit(line, total - 2 * PAD), PAD, PAD + (k + 0.5) * LINE);
  });
  for (const layer of picture.parentElement?.querySelectorAll(":scope > canvas") ?? []) {
    context.drawImage(layer as HTMLCanvasElement, PAD, top, width, height);
  }
  context.font = font;
  let y = top + height + 8;
  if (shown.scale) {
    paintBar(context, shown, y, theme);
    y += 36;
  }
  let x = PAD;
  for (const { color, text } of swatches) {
    context.fillStyle = color;
    context.fillRect(x, y, 14, 14);
    context.fillStyle = theme.text;
    context.fillText(text, x + 19, y + 7.5);
    x += 19 + measure.width(text) + 16;
  }
  return canvas;
}

function paintBar(
  context: CanvasRenderingContext2D,
  { scale, answer }: ShownTensor,
  y: number,
  theme: Theme,
): void {
  if (!scale) return;
  const dtype = answer?.valueDtype;
  for (let x = 0; x < BAR; x += 1) {
    context.fillStyle = cssColor(scale.map, scale.single ? 0.5 : x / (BAR - 1));
    context.fillRect(PAD + x, y, 1, 12);
  }
  context.fillStyle = theme.text;
  for (const { text, at, align } of legendTicks(scale, BAR, dtype)) {
    context.textAlign = align === "middle" ? "center" : align;
    context.fillText(text, PAD + at, y + 22);
  }
  context.textAlign = "start";
  context.fillText(scale.kind, PAD + BAR + 8, y + 6);
}

/** Most values in a file made by the page; Python is quicker with more. */
const MOST = { npy: 2 ** 25, csv: 2 ** 20 } as const;

interface SavingSource {
  readonly canvas: HTMLCanvasElement | null;
  readonly profile: { readonly profile: ProfileAnswer | null };
  readonly mirror: Mirror;
}

type SaveFormat = "npy" | "csv" | "png";

/** Saves the visible part: its values as numpy's file or as text, or its picture. */
export class TensorExport extends TensorPart<SavingSource> {
  readonly #button = iconButton(icons.SAVE, "save", "Save this view (w)", () => this.toggle());
  readonly #status = div("tvmdbg-tensor-save-status tvmdbg-anywhere");
  readonly #bar = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "Fetched" });
  readonly #kinds = { npy: this.#offer("npy"), csv: this.#offer("csv"), png: this.#offer("png") };
  readonly #cancel = button("cancel", "Stop saving", () => this.#busy?.abort());
  readonly #menu = element(
    "div",
    {
      class: "tvmdbg-tensor-save-menu tvmdbg-column",
      role: "group",
      "aria-label": "Save this view",
      hidden: true,
    },
    part("save-kinds tvmdbg-row tvmdbg-wrap tvmdbg-gap-10", ...Object.values(this.#kinds)),
    this.#bar,
    this.#cancel,
    this.#status,
  );
  readonly node = part("save", this.#button, this.#menu);
  #shown: ShownTensor | null = null;
  #busy: AbortController | null = null;

  constructor(host: TensorHost, source: SavingSource) {
    super(host, source);
    this.#cancel.hidden = true;
    this.#button.setAttribute("aria-expanded", "false");
    this.#menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.toggle();
      host.leave();
    });
    document.addEventListener("pointerdown", (event) => this.#leave(event), {
      signal: host.signal,
    });
  }

  #offer(kind: SaveFormat): HTMLButtonElement {
    return button(kind, TITLES[kind], () => this.#save(kind));
  }

  show(shown: ShownTensor): void {
    this.#shown = shown;
    this.node.hidden = !shown.answer || !hasValues(shown.answer);
    this.#kinds.png.hidden = !shown.answer?.tile;
  }

  toggle(): void {
    if (this.node.hidden) return;
    this.#menu.hidden = !this.#menu.hidden;
    this.#button.setAttribute("aria-expanded", String(!this.#menu.hidden));
    if (this.#menu.hidden) return;
    this.#tell(this.#summary());
    this.#menu.querySelector("button")?.focus({ preventScroll: true });
  }

  /** The menu covers parts of the view: a press outside closes it, unless it shows progress. */
  #leave(event: PointerEvent): void {
    if (this.#menu.hidden || this.#busy || event.composedPath().includes(this.node)) return;
    this.toggle();
  }

  #planes({ answer, show, along }: ShownTensor): PlaneView[] {
    const view = viewOf(answer!);
    if (show !== "channels" || along === null) return [view];
    return Array.from({ length: answer!.viewShape[along]! }, (_, at) => {
      return { ...view, index: answer!.index.map((value, axis) => (axis === along ? at : value)) };
    });
  }

  #shape(shown: ShownTensor): number[] {
    const [down, across] = shown.answer!.axes;
    const [, , rows, cols] = windowOf(shown);
    const plane = across === null ? [] : down === null ? [cols] : [rows, cols];
    const along = shown.show === "channels" ? shown.along : null;
    return along === null ? plane : [shown.answer!.viewShape[along]!, ...plane];
  }

  #summary(): string {
    const shown = this.#shown;
    if (!shown?.answer) return "";
    const profile = this.beside.profile.profile;
    const what =
      shown.show === "line plot"
        ? `min, mean and max at ${counted(profile?.mean.length ?? 0, "point")}`
        : `values of shape ${shapeText(this.#shape(shown))}`;
    return `npy and csv: ${what}; png: the image.`;
  }

  #tell(text: string): void {
    this.#status.textContent = text;
    this.beside.mirror.say(text);
  }

  async #save(kind: SaveFormat): Promise<void> {
    const shown = this.#shown;
    if (!shown?.answer || this.#busy) return;
    const problem = downloadProblem();
    const values = shown.show === "line plot" ? 0 : this.#shape(shown).reduce((a, b) => a * b, 1);
    if (problem || (kind !== "png" && values > MOST[kind])) {
      const why = problem || `${counted(values, "value")}: too many to save from a page.`;
      this.#tell(`${why} In Python: ${savingText(kind, shown)}`);
      return;
    }
    this.#busy = new AbortController();
    this.#cancel.hidden = this.#bar.hidden = kind === "png";
    this.#bar.value = 0;
    const signal = AbortSignal.any([this.#busy.signal, this.host.signal]);
    try {
      const [blob, note] = await this.#make(kind, shown, signal);
      const { entry, name, index, axes } = shown.answer;
      const place = index.map((value, axis) => (axes.includes(axis) ? "x" : value)).join("-");
      const file = fileName([entry.join("-"), name, place], kind);
      download(file, blob);
      this.#tell(`${file}, ${byteText(blob.size)}.${note ? ` ${note}.` : ""}`);
    } catch (error) {
      this.#tell(isAbort(error) ? "Not saved: stopped." : `Not saved: ${errorText(error)}`);
    } finally {
      this.#busy = null;
      if (document.activeElement === this.#cancel) this.#kinds[kind].focus({ preventScroll: true });
      this.#cancel.hidden = this.#bar.hidden = true;
    }
  }

  #make(kind: SaveFormat, shown: ShownTensor, signal: AbortSignal): Promise<[Blob, note: string]> {
    if (kind === "png") return this.#png(shown);
    if (shown.show === "line plot") return this.#profile(kind);
    return kind === "npy" ? this.#npy(shown, signal) : this.#csv(shown, signal);
  }

  #progress(plane: number, planes: number) {
    return (done: number, total: number) => {
      this.#bar.value = (plane + (total > 0 ? done / total : 1)) / planes;
    };
  }

  async #npy(shown: ShownTensor, signal: AbortSignal): Promise<[Blob, string]> {
    const { values } = shown;
    const [planes, shape] = [this.#planes(shown), this.#shape(shown)];
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let [descr, note] = ["|u1", ""];
    for (const [k, view] of planes.entries()) {
      const progress = this.#progress(k, planes.length);
      const fetched = await fetchBytes(this.host.run, view, windowOf(shown), progress, signal);
      ({ descr, note } = fetched);
      pieces.push(values.format === "dequantized" ? dequantized(fetched, values) : fetched.bytes);
    }
    if (values.format === "dequantized") {
      [descr, note] = [
        "<f8",
        `(value ${shiftText(values.zeroPoint)}) × ${values.scale} as float64`,
      ];
    }
    return [new Blob([npyHeader(descr, shape), ...pieces]), note];
  }

  async #csv(shown: ShownTensor, signal: AbortSignal): Promise<[Blob, string]> {
    const { values } = shown;
    const planes = this.#planes(shown);
    const rows: string[][] = [];
    for (const [k, view] of planes.entries()) {
      const progress = this.#progress(k, planes.length);
      append(
        rows,
        await fetchTexts(this.host.run, view, values, windowOf(shown), progress, signal),
      );
    }
    const how = { number: "", hex: "as hex", bits: "as bits", dequantized: "dequantized" };
    return [new Blob([csvText(rows)], { type: "text/csv" }), how[values.format]];
  }

  async #profile(kind: "npy" | "csv"): Promise<[Blob, string]> {
    const profile = this.beside.profile.profile;
    if (!profile) throw new Error("the line plot has not loaded yet");
    const { minimum, mean, maximum, step } = profile;
    const note = step > 1 ? `each point covers ${counted(step, "index")}` : "";
    if (kind === "csv") {
      const text = (value: number) => String(value);
      const rows = Array.from(mean, (value, k) => [
        text(k * step),
        ...[minimum[k]!, value, maximum[k]!].map(text),
      ]);
      return [new Blob([csvText([["index", "min", "mean", "max"], ...rows])]), note];
    }
    const columns = [minimum, mean, maximum].map((column) => column.slice());
    return [
      new Blob([npyHeader(`<f${mean.BYTES_PER_ELEMENT}`, [3, mean.length]), ...columns]),
      `rows: min, mean, max. ${note}`,
    ];
  }

  async #png(shown: ShownTensor): Promise<[Blob, string]> {
    const picture = this.beside.canvas;
    const { answer } = shown;
    if (!picture || !answer) throw new Error("there is no image");
    const stored = answer.missingLanes ? "all stored values" : "all values";
    const exact = answer.tile?.exact ? stored : "sampled";
    const layout = /\d/.test(answer.layout) ? `, unfolded from ${answer.layout}` : "";
    const words = [
      answer.title,
      `${answer.dtype} ${shapeText(answer.viewShape)}${layout}, ${exact}`,
      codeText({ ...shown, values: { ...shown.values, format: "number" } }, null) ?? "",
    ];
    const scale = shown.show === "line plot" ? null : shown.scale;
    const canvas = snapshot(picture, { ...shown, scale }, words, readTheme(this.host.root));
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
    if (!blob) throw new Error("the browser could not make the image");
    return [blob, ""];
  }
}

/** The visible part; tiles show all of their planes. */
function windowOf({ answer, region, show }: ShownTensor): Region {
  const plane = answeredPlane(answer!);
  return (show === "heatmap" && region) || [0, 0, planeRows(plane), planeCols(plane)];
}

const TITLES: Record<SaveFormat, string> = {
  npy: "Save the values as a NumPy file (.npy)",
  csv: "Save the values as text (.csv)",
  png: "Save the image with its legend (.png)",
};

/** Dequantized values as float64 in little endian. */
function dequantized({ descr, bytes }: FetchedValues, { scale, zeroPoint }: ValueLook) {
  const numbers = numbersOf(descr, new DataView(bytes.buffer));
  if (!numbers) throw new Error("these values are not real numbers and cannot be dequantized");
  const out = new DataView(new ArrayBuffer(8 * numbers.length));
  for (const [k, value] of numbers.entries()) {
    out.setFloat64(8 * k, (value - zeroPoint) * scale, true);
  }
  return new Uint8Array(out.buffer);
}
