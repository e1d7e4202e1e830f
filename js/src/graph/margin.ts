import tokens from "../../../tvmdbg_widgets/figures/tokens.json";
import { TextMeasure } from "../shared/canvas.ts";
import { duration } from "../shared/format.ts";
import type { Camera } from "./camera.ts";
import { verdictSign } from "./health.ts";
import { heatOf, showsTimes } from "./heat.ts";
import type { LabelRecord, Picture } from "./picture.ts";
import type { Placed } from "./placed.ts";
import { whole } from "./whole.ts";

export const TEXT_PX = 11;
/** Least distance between two rows of text, and how far a text may stand from its layer for that, CSS px. */
const PITCH = 11.5;
const NUDGE = 14;
const GAP = 14;
const LEAST_ROOM = 150;
const BETWEEN = "  |  ";
/** The bar that tells how long what stands in a row took; where a column has room for it. */
const BAR = { width: 36, height: 5, least: 230 };
/** With so much room, a text says more, CSS px. */
const WIDE = 460;
/** Lines from boxes to their texts are drawn from this length on, and frames named from this height on. */
const LEADER = 10;
const NAMED = 2 * PITCH;

/** A row of texts: a layer's, or the name of a frame (-1 for none). */
interface Row {
  layer: number;
  frame: number;
  y: number;
}

interface Spot {
  box: number;
  text: string;
  layer: number;
  /** Where the first text of the row begins. */
  row: number;
  x: number;
  y: number;
  width: number;
}

/**
 * Where boxes are too small for text but layers are not: what each layer holds, in a column beside the graph.
 * Long thin graphs can so be read as a whole.
 */
export class MarginPainter {
  readonly #context: CanvasRenderingContext2D;
  readonly #measure: TextMeasure;
  #spots: Spot[] = [];
  labels: LabelRecord[] | null = null;

  constructor(context: CanvasRenderingContext2D) {
    this.#context = context;
    this.#measure = new TextMeasure(context);
  }

  /** Forgets the texts of the frame before. */
  clear(): void {
    this.#spots = [];
  }

  paint(picture: Picture): void {
    const { placed, camera } = picture;
    const start = marginStart(placed, camera);
    if (start === null) return;
    const { layout } = placed;
    const context = this.#context;
    context.font = `${TEXT_PX}px ${picture.palette.theme.font}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const end = camera.width - 8;
    const wanted = this.#rows(picture);
    const rows = apart(
      wanted.map(({ y }) => y),
      camera.height,
    );
    const bars = showsTimes(picture) && end - start >= BAR.least ? BAR.width + 6 : 0;
    for (const [i, { layer, frame, y: at }] of wanted.entries()) {
      const y = rows[i]!;
      if (Math.abs(y - at) > NUDGE) continue;
      let x = start + bars;
      if (frame >= 0) {
        this.#name(picture, frame, x, y, end);
        continue;
      }
      const [from, to] = [layout.layerStart[layer]!, layout.layerStart[layer + 1]!];
      const left = bars ? x - 6 - this.#bar(picture, layout.order.subarray(from, to), x - 6, y) : x;
      this.#leader(picture, layout.order[to - 1]!, at, left - 4, y);
      const isWide = end - x >= WIDE && to - from === 1;
      for (let row = from; row < to && x < end; row++) {
        if (row > from) x = this.#text(BETWEEN, null, x, y, end, picture);
        const box = layout.order[row]!;
        const node = placed.scene.node[box]!;
        const of = { box, node, layer, row: left };
        x = this.#text(this.#words(picture, box, node, isWide), of, x, y, end, picture);
      }
    }
  }

  /** What has a text on the stage, from above; the names of frames only where there is room for all of it. */
  #rows({ placed, camera }: Picture): Row[] {
    const { layerTop, layerBottom } = placed.layout;
    const rows: Row[] = [];
    const isOn = (y: number) => y >= 0 && y <= camera.height;
    const view = camera.view();
    placed.eachStretch(view, (first, beyond) => {
      for (let layer = first; layer < beyond; layer++) {
        const y = camera.screenY((layerTop[layer]! + layerBottom[layer]!) / 2);
        if (isOn(y)) rows.push({ layer, frame: -1, y });
      }
    });
    const frames: Row[] = [];
    const least = NAMED / camera.scale;
    if (tokens.group.header * camera.scale < TEXT_PX) {
      placed.eachFrame(
        view,
        (frame) => {
          const y = camera.screenY(placed.frame(frame).y) + PITCH / 2;
          if (isOn(y)) frames.push({ layer: -1, frame, y });
        },
        least,
      );
    }
    if ((rows.length + frames.length) * PITCH > camera.height) return rows;
    return [...rows, ...frames].sort((a, b) => a.y - b.y);
  }

  /** A thin line from the boxes of a layer to their texts. */
  #leader({ placed, camera, palette }: Picture, last: number, at: number, end: number, y: number) {
    const { x, width } = placed.rectangle(last);
    const from = camera.screenX(x + width) + 3;
    if (end - from < LEADER) return;
    const context = this.#context;
    context.strokeStyle = palette.theme.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(from, at);
    if (Math.abs(y - at) > 1) context.lineTo(Math.max(from, end - 2 * LEADER), at);
    context.lineTo(end, y);
    context.stroke();
  }

  /** The time of the slowest in a row, as a bar that ends at `right`; gives its length. */
  #bar(picture: Picture, boxes: Int32Array, right: number, y: number): number {
    const heat = boxes.reduce((most, box) => Math.max(most, heatOf(picture, box)), 0);
    const long = heat && Math.max(1, BAR.width * heat);
    this.#context.fillStyle = picture.palette.theme.accent;
    this.#context.fillRect(right - long, Math.round(y - BAR.height / 2), long, BAR.height);
    return long;
  }

  /** The title of an open group, with its time. */
  #name(
    { placed, groups, times, palette }: Picture,
    frame: number,
    x: number,
    y: number,
    end: number,
  ) {
    const group = placed.scene.frames.group[frame]!;
    const words = [groups.title(group), times.text(groups.ns(group))].filter(Boolean).join(" · ");
    const context = this.#context;
    context.font = `600 ${TEXT_PX}px ${palette.theme.font}`;
    const text = this.#measure.fit(whole(this.#measure, words, end - x), end - x);
    context.fillStyle = palette.theme.text;
    context.fillText(text, x, y);
    const width = this.#measure.width(text);
    if (text) this.labels?.push({ text, node: -1, x, y: y - TEXT_PX / 2, width, height: TEXT_PX });
    context.font = `${TEXT_PX}px ${palette.theme.font}`;
  }

  /** Where the box's text is; undefined where it has none. */
  spotOf(box: number): Readonly<Spot> | undefined {
    return this.#spots.find((each) => each.box === box);
  }

  /** The box whose text is at a point of the stage, -1 where there is none. */
  boxAt(x: number, y: number): number {
    const spot = this.#spots.find(
      (each) =>
        x >= each.x - 4 && x <= each.x + each.width + 4 && Math.abs(y - each.y) <= PITCH / 2,
    );
    return spot ? spot.box : -1;
  }

  #words(
    { placed, times, colorBy, colors, health }: Picture,
    box: number,
    node: number,
    isWide: boolean,
  ): string {
    const { title, time, shape, badge } = placed.scene.text(box);
    if (placed.scene.group[box]! >= 0) {
      return `${title} · ${colors.words(box) ?? (times.known ? time : shape)}`;
    }
    if (colorBy === "health") {
      const sign = health ? verdictSign(health.verdict(box)) : "";
      return sign ? `${sign} #${node} ${title} · ${health!.brief(box)}` : `#${node} ${title}`;
    }
    if (colorBy !== "kind" && colorBy !== "time") return `#${node} ${title} · ${colors.said(box)}`;
    const ns = times.ns[node]!;
    const parts = [
      `#${node} ${title}`,
      ns > 0 ? duration(ns) : "",
      node === times.slowest ? "slowest" : "",
      isWide ? shape.replace(/^#\d+ · /, "") : "",
      isWide ? badge : "",
    ];
    return parts.filter(Boolean).join(" · ");
  }

  #text(
    words: string,
    of: { box: number; node: number; layer: number; row: number } | null,
    x: number,
    y: number,
    end: number,
    { palette, highlight, graph }: Picture,
  ): number {
    const context = this.#context;
    const fitted = this.#measure.fit(whole(this.#measure, words, end - x), end - x);
    if (!fitted) return end;
    const width = this.#measure.width(fitted);
    const soft = !of || (highlight !== null && graph.opKinds.at(of.node) !== highlight);
    context.fillStyle = soft ? palette.theme.muted : palette.theme.text;
    context.fillText(fitted, x, y);
    if (!of) return x + width;
    this.#spots.push({ box: of.box, layer: of.layer, row: of.row, text: fitted, x, y, width });
    this.labels?.push({ text: fitted, node: -1, x, y: y - TEXT_PX / 2, width, height: TEXT_PX });
    return x + width;
  }
}

/** Rows as near as can be to where they are wanted, but a row's height apart, between the ends of the stage. */
function apart(wanted: readonly number[], height: number): number[] {
  /** Runs of rows that stand one below the other: how many, and the mean of where the first of them is wanted. */
  const runs: { count: number; first: number }[] = [];
  for (const [i, y] of wanted.entries()) {
    let run = { count: 1, first: y - i * PITCH };
    for (let before = runs.at(-1); before && before.first > run.first; before = runs.at(-1)) {
      const count = before.count + run.count;
      run = { count, first: (before.first * before.count + run.first * run.count) / count };
      runs.pop();
    }
    runs.push(run);
  }
  const lowest = height - PITCH / 2 - (wanted.length - 1) * PITCH;
  return runs
    .flatMap(({ count, first }) => new Array<number>(count).fill(first))
    .map((first, i) => Math.max(PITCH / 2, Math.min(lowest, first)) + i * PITCH);
}

/** Left end of the column of texts; null where it has no room, or the layers are too close. */
export function marginStart(placed: Placed, camera: Camera): number | null {
  const { bounds, layers, direction } = placed.layout;
  if (direction === "right" || placed.columns > 1) return null;
  if (((bounds.maxY - bounds.minY) / Math.max(1, layers)) * camera.scale < PITCH) return null;
  const start = Math.max(GAP, camera.screenX(bounds.maxX) + GAP);
  return camera.width - start >= LEAST_ROOM ? start : null;
}
