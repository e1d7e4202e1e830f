import type {
  ChannelsAnswer,
  ProfileAnswer,
  StatisticsAnswer,
  Tile,
} from "../../shared/client/tensor_questions.ts";
import { LINE, MARGIN, type Part, paragraph } from "../../shared/drawing/figure_parts.ts";
import type { SvgContext } from "../../shared/drawing/svg_context.ts";
import type { TextWidths } from "../../shared/drawing/text_widths.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { counted, integer } from "../../shared/format.ts";
import { paintAlong } from "../along/along_painter.ts";
import { paintChannel } from "../along/channel_painter.ts";
import { Channels } from "../along/channels.ts";
import { gridLayout } from "../along/grid_layout.ts";
import { profileScene } from "../along/profile_scene.ts";
import {
  type CellChoice,
  type ColorScale,
  type ScaleChoice,
  scaleKind,
} from "../colors/color_scale.ts";
import { Labels } from "../picture/labels.ts";
import { type Layout, layoutPlane, STRIP } from "../picture/layout.ts";
import {
  colorCells,
  labelPlane,
  type Paint,
  type Painting,
  paintCellSigns,
  paintPlane,
} from "../picture/plane_painter.ts";
import { labelProfile, paintProfile } from "../picture/profile_painter.ts";
import type { Region } from "../state.ts";
import { cellCaption } from "../values/readout.ts";

/** What a picture is of, as Python counts it. */
export interface PictureData {
  /** px. */
  room: number;
  planeRows: number;
  planeCols: number;
  /** What the axes are: down, across. */
  names: [down: string, across: string];
  /** The axis of channels or of a profile: `C (16)`. */
  along: string;
  region: Region | null;
}

/** Numbers to colors, and what is known of the numbers. */
export interface TensorColors {
  scale: ColorScale | null;
  known: StatisticsAnswer;
  cells: CellChoice;
  /** The scale that was asked for. */
  asked: ScaleChoice;
  dtype: string;
}

/** What is drawn at the left, one of the three. */
export interface PictureAnswers {
  tile?: Tile | null;
  channels?: ChannelsAnswer;
  profile?: ProfileAnswer;
}

const [TALL, PROFILE_TALL] = [261, 270];
const CHANNELS_TALL = 380;
/** Of more signs, cells beside each other share one, so that a figure stays small. */
const SIGNS = 300;

/** The values in colors, or along an axis; no parts where there is nothing to draw. */
export function pictureParts(
  answers: PictureAnswers,
  data: PictureData,
  colors: TensorColors,
  text: TextWidths,
): Part[] {
  const { tile, channels, profile } = answers;
  const said = (words: string) =>
    words ? [paragraph({ text: words, color: "muted" }, data.room, text)] : [];
  if (profile) {
    const { step } = profile;
    const each = step > 1 ? `${counted(step, "index")} per point` : "";
    return [profilePart(profile, data, colors), ...said(each)];
  }
  if (channels) {
    const [part, drawn] = channelsPart(channels, data, colors);
    const left = drawn < channels.length ? `the first ${drawn} of ${integer(channels.length)}` : "";
    const caption = cellCaption(channels, colors.cells);
    return [part, ...said([left, caption].filter(Boolean).join("; "))];
  }
  if (!tile) return [];
  const sampled = tile.exact ? "" : ", sampled";
  const caption = cellCaption(tile, colors.cells);
  return [planePart(tile, data, colors), ...said(caption && caption + sampled)];
}

function planePart(tile: Tile, data: PictureData, colors: TensorColors): Part {
  const layout = layoutOf(data);
  const { plot, kind } = layout;
  const isProfile = kind === "profile";
  const height = plot.y + plot.height + (isProfile ? STRIP + 38 : 8);
  return {
    height,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(MARGIN, top);
      const paint: Paint = { scale: colors.scale, cells: colors.cells };
      const painting: Painting = { ...paint, draw: recordCells(pen, paint), most: SIGNS };
      const draw = isProfile ? paintProfile : paintPlane;
      draw(pen, layout, [tile], painting, theme);
      writeAxes(pen, layout, data, colors.scale, theme, height);
      pen.restore();
    },
  };
}

/** The part of a plane is laid out as a plane is; its indices are those of the whole. */
function layoutOf({ planeRows, planeCols, region, room }: PictureData): Layout {
  const [row, col, rows, cols] = region ?? [0, 0, planeRows, planeCols];
  const stage = { width: room, height: TALL };
  const layout = layoutPlane(rows, cols, { zoom: 1, row: 0, col: 0 }, stage, 1);
  return { ...layout, row, col, planeRows, planeCols };
}

function writeAxes(
  pen: SvgContext,
  layout: Layout,
  { names: [down, across], planeRows, planeCols, room }: PictureData,
  scale: ColorScale | null,
  theme: Theme,
  height: number,
): void {
  if (planeRows * planeCols === 1) return;
  const labels = new Labels(pen, theme, room, height);
  const name = across && `${across} →`;
  if (layout.kind === "profile") labelProfile(labels, layout, scale, name);
  else labelPlane(labels, layout, [down && `← ${down}`, name]);
}

function recordCells(pen: SvgContext, paint: Paint): Painting["draw"] {
  return (tile, size, { x, y, width, height }) => {
    const { cols, rows } = tile;
    pen.cells({ cols, rows, pixels: colorCells(tile, paint, size) }, x, y, width, height);
  };
}

function channelsPart(
  answer: ChannelsAnswer,
  { room }: PictureData,
  { cells, scale }: TensorColors,
): [Part, drawn: number] {
  const channels = new Channels(answer.axis, answer.length);
  channels.add(answer);
  const { count, planeCols, planeRows } = answer;
  const stage = { width: room, height: CHANNELS_TALL };
  const layout = gridLayout({ count, planeRows, planeCols }, stage, 0);
  const most = Math.max(1, Math.floor(CHANNELS_TALL / layout.slot.height)) * layout.columns;
  const drawn = Math.min(count, most);
  const lines = Math.ceil(drawn / layout.columns);
  const part: Part = {
    height: lines * layout.slot.height,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(MARGIN, top);
      pen.textAlign = "left";
      for (let index = 0; index < drawn; index += 1) {
        paintChannel(pen, layout, index, channels.get(index), {
          theme,
          draw(channel, box) {
            const { cols, rows } = channel;
            const size = Math.min(box.width / cols, box.height / rows);
            const pixels = colorCells(channel, { scale, cells }, size);
            pen.cells({ cols, rows, pixels }, box.x, box.y, box.width, box.height);
            paintCellSigns(pen, box, channel);
          },
        });
      }
      pen.restore();
    },
  };
  return [part, drawn];
}

function profilePart(
  answer: ProfileAnswer,
  { along, room }: PictureData,
  { asked, dtype, known }: TensorColors,
): Part {
  const all = { first: 0, length: answer.length };
  const scene = profileScene(answer, all, scaleKind(known, asked), room, PROFILE_TALL);
  return {
    height: PROFILE_TALL + LINE / 2,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(MARGIN, top);
      paintAlong(pen, room, PROFILE_TALL, scene, all, along, dtype, theme);
      pen.restore();
    },
  };
}
