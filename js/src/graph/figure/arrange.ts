import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { Size } from "../../shared/drawing/canvas.ts";
import { finished, largest } from "../../shared/many.ts";
import { Camera, isLegible, LEGIBLE_SCALE, STAGE_MARGIN, scaleIn } from "../camera.ts";
import { TEXT_START } from "../layout/labels.ts";
import { layout } from "../layout/layout.ts";
import { layoutInput } from "../layout/layouts.ts";
import { PlacedScene } from "../layout/placed_scene.ts";
import type { GraphScene } from "../layout/scene.ts";
import type { Direction, LayoutInput, LayoutResult } from "../layout/types.ts";
import { inColumns } from "../layout/wrapping.ts";
import type { GraphSheet } from "./sheet.ts";

/** Spacing, less than in the live view: a figure cannot be zoomed, px. */
const SPACING = {
  nodeGap: 14,
  lineGap: 9,
  trackGap: 7,
  componentGap: 24,
  frameHeader: tokens.group.header,
  framePadding: 7,
};
const LAYER_GAP = 10;
const TAG = tokens.group.tag;
const COLUMN_GAP = 26;
const LINES = [0, 60];
const MOST_COLUMNS = 4;
/** Gain in height that justifies narrower boxes. */
const SHORTER = 0.85;
/** Least width of a box, and of one in a graph that runs to the right (else two fill a row), px. */
const LEAST = 100;
const LEAST_COMPACT = 142;
const WIDEST_RIGHT = 172;
const NARROW = 172;

export interface SceneLayout {
  scene: GraphScene;
  input: LayoutInput;
  result: LayoutResult;
}

export class Narrowing {
  readonly #sheet: GraphSheet;
  readonly #direction: Direction;
  readonly #plain: GraphScene;
  readonly #least: Float32Array;
  readonly #known: SceneLayout[] = [];
  readonly #more: Iterator<SceneLayout>;

  /** @param stage The largest size of the scene, px. */
  constructor(sheet: GraphSheet, scene: GraphScene, direction: Direction, stage: Size) {
    this.#sheet = sheet;
    this.#direction = direction;
    this.#plain = scene;
    this.#least = scene.width.map((_, box) => this.#leastOf(box));
    this.#more = this.#make(stage);
  }

  /** Layouts with ever narrower boxes: those that hardly cut titles, the others, or all (null). */
  *scenes(isNarrow: boolean | null = null): Generator<SceneLayout> {
    const wide = Math.min(NARROW, largest(this.#plain.width));
    for (let at = 0; ; at++) {
      if (at === this.#known.length) {
        const next = this.#more.next();
        if (next.done) return;
        this.#known.push(next.value);
      }
      const laid = this.#known[at]!;
      const isOwn = isNarrow === largest(laid.scene.width) < wide;
      if (isNarrow === null || isOwn) yield laid;
    }
  }

  get leastArea(): number {
    const { height } = this.#plain;
    return this.#least.reduce((sum, wide, box) => sum + wide * height[box]!, 0);
  }

  #leastOf(box: number): number {
    const { width, text, compact } = this.#plain;
    const { shape, time } = text(box);
    const facts = [shape, time].map((line) => line.split(" · ").slice(0, 2).join(" · "));
    const { text: widths } = this.#sheet.request;
    const small = largest(facts.map((line) => widths.width(line, tokens.font.small)));
    const beside = Math.max(TEXT_START, TAG) + tokens.node.padding + 2;
    const least = compact ? LEAST_COMPACT : small / LEGIBLE_SCALE + beside;
    return Math.min(width[box]!, Math.max(LEAST, least));
  }

  *#make({ width, height }: Size): Generator<SceneLayout> {
    const input = this.#input(this.#plain);
    const plain = { scene: this.#plain, input, result: layout(input) };
    yield plain;
    const before = new Set<string>();
    const [room, tall] = [width, height].map((side) => (side - 2 * STAGE_MARGIN) / LEGIBLE_SCALE);
    for (const narrow of this.#widths(plain, room!, tall!)) {
      const scene = { ...this.#plain, width: narrow.width };
      const input = this.#input(scene, narrow.header);
      const key = `${input.width} ${input.frames?.minWidth}`;
      if (before.has(key)) continue;
      before.add(key);
      yield { scene, input, result: layout(input) };
    }
  }

  *#widths(
    { scene, result }: SceneLayout,
    room: number,
    tall: number,
  ): Generator<{ width: Float32Array; header: number }> {
    const { width, frameOf, frames } = scene;
    const { minY, maxY } = result.bounds;
    if (this.#direction === "right") {
      yield { width: width.map((wide) => Math.min(wide, WIDEST_RIGHT)), header: room };
      return;
    }
    const beside = new Int32Array(result.layers);
    for (const layer of result.layer) beside[layer]! += 1;
    const depth: number[] = [];
    for (const parent of frames.parent) depth.push(parent < 0 ? 1 : depth[parent]! + 1);
    const fewest = Math.ceil((SHORTER * (maxY - minY)) / tall);
    for (let columns = Math.max(1, fewest); columns <= MOST_COLUMNS; columns++) {
      for (const lines of LINES) {
        const own = (room - COLUMN_GAP * (columns - 1)) / columns - lines;
        const most = (box: number) => {
          const count = beside[result.layer[box]!]!;
          const inside = own - 2 * SPACING.framePadding * (depth[frameOf[box]!] ?? 0);
          return Math.max(this.#least[box]!, (inside - SPACING.nodeGap * (count - 1)) / count);
        };
        const header = Math.max(TAG, own / 2 - TAG);
        yield { width: width.map((wide, box) => Math.min(wide, most(box))), header };
      }
    }
  }

  #input(scene: GraphScene, header = Number.POSITIVE_INFINITY): LayoutInput {
    const { labels } = this.#sheet.model;
    const { frames, ...input } = layoutInput(scene, this.#direction, labels);
    const minWidth = frames.minWidth.map((width) => Math.min(width, header));
    const options = { ...SPACING, ...(this.#direction === "down" && { layerGap: LAYER_GAP }) };
    return { ...input, frames: { ...frames, minWidth }, options };
  }
}

const NOWHERE = { width: 0, height: 0 };

export interface ArrangedGraph {
  placed: PlacedScene;
  camera: Camera;
}

/**
 * The first legible one of several wordings of a scene, as large as possible within a width and the first of several
 * heights that fits, px; null if none fits. If nothing fits in the requested direction, the other is tried.
 */
export function arrange(
  sheet: GraphSheet,
  wordings: readonly (() => GraphScene)[],
  width: number,
  heights: readonly number[],
): ArrangedGraph | null {
  const { direction } = sheet.request.options;
  const other: Direction = direction === "down" ? "right" : "down";
  const stage = { width, height: largest(heights) };
  const most = (stage.width * stage.height) / LEGIBLE_SCALE ** 2;
  for (const towards of [direction, other]) {
    for (const make of wordings) {
      const narrowing = new Narrowing(sheet, make(), towards, stage);
      if (narrowing.leastArea > most) continue;
      for (const isNarrow of [false, true]) {
        for (const height of heights) {
          const result = within(narrowing, isNarrow, { width, height });
          if (result) return result;
        }
      }
    }
  }
  return null;
}

function within(
  narrowing: Narrowing,
  isNarrow: boolean,
  stage: { width: number; height: number },
): ArrangedGraph | null {
  const room = (stage.width * stage.height) / LEGIBLE_SCALE ** 2;
  for (const { scene, input, result } of narrowing.scenes(isNarrow)) {
    if (areaOf(scene, result) > room) continue;
    const placed = inColumns(result, input, null, stage);
    if (!isLegible(placed.bounds, stage)) continue;
    return seen(scene, placed, Math.min(1, scaleIn(placed.bounds, stage)), stage.width);
  }
  return null;
}

/** The least area of a layout in columns, px²: its frames, and the boxes outside of them. */
function areaOf({ width, height, frameOf, frames }: GraphScene, result: LayoutResult): number {
  let area = 0;
  for (const [frame, parent] of frames.parent.entries()) {
    if (parent < 0) area += result.frames.width[frame]! * result.frames.height[frame]!;
  }
  for (const [box, frame] of frameOf.entries()) {
    if (frame < 0) area += width[box]! * height[box]!;
  }
  return area;
}

export function arrangeWhole(sheet: GraphSheet, scene: GraphScene): ArrangedGraph {
  const { direction } = sheet.request.options;
  const [plain] = new Narrowing(sheet, scene, direction, NOWHERE).scenes();
  const { minX, maxX } = plain!.result.bounds;
  return seen(scene, plain!.result, 1, maxX - minX + 2 * STAGE_MARGIN);
}

export function seen(
  scene: GraphScene,
  result: LayoutResult,
  scale: number,
  width: number,
): ArrangedGraph {
  const { minX, minY, maxX, maxY } = result.bounds;
  const camera = new Camera();
  camera.resize(width, (maxY - minY) * scale + 2 * STAGE_MARGIN);
  Object.assign(camera, { scale, x: (minX + maxX) / 2, y: (minY + maxY) / 2 });
  return { placed: finished(PlacedScene.steps(scene, result)), camera };
}
