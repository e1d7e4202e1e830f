import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { GroupSource } from "../../shared/client/answers.ts";
import { type Pen, type Rectangle, TextMeasure } from "../../shared/drawing/canvas.ts";
import { inkOn } from "../../shared/drawing/theme.ts";
import { isIn } from "../camera.ts";
import { withoutShare } from "../layout/labels.ts";
import { paintHatch } from "./palette.ts";
import { detail, type GraphPicture, isSetBack, type LabelRecord, whole } from "./picture.ts";

const { tag: TAG, button: BUTTON } = tokens.group;
const { radius } = tokens.node;
const LETTERS_PX = 11;
/** Scale from which the button of a closed group or a frame is drawn; a smaller one could not be hit. */
const BUTTON_SCALE = 0.5;
const BUTTON_PX = 13;
/** Thickness of the bar of shares, px at scale 1. */
const FOOT = 4;

/** Offset of the sheets of a run of blocks, px at scale 1. */
function stackOf({ scene }: GraphPicture["placed"]): number {
  return scene.compact ? tokens.compact.stack : tokens.group.stack;
}

function frontOf({ placed, camera, graph }: GraphPicture, box: number): Rectangle {
  const { x, y, width, height } = camera.screen(placed.rectangle(box));
  const isRun = graph.groupSource[placed.scene.group[box]!] === GroupSource.REPEAT;
  const behind = isRun ? 2 * stackOf(placed) * camera.scale : 0;
  return { x, y, width: width - behind, height: height - behind };
}

/** The button of a closed group, in its upper right corner; null if it is too small. */
export function buttonOf(picture: GraphPicture, box: number): Rectangle | null {
  if (picture.isStill || picture.camera.scale < BUTTON_SCALE) return null;
  const { x, y, width, height } = frontOf(picture, box);
  const size = Math.min(BUTTON_PX, height - 4);
  const away = (BUTTON * picture.camera.scale - size) / 2;
  return { x: x + width - size - Math.max(3, away), y: y + 3, width: size, height: size };
}

export function paintGroup(
  context: Pen,
  measure: TextMeasure,
  picture: GraphPicture,
  box: number,
  fill: string,
): Rectangle {
  const { palette, groups, camera, placed } = picture;
  const { scale } = camera;
  const group = placed.scene.group[box]!;
  const front = frontOf(picture, box);
  const round = radius * scale;
  const isRun = front.height < placed.scene.height[box]! * scale - 1;
  context.lineWidth = 1;
  context.strokeStyle = palette.edge;
  for (let sheet = isRun ? 2 : 0; sheet >= 0; sheet--) {
    const away = sheet * stackOf(placed) * scale;
    context.beginPath();
    context.roundRect(front.x + away, front.y + away, front.width, front.height, round);
    context.fillStyle = sheet > 0 ? palette.theme.surface : fill;
    context.fill();
    if (sheet > 0) context.stroke();
  }
  const isBack = isSetBack(picture, box);
  if (!isBack && picture.colors.isUnknown(box)) paintHatch(context, palette, front);
  if (!isBack) paintShares(context, picture, box, front);
  const color = palette.group(groups.kind[group]!);
  const wide = TAG * scale;
  context.beginPath();
  context.roundRect(front.x, front.y, wide, front.height, [round, 0, 0, round]);
  context.fillStyle = color;
  context.fill();
  paintTag(context, measure, picture, group, front.x + wide / 2, front.y + front.height / 2, wide);
  context.beginPath();
  context.roundRect(front.x, front.y, front.width, front.height, round);
  context.stroke();
  const button = buttonOf(picture, box);
  if (button)
    paintButton(
      context,
      button,
      "+",
      inkOn(/^(#|rgb\()/.test(fill) ? fill : picture.palette.theme.background),
    );
  const taken = wide + (button ? BUTTON * scale : 0);
  return { ...front, x: front.x + wide, width: front.width - taken };
}

function paintShares(
  context: Pen,
  { colors, camera }: GraphPicture,
  box: number,
  { x, y, width, height }: Rectangle,
): void {
  const thick = Math.max(2, FOOT * camera.scale);
  let left = x;
  for (const [color, share] of colors.parts(box)) {
    context.fillStyle = color;
    context.fillRect(left, y + height - thick, width * share, thick);
    left += width * share;
  }
}

/** The letters of a group's kind, in the middle of its colored area, if they fit. */
function paintTag(
  context: Pen,
  measure: TextMeasure,
  { palette, groups }: GraphPicture,
  group: number,
  x: number,
  y: number,
  room: number,
): void {
  const tag = groups.tag(group);
  context.font = `600 ${LETTERS_PX}px ${palette.theme.font}`;
  const width = measure.width(tag);
  if (width > room - 1) return;
  context.fillStyle = inkOn(palette.group(groups.kind[group]!));
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(tag, x - width / 2, y + 0.5);
}

function paintButton(context: Pen, { x, y, width }: Rectangle, sign: "+" | "−", ink: string): void {
  const [middleX, middleY] = [x + width / 2, y + width / 2];
  const arm = width / 2 - 3;
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(x, y, width, width, 2.5);
  context.stroke();
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(middleX - arm, middleY);
  context.lineTo(middleX + arm, middleY);
  if (sign === "+") {
    context.moveTo(middleX, middleY - arm);
    context.lineTo(middleX, middleY + arm);
  }
  context.stroke();
}

/** Color of a closed group, or a quiet one if colors show op kinds. */
export function groupFill(picture: GraphPicture, box: number): string {
  const { palette, colorBy, colors } = picture;
  if (colorBy === "kind" || isSetBack(picture, box)) return palette.plain;
  return colors.face(box) ?? palette.plain;
}

const TEXT_PX = 11;
const TAG_PX = 18;
const PAD = 5;
const RADIUS = 6;
const LEAST = 5;
const LEAST_DENSE = 12;
const STRIPE = 3;

/** Content of a frame's header, CSS px. */
export interface FrameHeader extends Rectangle {
  frame: number;
  group: number;
  words: string;
  /** Null without interaction. */
  button: Rectangle | null;
}

/** Draws the frames of open groups: quiet, with the kind's color and letters, the title and a button. */
export class FramePainter {
  readonly #context: Pen;
  readonly #measure: TextMeasure;
  #headers: FrameHeader[] = [];
  labels: LabelRecord[] | null = null;

  constructor(context: Pen) {
    this.#context = context;
    this.#measure = new TextMeasure(context);
  }

  get headers(): readonly FrameHeader[] {
    return this.#headers;
  }

  paint(picture: GraphPicture): void {
    const { placed, camera, palette, groups } = picture;
    const context = this.#context;
    const { theme } = palette;
    this.#headers = [];
    context.font = `${TEXT_PX}px ${theme.font}`;
    const paint = (frame: number) => {
      const shape = camera.screen(placed.frame(frame));
      const group = placed.scene.frames.group[frame]!;
      const { x, y, width, height } = shape;
      const round = RADIUS * Math.min(1, camera.scale);
      context.beginPath();
      if (round < 1) context.rect(x, y, width, height);
      else context.roundRect(x, y, width, height, round);
      context.fillStyle = palette.frame;
      context.fill();
      context.strokeStyle = theme.line;
      context.lineWidth = 1;
      context.stroke();
      context.fillStyle = palette.group(groups.kind[group]!);
      const stripe = Math.max(1.5, STRIPE * camera.scale);
      context.fillRect(x, y + 2, stripe, height - 4);
      const header = this.#header(picture, frame, shape);
      if (header) this.#headers.push(header);
    };
    const least = detail(picture) === "density" ? LEAST_DENSE : LEAST;
    placed.eachFrame(camera.view(2), paint, least / camera.scale);
  }

  /** Titles and buttons, above the lines into the frame: of the picture, or of the selection (`context`). */
  paintHeaders(picture: GraphPicture, context = this.#context): void {
    const isOwn = context === this.#context;
    const measure = isOwn ? this.#measure : new TextMeasure(context);
    const { palette, groups } = picture;
    const { theme } = palette;
    for (const { group, words, button, ...shape } of this.#headers) {
      const middle = shape.y + shape.height / 2;
      context.fillStyle = theme.background;
      context.beginPath();
      context.roundRect(shape.x, shape.y, shape.width, shape.height, 3);
      context.fill();
      context.fillStyle = palette.group(groups.kind[group]!);
      context.beginPath();
      context.roundRect(shape.x, shape.y, TAG_PX, shape.height, [3, 0, 0, 3]);
      context.fill();
      paintTag(context, measure, picture, group, shape.x + TAG_PX / 2, middle, TAG_PX);
      context.font = `${TEXT_PX}px ${theme.font}`;
      context.textBaseline = "middle";
      context.textAlign = "left";
      context.fillStyle = theme.text;
      const x = shape.x + TAG_PX + PAD;
      context.fillText(words, x, middle);
      if (words && isOwn) {
        const width = measure.width(words);
        const y = middle - TEXT_PX / 2;
        this.labels?.push({ text: words, node: -1, x, y, width, height: TEXT_PX });
      }
      if (button) paintButton(context, button, "−", theme.muted);
    }
  }

  /** Header and part of it at a point of the stage. */
  at(x: number, y: number): { header: FrameHeader; button: boolean } | null {
    const header = this.#headers.findLast((header) => isIn(header, x, y));
    return header
      ? { header, button: header.button !== null && isIn(header.button, x, y, 2) }
      : null;
  }

  /** Header in the frame's upper left corner, or the visible point nearest to it. */
  #header(picture: GraphPicture, frame: number, shape: Rectangle): FrameHeader | null {
    const { camera, placed, isStill } = picture;
    const room = tokens.group.header * camera.scale;
    const height = Math.min(18, room);
    if (height < TEXT_PX || shape.y + room < 0 || shape.y > camera.height) return null;
    const group = placed.scene.frames.group[frame]!;
    const left = Math.max(shape.x + PAD, 2);
    const right = Math.min(shape.x + shape.width - PAD, camera.width - 2);
    const beside = isStill ? 0 : BUTTON_PX + PAD;
    const free = right - left - TAG_PX - 2 * PAD - beside;
    if (free < 0) return null;
    const title = titleOf(picture, group);
    const shown = placed.scene.compact ? withoutShare(title) : title;
    const words = this.#measure.fit(whole(this.#measure, shown, free), free);
    const y = shape.y + (room - height) / 2;
    if (y < 0 || y + height > camera.height) return null;
    const width = TAG_PX + PAD + (words ? this.#measure.width(words) + PAD : 0) + beside;
    const button = isStill
      ? null
      : {
          x: left + width - BUTTON_PX - PAD / 2,
          y: y + (height - BUTTON_PX) / 2,
          width: BUTTON_PX,
          height: BUTTON_PX,
        };
    return { frame, group, words, button, x: left, y, width, height };
  }
}

export function titleOf(
  { groups, times }: Pick<GraphPicture, "groups" | "times">,
  group: number,
): string {
  const shared = times.together(groups.nodes(group));
  return [groups.title(group), times.text(groups.ns(group)), shared].filter(Boolean).join(" · ");
}
