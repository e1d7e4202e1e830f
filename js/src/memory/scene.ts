import { Brush } from "../shared/drawing/brush.ts";
import { type Pen, type Rectangle, Viewport } from "../shared/drawing/canvas.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import type { Plan } from "./plan.ts";

/** Left of both charts: labels of the heights and of the rows. */
export const GUTTER = 88;
export const AXIS = 20;
export const PITCH = 22;
const BAND = 20;
const HEAD = 20;
const SHARE = 0.42;
const LEAST_AREA = 84;

export interface MemoryHit {
  step: number;
  row: number;
  entry: number;
}

export class MemoryScene {
  readonly viewport: Viewport;
  width = 0;
  height = 0;
  scroll = 0;
  parameters = true;
  bySize = false;
  current = -1;
  selected: readonly number[] = [];
  hovered = -1;
  pointer: { x: number; y: number } | null = null;

  readonly #share: number;

  /** @param share Least share of the height for the bytes if there are many slots. */
  constructor(
    readonly plan: Plan,
    share = SHARE,
  ) {
    this.#share = share;
    this.viewport = new Viewport(0, plan.steps, 2);
  }

  get rowsHeight(): number {
    return this.plan.slots.length * PITCH;
  }

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

  at(x: number): number {
    return this.viewport.start + ((x - GUTTER) / this.room) * this.viewport.span;
  }

  /** y of the workspace's zero, above the band of the parameters. */
  get ground(): number {
    const shown = this.parameters && this.plan.columns.info.parameters > 0;
    return this.axisTop - (shown ? BAND : 0);
  }

  y(bytes: number): number {
    const { allocated } = this.plan.columns.info;
    return this.ground - (allocated > 0 ? (bytes / allocated) * (this.ground - HEAD) : 0);
  }

  rowTop(row: number): number {
    return this.rowsTop + row * PITCH - this.scroll;
  }

  get rows(): [first: number, end: number] {
    const first = Math.floor(this.scroll / PITCH);
    const end = Math.ceil((this.scroll + this.height - this.rowsTop) / PITCH);
    return [first, Math.min(this.plan.slots.length, Math.max(first, end))];
  }

  /** Box of an entry on the stage; null without a row. */
  boxOf(entry: number): Rectangle | null {
    const row = this.plan.rowOfEntry(entry);
    if (row < 0) return null;
    const { first, last } = this.plan.columns;
    const x = this.x(first[entry]!);
    const width = Math.max(1, this.x(last[entry]! + 1) - x);
    return { x, y: this.rowTop(row) + 1, width, height: PITCH - 2 };
  }

  reveal(entry: number, step: number): void {
    const row = entry < 0 ? -1 : this.plan.rowOfEntry(entry);
    if (step >= 0) this.viewport.reveal(step, step + 1);
    if (row < 0) return;
    const top = this.rowTop(row);
    if (top < this.rowsTop) this.scrollBy(top - this.rowsTop);
    else if (top + PITCH > this.height) this.scrollBy(top + PITCH - this.height);
  }

  /** What a hit is of: an entry, a step in its row, or the bytes of a step. */
  target({ entry, row, step }: MemoryHit): Rectangle {
    const box = entry < 0 ? null : this.boxOf(entry);
    const [x, y] = [this.x(step), row < 0 ? 0 : this.rowTop(row)];
    const place = { x, y, width: this.x(step + 1) - x, height: row < 0 ? this.axisTop : PITCH };
    const { x: left, width, ...rest } = box ?? place;
    const from = Math.max(GUTTER, left);
    return { ...rest, x: from, width: Math.min(this.width, left + width) - from };
  }

  hit(x: number, y: number): MemoryHit | null {
    const step = Math.floor(this.at(x));
    if (x < GUTTER || step < 0 || step >= this.plan.steps) return null;
    if (y < this.rowsTop) return { step, row: -1, entry: -1 };
    const row = Math.floor((y - this.rowsTop + this.scroll) / PITCH);
    if (row >= this.plan.slots.length) return null;
    return { step, row, entry: this.plan.at(row, step) };
  }
}

/** Number of selected nodes from which marks are closer than their frames are wide. */
const MANY = 10_000;

export class MemoryOverlay {
  readonly #scene: MemoryScene;
  readonly #brush: Brush;
  /** Pixels that have a mark of the selection already: a large selection costs no more than what is visible. */
  readonly #taken = new Set<number>();

  constructor(scene: MemoryScene, context: Pen) {
    this.#scene = scene;
    this.#brush = new Brush(context);
  }

  paint(theme: Theme): void {
    this.#brush.start(theme);
    const { height, plan, pointer, selected, width } = this.#scene;
    const { graph } = plan;
    const { context } = this.#brush;
    this.#brush.clip(GUTTER, 0, width - GUTTER, height);
    this.#taken.clear();
    if (pointer) this.#brush.fill(theme.muted, Math.round(pointer.x), 0, 1, height, 0.7);
    for (const node of selected) this.#step(plan.stepOf[node] ?? -1);
    context.beginPath();
    context.rect(GUTTER, this.#scene.rowsTop, width - GUTTER, height - this.#scene.rowsTop);
    context.clip();
    for (const node of selected) {
      const end = graph.entryOffsets[node + 1] ?? 0;
      for (let entry = graph.entryOffsets[node] ?? 0; entry < end; entry++) {
        this.#frame(entry, 1.5, true);
      }
    }
    this.#frame(this.#scene.hovered, 1.5);
    this.#frame(this.#scene.current, 3);
    context.restore();
    this.#scrollbar();
  }

  #step(step: number): void {
    if (step < 0) return;
    const [left, right] = [this.#scene.x(step), this.#scene.x(step + 1)];
    if (right < GUTTER || left > this.#scene.width || this.#isTaken(-1, left)) return;
    const width = Math.max(2, right - left);
    const { axisTop } = this.#scene;
    const { text } = this.#brush.theme;
    this.#brush.fill(text, left, 0, width, axisTop, 0.12);
    this.#brush.fill(text, left, axisTop - 2, width, 3);
  }

  #frame(entry: number, line: number, once = false): void {
    const box = entry < 0 ? null : this.#scene.boxOf(entry);
    if (!box) return;
    const left = Math.max(GUTTER - 4, box.x);
    const right = Math.min(this.#scene.width + 4, box.x + Math.max(2, box.width));
    if (right < GUTTER || left > this.#scene.width) return;
    if (box.y > this.#scene.height || box.y + box.height < this.#scene.rowsTop) return;
    if (once && this.#isTaken(box.y, left)) return;
    this.#brush.outline({ ...box, x: left, width: right - left }, line);
  }

  #isTaken(row: number, x: number): boolean {
    const grain = this.#scene.selected.length > MANY ? 4 : 1;
    const key = Math.floor(x / grain) * 100_000 + Math.floor(row);
    if (this.#taken.has(key)) return true;
    this.#taken.add(key);
    return false;
  }

  #scrollbar(): void {
    const { height, rowsHeight, rowsTop, scroll, width } = this.#scene;
    const room = height - rowsTop;
    if (rowsHeight <= room) return;
    const length = Math.max(12, (room / rowsHeight) * room);
    const share = scroll / (rowsHeight - room);
    const top = rowsTop + share * (room - length);
    this.#brush.fill(this.#brush.theme.muted, width - 4, top, 3, length);
  }
}
