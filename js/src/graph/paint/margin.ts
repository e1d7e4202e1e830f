import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { type Pen, type Rectangle, TextMeasure } from "../../shared/drawing/canvas.ts";
import { verdictSign } from "../data/health.ts";
import { isOfKind } from "../data/times.ts";
import { membersOf } from "../layout/scene.ts";
import { titleOf } from "./frames.ts";
import { type GraphPicture, type LabelRecord, marginStart, PITCH, whole } from "./picture.ts";

/** The longest known time of a node in a box as a share of the longest time, 0 … 1. */
export function heatOf(
  { placed, times }: Pick<GraphPicture, "placed" | "times">,
  box: number,
): number {
  let most = 0;
  for (const node of membersOf(placed.scene, box)) {
    if (times.shown[node]! > most) most = times.shown[node]!;
  }
  return most / Math.max(1, times.largest);
}

/** True if times are shown beside the colors: they are known and the colors show no other measurement. */
export function showsTimes({ times, colorBy }: Pick<GraphPicture, "times" | "colorBy">): boolean {
  return times.known && (colorBy === "kind" || colorBy === "time");
}

export const TEXT_PX = 11;
/** Largest shift of a text from its layer, CSS px. */
const NUDGE = 14;
const BETWEEN = "  |  ";
/** The bar of a row's time, if a column has room for it. */
const BAR = { width: 36, height: 5, least: 230 };
/** Width from which texts are longer, CSS px. */
const WIDE = 460;
/** Height from which frames are named. */
const NAMED = 2 * PITCH;

interface MarginRow {
  layer: number;
  frame: number;
  y: number;
}

export interface MarginLine {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

interface MarginText {
  box: number;
  text: string;
  layer: number;
  row: number;
  x: number;
  y: number;
  width: number;
}

/** Texts of layers in a column beside the graph, if boxes are too small for text but layers are not. */
export class MarginPainter {
  readonly #context: Pen;
  readonly #measure: TextMeasure;
  #spots: MarginText[] = [];
  labels: LabelRecord[] | null = null;

  constructor(context: Pen) {
    this.#context = context;
    this.#measure = new TextMeasure(context);
  }

  clear(): void {
    this.#spots = [];
  }

  paint(picture: GraphPicture): void {
    const { placed, camera } = picture;
    const start = marginStart(placed, camera);
    if (start === null) return;
    const { layout } = placed;
    const { highlight, graph } = picture;
    const { theme } = picture.palette;
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
        context.font = `600 ${TEXT_PX}px ${theme.font}`;
        this.#text(titleOf(picture, placed.scene.frames.group[frame]!), x, y, end, theme.text);
        context.font = `${TEXT_PX}px ${theme.font}`;
        continue;
      }
      const boxes = layout.order.subarray(layout.layerStart[layer]!, layout.layerStart[layer + 1]!);
      const row = bars ? x - 6 - this.#bar(picture, boxes, x - 6, y) : x;
      const isWide = end - x >= WIDE && boxes.length === 1;
      for (const [i, box] of boxes.entries()) {
        if (i > 0) x += this.#text(BETWEEN, x, y, end, theme.muted).width;
        const node = placed.scene.node[box]!;
        const isSoft = highlight !== null && !isOfKind(graph, node, highlight);
        const words = this.#words(picture, box, node, isWide);
        const ink = isSoft ? theme.muted : theme.text;
        const { text, width } = this.#text(words, x, y, end, ink);
        if (!text) break;
        this.#spots.push({ box, layer, row, text, x, y, width });
        x += width;
      }
      this.#leader(picture, boxes[0]!);
    }
  }

  /** The line from the boxes of a layer to their row of texts; it ends at the first text. */
  leader({ placed, camera }: GraphPicture, box: number): MarginLine | null {
    const spot = this.spotOf(box);
    if (!spot) return null;
    const { order, layerStart } = placed.layout;
    const { x, width } = placed.rectangle(order[layerStart[spot.layer + 1]! - 1]!);
    const { y, height } = placed.rectangle(box);
    return {
      x1: camera.screenX(x + width) + 3,
      y1: camera.screenY(y + height / 2),
      x2: spot.row - 4,
      y2: spot.y,
    };
  }

  #leader(picture: GraphPicture, box: number): void {
    const line = this.leader(picture, box);
    if (!line) return;
    const context = this.#context;
    context.strokeStyle = picture.palette.theme.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(line.x1, line.y1);
    context.lineTo(line.x2, line.y2);
    context.stroke();
  }

  /** Rows of text on the stage from the top; names of frames only if all rows have room. */
  #rows({ placed, camera }: GraphPicture): MarginRow[] {
    const { layerTop, layerBottom } = placed.layout;
    const rows: MarginRow[] = [];
    const isOn = (y: number) => y >= 0 && y <= camera.height;
    const view = camera.view();
    placed.eachStretch(view, (first, beyond) => {
      for (let layer = first; layer < beyond; layer++) {
        const y = camera.screenY((layerTop[layer]! + layerBottom[layer]!) / 2);
        if (isOn(y)) rows.push({ layer, frame: -1, y });
      }
    });
    const frames: MarginRow[] = [];
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

  #bar(picture: GraphPicture, boxes: Int32Array, right: number, y: number): number {
    const heat = boxes.reduce((most, box) => Math.max(most, heatOf(picture, box)), 0);
    const long = heat && Math.max(1, BAR.width * heat);
    this.#context.fillStyle = picture.palette.theme.accent;
    this.#context.fillRect(right - long, Math.round(y - BAR.height / 2), long, BAR.height);
    return long;
  }

  spotOf(box: number): Readonly<MarginText> | undefined {
    return this.#spots.find((spot) => spot.box === box);
  }

  /** The text at a point of the stage with its box, or null. */
  at(x: number, y: number): (Rectangle & { box: number }) | null {
    const spot = this.#spots.find(
      (spot) =>
        x >= spot.x - 4 && x <= spot.x + spot.width + 4 && Math.abs(y - spot.y) <= PITCH / 2,
    );
    return spot ? { ...spot, y: spot.y - PITCH / 2, height: PITCH } : null;
  }

  #words(
    { placed, times, colorBy, colors, health }: GraphPicture,
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
      return sign ? `${sign} ${title} · ${health!.brief(box)}` : title;
    }
    if (colorBy !== "kind" && colorBy !== "time") return `${title} · ${colors.meaning(box)}`;
    const ns = times.ns[node]!;
    const parts = [
      title,
      times.brief(ns),
      node === times.slowest ? "slowest" : "",
      isWide ? shape : "",
      isWide ? badge : "",
    ];
    return parts.filter(Boolean).join(" · ");
  }

  #text(
    words: string,
    x: number,
    y: number,
    end: number,
    ink: string,
  ): { text: string; width: number } {
    const text = this.#measure.fit(whole(this.#measure, words, end - x), end - x);
    const width = this.#measure.width(text);
    this.#context.fillStyle = ink;
    this.#context.fillText(text, x, y);
    if (text && words !== BETWEEN) {
      this.labels?.push({ text, node: -1, x, y: y - TEXT_PX / 2, width, height: TEXT_PX });
    }
    return { text, width };
  }
}

/** Rows as near as possible to their wanted positions, but a row's height apart, between the ends of the stage. */
function apart(wanted: readonly number[], height: number): number[] {
  /** Runs of touching rows: their number, and the mean wanted position of the first. */
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
