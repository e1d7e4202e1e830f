import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Pen } from "../../shared/drawing/pen.ts";
import { isIn, type Rectangle } from "../stage/camera.ts";
import { paintButton, paintTag } from "./group_boxes.ts";
import { detail, type LabelRecord, type Picture } from "./picture.ts";
import { whole } from "./whole.ts";

const TEXT_PX = 11;
const BUTTON_PX = 13;
const TAG_PX = 18;
const PAD = 5;
const RADIUS = 6;
/** Frames lower than this have no border, CSS px; where boxes run together, there are too many of the low ones. */
const LEAST = 5;
const LEAST_DENSE = 12;
/** The stripe at the left of a frame, px at scale 1. */
const STRIPE = 3;

/** What stands in the header of a frame, CSS px. */
export interface Header extends Rectangle {
  frame: number;
  group: number;
  words: string;
  /** Null where nothing can be pressed. */
  button: Rectangle | null;
}

/** Draws the frames of open groups: quiet, with the kind's color and letters, the title and a button. */
export class FramePainter {
  readonly #context: Pen;
  readonly #measure: TextMeasure;
  #headers: Header[] = [];
  labels: LabelRecord[] | null = null;

  constructor(context: Pen) {
    this.#context = context;
    this.#measure = new TextMeasure(context);
  }

  /** The headers that are on the stage. */
  get headers(): readonly Header[] {
    return this.#headers;
  }

  /** Fills and borders, below lines and boxes. */
  paint(picture: Picture): void {
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

  /** Titles and buttons, above the lines that enter the frame: those of the picture, and those of the selection in `context`. */
  paintHeaders(picture: Picture, context = this.#context): void {
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

  /** The header whose button or words are at a point of the stage. */
  at(x: number, y: number): { header: Header; button: boolean } | null {
    const header = this.#headers.findLast((each) => isIn(each, x, y));
    return header
      ? { header, button: header.button !== null && isIn(header.button, x, y, 2) }
      : null;
  }

  /** In the upper left corner of the frame, or where that is out of sight, as near to it as the stage shows of the frame. */
  #header(picture: Picture, frame: number, shape: Rectangle): Header | null {
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
    const words = this.#measure.fit(whole(this.#measure, titleOf(picture, group), free), free);
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

/** What an open group is, and how long it took. */
export function titleOf(
  { groups, times }: Pick<Picture, "groups" | "times">,
  group: number,
): string {
  const shared = times.together(groups.nodes(group));
  return [groups.title(group), times.text(groups.ns(group)), shared].filter(Boolean).join(" · ");
}
