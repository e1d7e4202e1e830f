import type {
  Cells,
  ChannelsAnswer,
  ProfileAnswer,
  StatisticsAnswer,
  Tile,
} from "../shared/client/tensor_questions.ts";
import type { Rectangle } from "../shared/drawing/canvas.ts";
import {
  type FigurePart,
  type FigurePen,
  LINE,
  MARGIN,
  paragraph,
  SMALL,
} from "../shared/drawing/figure.ts";
import type { SvgContext } from "../shared/drawing/svg_context.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted, integer } from "../shared/format.ts";
import { aboutText } from "../shared/number_text.ts";
import { cornered } from "./figure_statistics.ts";
import { Channels, gridLayout, paintChannel } from "./picture/channels.ts";
import { outsideOf } from "./picture/color_legend.ts";
import {
  type CellChoice,
  type ColorScale,
  cssColor,
  OUTSIDE,
  type ScaleChoice,
  scaleKind,
  specialKey,
} from "./picture/color_scale.ts";
import { layoutPlane, type PlaneLayout, PlotLabels, STRIP } from "./picture/plane_layout.ts";
import {
  colorCells,
  labelPlane,
  type Paint,
  type Painting,
  paintCellSigns,
  paintPlane,
  paintSign,
  paintSpecial,
} from "./picture/plane_painter.ts";
import { labelProfile, paintAlong, paintProfile, profileScene } from "./picture/profile_scene.ts";
import type { Region } from "./state.ts";
import { cellCaption } from "./values/readout.ts";

export interface PictureData {
  /** px. */
  room: number;
  planeRows: number;
  planeCols: number;
  /** Names of the axes: down, across. */
  names: [down: string, across: string];
  /** Axis of channels or of a profile: `C (16)`. */
  along: string;
  region: Region | null;
}

export interface TensorColors {
  scale: ColorScale | null;
  known: StatisticsAnswer;
  cells: CellChoice;
  choice: ScaleChoice;
  dtype: string;
}

export interface PictureAnswers {
  tile?: Tile | null;
  channels?: ChannelsAnswer;
  profile?: ProfileAnswer;
}

const [TALL, PROFILE_TALL] = [261, 270];
const CHANNELS_TALL = 380;
/** Largest number of signs; beyond it neighboring cells share one, for a small file. */
const SIGNS = 300;

/** The values in colors, or along an axis; no parts without values. */
export function pictureParts(
  answers: PictureAnswers,
  data: PictureData,
  colors: TensorColors,
  text: TextWidths,
): FigurePart[] {
  const { tile, channels, profile } = answers;
  const noteOf = (words: string) =>
    words ? [paragraph({ text: words, color: "muted" }, data.room, text)] : [];
  if (profile) {
    const { step } = profile;
    const stepText = step > 1 ? `${counted(step, "index")} per point` : "";
    return [profilePart(profile, data, colors), ...noteOf(stepText)];
  }
  if (channels) {
    const [part, drawn] = channelsPart(channels, data, colors);
    const left = drawn < channels.length ? `the first ${drawn} of ${integer(channels.length)}` : "";
    const caption = cellCaption(channels, colors.cells);
    return [part, ...noteOf([left, caption].filter(Boolean).join("; "))];
  }
  if (!tile) return [];
  const sampled = tile.exact ? "" : ", sampled";
  const caption = cellCaption(tile, colors.cells);
  return [planePart(tile, data, colors), ...noteOf(caption && caption + sampled)];
}

function planePart(tile: Tile, data: PictureData, colors: TensorColors): FigurePart {
  const layout = layoutOf(data);
  const { plot, kind } = layout;
  const isProfile = kind === "profile";
  const height = plot.y + plot.height + (isProfile ? STRIP + 38 : 8);
  return cornered(height, (pen, theme) => {
    const paint: Paint = { scale: colors.scale, cells: colors.cells };
    const painting: Painting = { ...paint, draw: recordCells(pen, paint), most: SIGNS };
    const draw = isProfile ? paintProfile : paintPlane;
    draw(pen, layout, [tile], painting, theme);
    writeAxes(pen, layout, data, colors.scale, theme, height);
  });
}

/** Layout of a part of a plane; its indices are those of the complete plane. */
function layoutOf({ planeRows, planeCols, region, room }: PictureData): PlaneLayout {
  const [row, col, rows, cols] = region ?? [0, 0, planeRows, planeCols];
  const stage = { width: room, height: TALL };
  const layout = layoutPlane(rows, cols, { zoom: 1, row: 0, col: 0 }, stage, 1);
  return { ...layout, row, col, planeRows, planeCols };
}

function writeAxes(
  pen: FigurePen,
  layout: PlaneLayout,
  { names: [down, across], planeRows, planeCols, room }: PictureData,
  scale: ColorScale | null,
  theme: Theme,
  height: number,
): void {
  if (planeRows * planeCols === 1) return;
  const labels = new PlotLabels(pen, theme, room, height);
  const name = across && `${across} →`;
  if (layout.kind === "profile") labelProfile(labels, layout, scale, name);
  else labelPlane(labels, layout, [down && `← ${down}`, name]);
}

function recordCells(pen: FigurePen, paint: Paint) {
  return (
    cells: Cells & { rows: number; cols: number },
    size: number,
    { x, y, width, height }: Rectangle,
  ) => {
    const { cols, rows } = cells;
    pen.cells({ cols, rows, pixels: colorCells(cells, paint, size) }, x, y, width, height);
  };
}

function channelsPart(
  answer: ChannelsAnswer,
  { room }: PictureData,
  { cells, scale }: TensorColors,
): [FigurePart, drawn: number] {
  const channels = new Channels(answer.axis, answer.length);
  channels.add(answer);
  const { count, planeCols, planeRows } = answer;
  const stage = { width: room, height: CHANNELS_TALL };
  const layout = gridLayout({ count, planeRows, planeCols }, stage, 0);
  const most = Math.max(1, Math.floor(CHANNELS_TALL / layout.slot.height)) * layout.columns;
  const drawn = Math.min(count, most);
  const lines = Math.ceil(drawn / layout.columns);
  const part = cornered(lines * layout.slot.height, (pen, theme) => {
    pen.textAlign = "left";
    for (let index = 0; index < drawn; index += 1) {
      paintChannel(pen, layout, index, channels.get(index), {
        theme,
        draw(channel, box) {
          const size = Math.min(box.width / channel.cols, box.height / channel.rows);
          recordCells(pen, { scale, cells })(channel, size, box);
          paintCellSigns(pen, box, channel);
        },
      });
    }
  });
  return [part, drawn];
}

function profilePart(
  answer: ProfileAnswer,
  { along, room }: PictureData,
  { choice, dtype, known }: TensorColors,
): FigurePart {
  const all = { first: 0, length: answer.length };
  const scene = profileScene(answer, all, scaleKind(known, choice), room, PROFILE_TALL);
  return cornered(PROFILE_TALL + LINE / 2, (pen, theme) =>
    paintAlong(pen, room, PROFILE_TALL, scene, all, along, dtype, theme),
  );
}

const [BAR, STEPS] = [108, 27];
const SIGN = 14;

interface LegendEntry {
  text: string;
  /** Space before the text, px. */
  before: number;
  paint?: (pen: SvgContext, theme: Theme, x: number, middle: number) => void;
}

export function legendPart(colors: TensorColors, room: number, text: TextWidths): FigurePart {
  const items = [...scaleItems(colors, text), ...swatches(colors)];
  const places: [x: number, row: number][] = [];
  let [x, row] = [0, 0];
  const fitted = items.map((item) => {
    const text_ = text.fit(item.text, room - item.before, SMALL);
    const wide = item.before + text.width(text_, SMALL) + 14;
    if (x > 0 && x + wide - 14 > room) [x, row] = [0, row + 1];
    places.push([x, row]);
    x += wide;
    return text_;
  });
  return {
    height: items.length ? (row + 1) * (LINE + 1) + 4 : 0,
    paint(pen, theme, top) {
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      items.forEach((item, at) => {
        const [left, line] = places[at]!;
        const middle = top + (line + 0.5) * (LINE + 1);
        item.paint?.(pen, theme, MARGIN + left, middle);
        pen.font = `${SMALL}px ${theme.font}`;
        pen.fillStyle = item.paint ? theme.text : theme.muted;
        pen.fillText(fitted[at]!, MARGIN + left + item.before, middle);
      });
    },
  };
}

function scaleItems({ scale, dtype, choice }: TensorColors, text: TextWidths): LegendEntry[] {
  if (!scale) return [];
  const entries: LegendEntry[] = [];
  if (scale.single) {
    entries.push({
      text: `all ${aboutText(scale.low, dtype)}`,
      before: 14,
      paint(pen, _, x, middle) {
        pen.fillStyle = cssColor(scale.map, 0.5);
        pen.fillRect(x, middle - 5, 10, 10);
      },
    });
    return entries;
  }
  const low = aboutText(scale.least, dtype);
  const start = text.width(low, SMALL) + 5;
  entries.push({
    text: aboutText(scale.most, dtype),
    before: start + BAR + 5,
    paint(pen, theme, x, middle) {
      pen.font = `${SMALL}px ${theme.font}`;
      pen.fillStyle = theme.text;
      pen.fillText(low, x, middle);
      const [first, last] = [scale.share(scale.least), scale.share(scale.most)];
      const step = BAR / STEPS;
      for (let at = 0; at < STEPS; at += 1) {
        pen.fillStyle = cssColor(scale.map, first + ((last - first) * (at + 0.5)) / STEPS);
        pen.fillRect(x + start + step * at, middle - 5, step + (at < STEPS - 1 ? 0.3 : 0), 10);
      }
    },
  });
  const words = kindWords(scale, choice);
  if (words) entries.push({ text: words, before: 0 });
  return entries;
}

function kindWords(scale: ColorScale, choice: string): string {
  if (scale.kind === "log") return "logarithmic";
  if (scale.kind !== "symlog") return "";
  const symlog = `symlog: linear within ±${aboutText(scale.threshold)}, logarithmic beyond`;
  return choice === "log" ? `${symlog}; no positive values, so not log` : symlog;
}

function swatches({ scale, known, dtype }: TensorColors): LegendEntry[] {
  const entries: LegendEntry[] = [];
  for (const side of scale ? (["under", "over"] as const) : []) {
    const count = outsideOf(scale!, known, side, dtype);
    if (!count) continue;
    entries.push({
      text: count,
      before: SIGN + 4,
      paint(pen, _, x, middle) {
        const box = { x, y: middle - SIGN / 2, width: SIGN, height: SIGN };
        pen.fillStyle = OUTSIDE[side];
        pen.fillRect(box.x, box.y, box.width, box.height);
        paintSign(pen, { x: x - 3, y: middle - 10, width: 20, height: 20 }, side);
      },
    });
  }
  for (const { special, text } of specialKey(known?.statistics)) {
    entries.push({
      text,
      before: SIGN + 4,
      paint(pen, _, x, middle) {
        paintSpecial(pen, { x, y: middle - SIGN / 2, width: SIGN, height: SIGN }, special);
      },
    });
  }
  return entries;
}
