import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { GroupSource } from "../../shared/client/run_client.ts";
import type { TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Pen } from "../../shared/drawing/pen.ts";
import { inkOn } from "../../shared/drawing/theme.ts";
import type { Rectangle } from "../stage/camera.ts";
import { paintHatch } from "./hatch.ts";
import { isSetBack, type Picture } from "./picture.ts";

const { tag: TAG, button: BUTTON } = tokens.group;
const { radius } = tokens.node;
const LETTERS_PX = 11;
/** The button of a closed group or a frame is drawn from this scale on; smaller it could not be hit. */
const BUTTON_SCALE = 0.5;
const BUTTON_PX = 13;
/** Thickness of the bar that tells what is inside, px at scale 1. */
const FOOT = 4;

/** How far one sheet of a run of blocks reaches beyond the one before it, px at scale 1. */
function stackOf({ scene }: Picture["placed"]): number {
  return scene.compact ? tokens.compact.stack : tokens.group.stack;
}

/** The front of a closed group's box: sheets of a run of blocks lie behind it. */
function frontOf({ placed, camera, graph }: Picture, box: number): Rectangle {
  const { x, y, width, height } = camera.screen(placed.rectangle(box));
  const isRun = graph.groupSource[placed.scene.group[box]!] === GroupSource.REPEAT;
  const behind = isRun ? 2 * stackOf(placed) * camera.scale : 0;
  return { x, y, width: width - behind, height: height - behind };
}

/** The button of a closed group, in its upper right corner; null where it is too small. */
export function buttonOf(picture: Picture, box: number): Rectangle | null {
  if (picture.isStill || picture.camera.scale < BUTTON_SCALE) return null;
  const { x, y, width, height } = frontOf(picture, box);
  const size = Math.min(BUTTON_PX, height - 4);
  const away = (BUTTON * picture.camera.scale - size) / 2;
  return { x: x + width - size - Math.max(3, away), y: y + 3, width: size, height: size };
}

/** Draws the sheets, the fill and the stripe of a closed group; gives the rectangle that is free for words. */
export function paintGroup(
  context: Pen,
  measure: TextMeasure,
  picture: Picture,
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
  if (button) paintButton(context, button, "+", inkOn(opaque(picture, fill)));
  const taken = wide + (button ? BUTTON * scale : 0);
  return { ...front, x: front.x + wide, width: front.width - taken };
}

/** What is inside, as shares of a bar along the foot. */
function paintShares(
  context: Pen,
  { colors, camera }: Picture,
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

/** The letters of a group's kind, in the middle of what has its color, where they fit. */
export function paintTag(
  context: Pen,
  measure: TextMeasure,
  { palette, groups }: Picture,
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

export function paintButton(
  context: Pen,
  { x, y, width }: Rectangle,
  sign: "+" | "−",
  ink: string,
): void {
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

/** The fill of a closed group: what colors say of it, or a quiet one where they say the kinds of operators. */
export function groupFill(picture: Picture, box: number): string {
  const { palette, colorBy, colors } = picture;
  if (colorBy === "kind" || isSetBack(picture, box)) return palette.plain;
  return colors.face(box) ?? palette.plain;
}

function opaque({ palette }: Picture, fill: string): string {
  return /^(#|rgb\()/.test(fill) ? fill : palette.theme.background;
}
