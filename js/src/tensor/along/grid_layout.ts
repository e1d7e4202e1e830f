import type { Box, Size } from "../picture/layout.ts";

/** Where small pictures stand in a box that scrolls, CSS pixels. */
export interface GridLayout {
  columns: number;
  /** Of one picture with its label and the gap behind it. */
  slot: Size;
  picture: Size;
  labelRoom: number;
  /** Of all rows. */
  height: number;
  scrolled: number;
  inSight: { first: number; count: number };
  /** Cells worth asking for, of each picture. */
  cells: { rows: number; cols: number };
}

const GAP = 8;
const EDGE = 3;
const LABEL = 16;
const SMALLEST = 36;
const LARGEST = 144;
/** About a megabyte for all that are in sight. */
const MAX_CELLS = 80_000;

/** As large as lets all be in sight at once, between what can be seen well and what is of use. */
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

/** The slot of an index, without the gap. */
export function placeIn({ columns, slot, labelRoom, picture }: GridLayout, index: number): Box {
  return {
    x: EDGE + (index % columns) * slot.width,
    y: Math.floor(index / columns) * slot.height,
    width: slot.width - GAP,
    height: picture.height + labelRoom,
  };
}

/** The index at a place of all that can be scrolled to; null in the gaps. */
export function slotAt(layout: GridLayout, x: number, y: number): number | null {
  const { columns, slot } = layout;
  const column = Math.floor((x - EDGE) / slot.width);
  if (column < 0 || column >= columns || y < 0) return null;
  const index = Math.floor(y / slot.height) * columns + column;
  const place = placeIn(layout, index);
  return x < place.x + place.width && y < place.y + place.height ? index : null;
}
