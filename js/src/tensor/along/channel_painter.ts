import type { Pen } from "../../shared/drawing/pen.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import type { Label } from "../picture/labels.ts";
import type { Box } from "../picture/layout.ts";
import { type Channel, channelSigns } from "./channels.ts";
import { type GridLayout, placeIn } from "./grid_layout.ts";

const FONT = 11;

/** Draws the cells of a picture into its box. */
export type DrawChannel = (channel: Channel, box: Box) => void;

/** One picture of the grid, its index and what is wrong with it above; null while it is not read. */
export function paintChannel(
  context: Pen,
  layout: GridLayout,
  index: number,
  channel: Channel | null,
  { theme, draw, chosen = false }: { theme: Theme; draw: DrawChannel; chosen?: boolean },
): Label {
  const place = placeIn(layout, index);
  const box = { ...layout.picture, x: place.x, y: place.y + layout.labelRoom };
  const signs = channel ? channelSigns(channel) : [];
  const text = [String(index), ...signs].join(" ");
  context.textBaseline = "middle";
  context.font = `${chosen || signs.length ? "600 " : ""}${FONT}px ${theme.font}`;
  context.fillStyle = chosen ? theme.accent : theme.text;
  if (signs.length) context.fillStyle = signs.includes("dead") ? theme.warning : theme.error;
  const long = context.measureText(text).width;
  const shortened = long <= place.width ? text : `${index}${signs.length ? "!" : ""}`;
  context.fillText(shortened, place.x, place.y + layout.labelRoom / 2);
  if (channel) draw(channel, box);
  context.lineWidth = chosen ? 2 : 1;
  context.strokeStyle = chosen ? theme.accent : signs.length ? theme.error : theme.line;
  const grow = chosen ? 1.5 : 0.5;
  context.strokeRect(box.x - grow, box.y - grow, box.width + 2 * grow, box.height + 2 * grow);
  return {
    text: shortened,
    x: place.x,
    y: place.y - layout.scrolled + 1,
    width: context.measureText(shortened).width,
    height: layout.labelRoom - 2,
  };
}
