import { TextMeasure } from "../shared/canvas.ts";
import { duration } from "../shared/format.ts";
import type { Camera } from "./camera.ts";
import { verdictSign } from "./health.ts";
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
    const layers: number[] = [];
    const wanted: number[] = [];
    placed.eachStretch(camera.view(), (first, beyond) => {
      for (let layer = first; layer < beyond; layer++) {
        const middle = (layout.layerTop[layer]! + layout.layerBottom[layer]!) / 2;
        const y = camera.screenY(middle);
        if (y < 0 || y > camera.height) continue;
        layers.push(layer);
        wanted.push(y);
      }
    });
    const rows = apart(wanted, camera.height);
    for (const [i, layer] of layers.entries()) {
      const y = rows[i]!;
      if (Math.abs(y - wanted[i]!) > NUDGE) continue;
      let x = start;
      const [from, to] = [layout.layerStart[layer]!, layout.layerStart[layer + 1]!];
      for (let row = from; row < to && x < end; row++) {
        if (row > from) x = this.#text(BETWEEN, null, x, y, end, picture);
        const box = layout.order[row]!;
        const node = placed.scene.node[box]!;
        const of = { box, node, layer, row: start };
        x = this.#text(this.#words(picture, box, node), of, x, y, end, picture);
      }
    }
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

  #words({ placed, times, colorBy, colors, health }: Picture, box: number, node: number): string {
    const { title, time, shape } = placed.scene.text(box);
    if (placed.scene.group[box]! >= 0) {
      return `${title} · ${colors.words(box) ?? (times.known ? time : shape)}`;
    }
    if (colorBy === "health") {
      const sign = health ? verdictSign(health.verdict(box)) : "";
      return sign ? `${sign} #${node} ${title} · ${health!.brief(box)}` : `#${node} ${title}`;
    }
    if (colorBy !== "kind" && colorBy !== "time") return `#${node} ${title} · ${colors.said(box)}`;
    const ns = times.ns[node]!;
    return `#${node} ${title}${ns > 0 ? ` · ${duration(ns)}` : ""}${node === times.slowest ? " · slowest" : ""}`;
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
