import { Viewport } from "../shared/drawing/viewport.ts";
import type { Plan } from "./plan.ts";

/** Left of both charts: what bytes the heights mean, and what the rows are. */
export const GUTTER = 88;
export const AXIS = 20;
export const PITCH = 22;
/** Height of the band that stands for the parameters: to scale, they would leave the workspace no room. */
const BAND = 20;
/** Room above the highest level, for its label. */
const HEAD = 20;
const SHARE = 0.42;
const LEAST_AREA = 84;

/** What is under the pointer: a step, in a row perhaps an entry. */
export interface Hit {
  step: number;
  /** -1 above the rows. */
  row: number;
  /** -1 where the slot is free, or above the rows. */
  entry: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What is on the stage and where; knows no DOM. */
export class Scene {
  readonly plan: Plan;
  readonly viewport: Viewport;
  width = 0;
  height = 0;
  scroll = 0;
  /** Whether parameters are shown below the workspace. */
  parameters = true;
  bySize = false;
  /** The entry that the view speaks of, -1 none. */
  current = -1;
  selected: readonly number[] = [];
  hovered = -1;
  pointer: { x: number; y: number } | null = null;

  readonly #share: number;

  /** @param share  of the height, that the bytes get at least where there are many slots. */
  constructor(plan: Plan, share = SHARE) {
    this.plan = plan;
    this.#share = share;
    this.viewport = new Viewport(0, plan.steps, 2);
  }

  get rowsHeight(): number {
    return this.plan.slots.length * PITCH;
  }

  /** Where the axis begins, below the bytes. */
  get axisTop(): number {
    const room = this.height - AXIS;
    return Math.max(
      LEAST_AREA,
      Math.round(Math.max(room * this.#share, room - this.rowsHeight - 2)),
    );
  }

  get rowsTop(): number {
    return this.axisTop + AXIS;
  }

  get room(): number {
    return Math.max(1, this.width - GUTTER);
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.scrollBy(0);
  }

  scrollBy(pixels: number): void {
    const most = Math.max(0, this.rowsHeight - (this.height - this.rowsTop));
    this.scroll = Math.min(Math.max(0, this.scroll + pixels), most);
  }

  x(step: number): number {
    return GUTTER + ((step - this.viewport.start) / this.viewport.span) * this.room;
  }

  step(x: number): number {
    return this.viewport.start + ((x - GUTTER) / this.room) * this.viewport.span;
  }

  /** Where the bytes of the workspace begin, above the band of the parameters. */
  get ground(): number {
    const shown = this.parameters && this.plan.columns.info.parameters > 0;
    return this.axisTop - (shown ? BAND : 0);
  }

  /** Height on the stage of so many bytes of the workspace. */
  y(bytes: number): number {
    const { allocated } = this.plan.columns.info;
    return this.ground - (allocated > 0 ? (bytes / allocated) * (this.ground - HEAD) : 0);
  }

  rowTop(row: number): number {
    return this.rowsTop + row * PITCH - this.scroll;
  }

  /** The rows in view. */
  get rows(): [first: number, end: number] {
    const first = Math.floor(this.scroll / PITCH);
    const end = Math.ceil((this.scroll + this.height - this.rowsTop) / PITCH);
    return [first, Math.min(this.plan.slots.length, Math.max(first, end))];
  }

  /** Where an entry lies on the stage; null where it has no row. */
  boxOf(entry: number): Box | null {
    const row = this.plan.rowOfEntry(entry);
    if (row < 0) return null;
    const { first, last } = this.plan.columns;
    const x = this.x(first[entry]!);
    const width = Math.max(1, this.x(last[entry]! + 1) - x);
    return { x, y: this.rowTop(row) + 1, width, height: PITCH - 2 };
  }

  /** Moves and zooms as little as needed for an entry, or a step, to be seen. */
  reveal(entry: number, step: number): void {
    const row = entry < 0 ? -1 : this.plan.rowOfEntry(entry);
    if (step >= 0) this.viewport.reveal(step, step + 1);
    if (row < 0) return;
    const top = this.rowTop(row);
    if (top < this.rowsTop) this.scrollBy(top - this.rowsTop);
    else if (top + PITCH > this.height) this.scrollBy(top + PITCH - this.height);
  }

  hit(x: number, y: number): Hit | null {
    const step = Math.floor(this.step(x));
    if (x < GUTTER || step < 0 || step >= this.plan.steps) return null;
    if (y < this.rowsTop) return { step, row: -1, entry: -1 };
    const row = Math.floor((y - this.rowsTop + this.scroll) / PITCH);
    if (row >= this.plan.slots.length) return null;
    return { step, row, entry: this.plan.at(row, step) };
  }
}
