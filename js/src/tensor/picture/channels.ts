import type { Cells, ChannelsAnswer, Floats } from "../../shared/client/tensor_questions.ts";
import type { Pen, Rectangle, Size } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { SPECIAL_TEXT, specialsOf } from "./color_scale.ts";
import type { PlacedLabel } from "./plane_layout.ts";

interface Channel extends Cells {
  rows: number;
  cols: number;
  /** Bounds of its finite values; NaN without any. */
  low: number;
  high: number;
  /** Flags of all its cells. */
  all: number;
}

/** Faults of a channel, in the words of the grid. */
export function channelSigns({ low, high, all }: Channel): string[] {
  const signs: string[] = specialsOf(all).map((special) => SPECIAL_TEXT[special]);
  if (all === 0 && low === 0 && high === 0) signs.push("dead");
  return signs;
}

export class Channels {
  /** Values per cell; null until known. */
  steps: { rowStep: number; colStep: number } | null = null;
  readonly #known = new Map<number, Channel>();

  constructor(
    readonly axis: number,
    readonly length: number,
  ) {}

  get(index: number): Channel | null {
    return this.#known.get(index) ?? null;
  }

  add(answer: ChannelsAnswer): void {
    const { first, count, rows, cols, minimum, maximum, mean, flags } = answer;
    this.steps = answer;
    const size = rows * cols;
    for (let k = 0; k < count; k += 1) {
      const own = <T extends Floats | Uint8Array>(cells: T) =>
        cells.subarray(k * size, (k + 1) * size) as T;
      const cells = {
        minimum: own(minimum),
        maximum: own(maximum),
        mean: own(mean),
        flags: own(flags),
      };
      let [low, high, all] = [Number.NaN, Number.NaN, 0];
      for (let cell = 0; cell < size; cell += 1) {
        const [least, most] = [cells.minimum[cell]!, cells.maximum[cell]!];
        if (!(least >= low)) low = Number.isNaN(least) ? low : least;
        if (!(most <= high)) high = Number.isNaN(most) ? high : most;
        all |= cells.flags[cell]!;
      }
      this.#known.set(first + k, { ...cells, rows, cols, low, high, all });
    }
  }

  /** The run from the first missing picture to the last, or null. */
  missing(first: number, count: number): { first: number; count: number } | null {
    const end = Math.min(this.length, first + count);
    let [from, to] = [first, end - 1];
    while (from < end && this.#known.has(from)) from += 1;
    while (to >= from && this.#known.has(to)) to -= 1;
    return from > to ? null : { first: from, count: to - from + 1 };
  }

  counts(): { known: number; dead: number; odd: number } {
    let [dead, odd] = [0, 0];
    for (const channel of this.#known.values()) {
      if (channel.all) odd += 1;
      else if (channel.low === 0 && channel.high === 0) dead += 1;
    }
    return { known: this.#known.size, dead, odd };
  }
}

/** Layout of small pictures in a scrolling box, CSS pixels. */
export interface GridLayout {
  columns: number;
  /** Size of one picture with its label and the gap after it. */
  slot: Size;
  picture: Size;
  labelRoom: number;
  height: number;
  scrolled: number;
  inSight: { first: number; count: number };
  /** Useful number of cells per picture. */
  cells: { rows: number; cols: number };
}

const GAP = 8;
const EDGE = 3;
const LABEL = 16;
const SMALLEST = 36;
const LARGEST = 320;
/** Limit for all visible pictures: about a megabyte. */
const MAX_CELLS = 80_000;

/** Pictures as large as lets all be visible at once, within sizes that are readable and useful. */
export function gridLayout(
  { count, planeRows, planeCols }: { count: number; planeRows: number; planeCols: number },
  box: Size,
  scrolled: number,
): GridLayout {
  const width = box.width - 2 * EDGE;
  const longest = Math.max(planeRows, planeCols);
  const sized = (side: number) => {
    const picture = {
      width: Math.max(12, Math.round((side * planeCols) / longest)),
      height: Math.max(12, Math.round((side * planeRows) / longest)),
    };
    const slot = { width: Math.max(picture.width, 28) + GAP, height: picture.height + LABEL + GAP };
    const columns = Math.max(1, Math.floor((width + GAP) / slot.width));
    return { picture, slot, columns, height: Math.ceil(count / columns) * slot.height + EDGE };
  };
  let side = LARGEST;
  while (side > SMALLEST && sized(side).height > box.height) side -= 4;
  const made = sized(side);
  const firstRow = Math.max(0, Math.floor(scrolled / made.slot.height));
  const rows = Math.ceil(box.height / made.slot.height) + 1;
  const first = Math.min(count, firstRow * made.columns);
  const inSight = { first, count: Math.min(count - first, rows * made.columns) };
  let cells = {
    rows: Math.min(planeRows, made.picture.height),
    cols: Math.min(planeCols, made.picture.width),
  };
  const over = Math.sqrt((cells.rows * cells.cols * Math.max(1, inSight.count)) / MAX_CELLS);
  if (over > 1) {
    cells = {
      rows: Math.max(1, Math.floor(cells.rows / over)),
      cols: Math.max(1, Math.floor(cells.cols / over)),
    };
  }
  return { ...made, labelRoom: LABEL, scrolled, inSight, cells };
}

/** Slot of an index, without the gap. */
export function placeIn(
  { columns, slot, labelRoom, picture }: GridLayout,
  index: number,
): Rectangle {
  return {
    x: EDGE + (index % columns) * slot.width,
    y: Math.floor(index / columns) * slot.height,
    width: slot.width - GAP,
    height: picture.height + labelRoom,
  };
}

/** Index at a position of the scrolled content; null in the gaps. */
export function slotAt(layout: GridLayout, x: number, y: number): number | null {
  const { columns, slot } = layout;
  const column = Math.floor((x - EDGE) / slot.width);
  if (column < 0 || column >= columns || y < 0) return null;
  const index = Math.floor(y / slot.height) * columns + column;
  const place = placeIn(layout, index);
  return x < place.x + place.width && y < place.y + place.height ? index : null;
}

const FONT = 11;

export type DrawChannel = (channel: Channel, box: Rectangle) => void;

/** Paints one picture of the grid with its index and faults above; null while it is loading. */
export function paintChannel(
  context: Pen,
  layout: GridLayout,
  index: number,
  channel: Channel | null,
  { theme, draw, chosen = false }: { theme: Theme; draw: DrawChannel; chosen?: boolean },
): PlacedLabel {
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
