import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { NodeKind } from "../../shared/client/answers.ts";
import { type Pen, type Rectangle, TextMeasure } from "../../shared/drawing/canvas.ts";
import { inkOn } from "../../shared/drawing/theme.ts";
import { drawnKind } from "../../shared/format.ts";
import { addTo } from "../../shared/many.ts";
import type { ColorShare } from "../data/colors.ts";
import { verdictSign } from "../data/health.ts";
import { BADGE_PADDING, GAP, SLOT, TEXT_START, VALUE } from "../layout/labels.ts";
import { groupFill, paintGroup } from "./frames.ts";
import { paintHatch } from "./palette.ts";
import {
  boxScale,
  DensityPainter,
  type Detail,
  flatFill,
  type GraphPicture,
  isSetBack,
  type LabelRecord,
  paintSuspicious,
  whole,
} from "./picture.ts";

const { stripe, radius, padding } = tokens.node;
const LEAST_TEXT = 11;
const MOST_TITLE = 14;
const LINE_HEIGHT = 1.25;
/** Half of a border is inside its box, px. */
const BORDER = 0.5;
/** Height from which boxes have a border. */
const BORDER_PX = 4;

/** Texts of a box and the room for them. */
interface BoxWords {
  lines: readonly string[];
  area: Rectangle;
  ink: string;
  soft: string;
  /** The first that has room stands beside the title. */
  marks: readonly string[];
  markFill?: string | undefined;
  /** Second line; by default the value of its color. */
  second?: string | undefined;
}

export class BoxPainter {
  readonly #context: Pen;
  readonly #measure: TextMeasure;
  readonly #density: DensityPainter;
  labels: LabelRecord[] | null = null;
  /** Texts of boxes by font, drawn after all boxes. */
  readonly #texts = new Map<string, { words: string; x: number; y: number; ink: string }[]>();
  #stage = { width: 0, height: 0 };

  constructor(context: Pen) {
    this.#context = context;
    this.#measure = new TextMeasure(context);
    this.#density = new DensityPainter(context);
  }

  paint(picture: GraphPicture, level: Detail): void {
    if (level === "density") this.#density.paint(picture);
    else if (level === "shape") this.#shapes(picture);
    else {
      const { placed, camera } = picture;
      this.#stage = camera;
      placed.eachBox(camera.view(4), (box) => {
        if (placed.scene.group[box]! < 0) this.#box(picture, box, level);
        else this.#group(picture, box, level);
      });
      this.#write();
    }
  }

  #write(): void {
    const context = this.#context;
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (const [font, texts] of this.#texts) {
      context.font = font;
      for (const { words, x, y, ink } of texts) {
        context.fillStyle = ink;
        context.fillText(words, x, y);
      }
    }
    this.#texts.clear();
  }

  #shape({ placed, camera }: GraphPicture, box: number): Rectangle {
    return camera.screen(placed.rectangle(box));
  }

  #box(picture: GraphPicture, box: number, level: "full" | "title"): void {
    const { graph, palette, colorBy, camera, placed, health, colors } = picture;
    const context = this.#context;
    const node = placed.scene.node[box]!;
    const shape = this.#shape(picture, box);
    const kind = drawnKind(graph, node);
    const setBack = isSetBack(picture, box);
    const judged = colorBy === "health" && !setBack;
    const verdict = judged && health ? health.verdict(box) : -1;
    const face = setBack ? null : colors.face(box);
    const fill = face ?? palette.plain;
    const { theme } = palette;
    const tinted = colorBy === "kind";
    const hot = face !== null && !tinted;
    const ink = hot ? inkOn(fill) : setBack ? theme.muted : theme.text;
    const soft = hot ? ink : theme.muted;

    outline(context, shape, kind, camera.scale);
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = setBack || kind === NodeKind.NOP ? theme.line : palette.edge;
    context.lineWidth = 1;
    if (kind === NodeKind.PARAMETER) context.setLineDash([3, 3]);
    context.stroke();
    context.setLineDash([]);
    if (!setBack && colors.isUnknown(box)) paintHatch(context, palette, shape);
    if (!setBack) this.#stripe(shape, colors.parts(box), kind, camera.scale);

    const text = placed.scene.text(box);
    const spoken = (words: string) => words.replaceAll(SLOT, () => colors.meaning(box));
    const title = spoken(text.title);
    if (text.head) this.#headLine(shape, palette.edge, kind, camera.scale);
    const [start, end] = [TEXT_START * camera.scale, padding * camera.scale];
    const sign = judged ? verdictSign(verdict) : "";
    const lines = level === "title" && text.lines ? text.lines.map(spoken) : [title];
    if (sign && level === "title") lines[0] = `${sign} ${lines[0]}`;
    const worst = judged && node === health?.nodes.worst;
    const isSlowest = text.mark === "slowest" && !hot && !judged;
    this.#words(picture, box, level, {
      ...{ lines, ink, soft },
      area: { ...shape, x: shape.x + start, width: shape.width - start - end },
      second: text.own && spoken(text.own),
      marks: worst ? [`${sign} worst`, sign] : [sign || text.mark],
      markFill: isSlowest ? palette.ramp("heat", 1) : undefined,
    });
  }

  #group(picture: GraphPicture, box: number, level: "full" | "title"): void {
    const { colorBy, health, placed, camera } = picture;
    const fill = groupFill(picture, box);
    const free = paintGroup(this.#context, this.#measure, picture, box, fill);
    const ink = inkOn(fill);
    const { title, mark } = placed.scene.text(box);
    const pad = padding * camera.scale;
    const verdict = colorBy === "health" && health ? health.verdict(box) : -1;
    const sign = verdictSign(verdict);
    this.#words(picture, box, level, {
      ...{ ink, soft: ink, marks: [mark] },
      lines: [sign ? `${sign} ${title}` : title],
      area: { ...free, x: free.x + pad, width: free.width - 1.5 * pad },
    });
  }

  /** A title, in one line or several with a value beside them; or two lines with badges. */
  #words(
    picture: GraphPicture,
    box: number,
    level: "full" | "title",
    { lines, area, ink, soft, marks, markFill, second }: BoxWords,
  ): void {
    const { placed, colors, palette } = picture;
    const context = this.#context;
    const { font } = palette.theme;
    const node = placed.scene.node[box]!;
    const right = area.x + area.width;
    if (level === "title") {
      const size = titleSize(picture);
      const middle = area.y + area.height / 2;
      const room = area.width - this.#value(picture, box, right, middle, soft);
      for (const [row, words] of lines.entries()) {
        const y = middle + (row - (lines.length - 1) / 2) * size * LINE_HEIGHT;
        this.#text(words, node, area.x, y, room, { font: `${size}px ${font}`, ink });
      }
      return;
    }
    const text = placed.scene.text(box);
    const scale = boxScale(picture);
    const size = Math.max(LEAST_TEXT, tokens.font.small * scale);
    const style = { font: `${size}px ${font}`, ink: soft, size };
    const large = `500 ${Math.max(LEAST_TEXT, tokens.font.size * scale)}px ${font}`;
    for (const [words, badges, row, at] of [
      [lines[0]!, marks, { ...style, font: large, ink }, 0.31],
      [second || (colors.words(box) ?? text.shape), [text.badge], style, 0.71],
    ] as const) {
      const y = area.y + area.height * at;
      context.font = row.font;
      const shown = whole(this.#measure, words, area.width);
      const left = area.width - this.#measure.width(shown) - GAP;
      let taken = 0;
      for (const badge of badges) {
        const fill = badges === marks ? markFill : undefined;
        taken ||= this.#badge(badge, node, right, y, left, { ...style, fill });
      }
      this.#text(shown, node, area.x, y, area.width - taken, row);
    }
  }

  #value(
    { placed, colors, palette, times }: GraphPicture,
    box: number,
    right: number,
    y: number,
    ink: string,
  ) {
    if (!placed.scene.valued) return 0;
    // If the colors show no value: the time, with which a group's text ends.
    const second = colors.words(box);
    const isNode = placed.scene.group[box]! < 0;
    if (second === null && isNode && !times.known) return 0;
    const { time, shape } = placed.scene.text(box);
    const facts = (second ?? (isNode ? time : shape)).split(" · ");
    const words = facts.at(second === null && !isNode ? -1 : 0) ?? "";
    const font = `${LEAST_TEXT}px ${palette.theme.font}`;
    this.#context.font = font;
    const width = this.#measure.width(words);
    if (width > VALUE) return 0;
    this.#text(words, placed.scene.node[box]!, right - width, y, width + 1, { font, ink });
    return width + GAP;
  }

  #text(
    words: string,
    node: number,
    x: number,
    y: number,
    room: number,
    { font, ink }: { font: string; ink: string },
  ): void {
    const context = this.#context;
    context.font = font;
    const fitted = this.#measure.fit(words, room);
    const half = Number.parseFloat(font.replace(/^500 /, "")) / 2;
    if (!fitted || y < half || y + half > this.#stage.height) return;
    if (x < 0 || x + this.#measure.width(fitted) > this.#stage.width) return;
    const text = { words: fitted, x, y, ink };
    addTo(this.#texts, font, text);
    if (this.labels) {
      const width = this.#measure.width(fitted);
      this.labels.push({ text: fitted, node, x, y: y - half, width, height: 2 * half });
    }
  }

  #badge(
    words: string,
    node: number,
    right: number,
    y: number,
    room: number,
    style: { font: string; ink: string; size: number; fill?: string | undefined },
  ): number {
    if (!words) return 0;
    const context = this.#context;
    context.font = style.font;
    const width = this.#measure.width(words) + 2 * BADGE_PADDING;
    // Neither is a badge shown whose words are cut at the border of the stage.
    if (width > room || right < width || right > this.#stage.width) return 0;
    context.beginPath();
    context.roundRect(right - width, y - style.size * 0.64, width, style.size * 1.28, 3);
    if (style.fill) {
      context.fillStyle = style.fill;
      context.fill();
    } else {
      context.strokeStyle = style.ink;
      context.globalAlpha = 0.5;
      context.lineWidth = 1;
      context.stroke();
      context.globalAlpha = 1;
    }
    const ink = style.fill ? inkOn(style.fill) : style.ink;
    this.#text(words, node, right - width + BADGE_PADDING, y + 0.5, room, {
      font: style.font,
      ink,
    });
    return width + GAP;
  }

  /** Shares of the content, along the left border. */
  #stripe(shape: Rectangle, parts: readonly ColorShare[], kind: number, scale: number): void {
    const context = this.#context;
    const isInput = kind === NodeKind.INPUT;
    const width = stripe * scale * (isInput ? 1.6 : 1);
    const within = {
      x: shape.x + BORDER,
      y: shape.y + BORDER,
      width: shape.width - 2 * BORDER,
      height: shape.height - 2 * BORDER,
    };
    if (!isInput && parts.length === 1) {
      context.beginPath();
      context.roundRect(within.x, within.y, width - BORDER, within.height, radius * scale);
      context.fillStyle = parts[0]![0];
      context.fill();
      return;
    }
    context.save();
    outline(context, within, kind, scale);
    context.clip();
    let top = shape.y;
    for (const [color, share] of parts) {
      context.fillStyle = color;
      context.fillRect(shape.x, top, width, shape.height * share);
      top += shape.height * share;
    }
    context.restore();
  }

  #headLine(shape: Rectangle, color: string, kind: number, scale: number): void {
    const context = this.#context;
    const inset = 2.5 * Math.min(1, scale);
    const around = {
      x: shape.x - inset,
      y: shape.y - inset,
      width: shape.width + 2 * inset,
      height: shape.height + 2 * inset,
    };
    outline(context, around, kind, scale + inset / radius);
    context.strokeStyle = color;
    context.stroke();
  }

  #shapes(picture: GraphPicture): void {
    const { placed, camera } = picture;
    const byFill = new Map<string, number[]>();
    placed.eachBox(camera.view(2), (box) => {
      const fill = flatFill(picture, box);
      addTo(byFill, fill, box);
    });
    const context = this.#context;
    const { scale } = camera;
    const { x, y } = placed.layout;
    const { width, height } = placed.scene;
    const [shiftX, shiftY] = [camera.screenX(0), camera.screenY(0)];
    for (const [fill, boxes] of byFill) {
      context.fillStyle = fill;
      for (const box of boxes) {
        const [wide, high] = [Math.max(1, width[box]! * scale), Math.max(1, height[box]! * scale)];
        context.fillRect(
          x[box]! * scale + shiftX - wide / 2,
          y[box]! * scale + shiftY - high / 2,
          wide,
          high,
        );
      }
    }
    if (tokens.node.height * scale > BORDER_PX) this.#borders(picture);
    if (picture.colorBy === "health") paintSuspicious(context, picture);
  }

  #borders(picture: GraphPicture): void {
    const context = this.#context;
    context.strokeStyle = picture.palette.theme.muted;
    context.lineWidth = 0.5;
    context.beginPath();
    const { placed, camera, palette, groups } = picture;
    placed.eachBox(camera.view(2), (box) => {
      const { x, y, width, height } = this.#shape(picture, box);
      context.rect(x, y, width, height);
      const group = placed.scene.group[box]!;
      if (group < 0) return;
      context.fillStyle = palette.group(groups.kind[group]!);
      context.fillRect(x, y, Math.max(2, tokens.group.tag * camera.scale), height);
    });
    context.stroke();
  }
}

function titleSize({ camera, placed }: GraphPicture): number {
  if (!placed.scene.compact) return LEAST_TEXT;
  return Math.min(MOST_TITLE, Math.max(LEAST_TEXT, tokens.font.size * camera.scale));
}

export function outline(
  context: Pen,
  { x, y, width, height }: Rectangle,
  kind: number,
  scale: number,
): void {
  context.beginPath();
  const round = kind === NodeKind.INPUT ? height / 2 : radius * scale;
  context.roundRect(x, y, width, height, round);
}
