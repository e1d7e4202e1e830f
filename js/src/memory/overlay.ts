import type { Pen } from "../shared/drawing/pen.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { type Box, GUTTER, type Scene } from "./scene.ts";

/** Of so many selected nodes, marks lie closer than their frames are wide. */
const MANY = 10_000;

/** Paints what changes without the part in view: pointer, hover, selection, scrollbar. */
export class Overlay {
  readonly #scene: Scene;
  readonly #context: Pen;
  #theme!: Theme;
  /** Pixels that hold a mark of the selection already: a large one is no more work than it is seen. */
  readonly #taken = new Set<number>();

  constructor(scene: Scene, context: Pen) {
    this.#scene = scene;
    this.#context = context;
  }

  paint(theme: Theme): void {
    this.#theme = theme;
    const { height, plan, pointer, selected, width } = this.#scene;
    const { graph } = plan;
    const context = this.#context;
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, width - GUTTER, height);
    context.clip();
    this.#taken.clear();
    if (pointer) this.#fill(theme.muted, Math.round(pointer.x), 0, 1, height, 0.7);
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

  #fill(color: string, x: number, y: number, width: number, height: number, alpha = 1): void {
    this.#context.globalAlpha = alpha;
    this.#context.fillStyle = color;
    this.#context.fillRect(x, y, width, height);
    this.#context.globalAlpha = 1;
  }

  /** The step of a selected node, through both charts. */
  #step(step: number): void {
    if (step < 0) return;
    const [left, right] = [this.#scene.x(step), this.#scene.x(step + 1)];
    if (right < GUTTER || left > this.#scene.width || this.#isTaken(-1, left)) return;
    const width = Math.max(2, right - left);
    this.#fill(this.#theme.text, left, 0, width, this.#scene.axisTop, 0.12);
    this.#fill(this.#theme.text, left, this.#scene.axisTop - 2, width, 3);
  }

  /** A line round a life with a halo, so that it stands out on every fill. */
  #frame(entry: number, line: number, once = false): void {
    const box = entry < 0 ? null : this.#scene.boxOf(entry);
    if (!box) return;
    const left = Math.max(GUTTER - 4, box.x);
    const right = Math.min(this.#scene.width + 4, box.x + Math.max(2, box.width));
    if (right < GUTTER || left > this.#scene.width) return;
    if (box.y > this.#scene.height || box.y + box.height < this.#scene.rowsTop) return;
    if (once && this.#isTaken(box.y, left)) return;
    const inside = { ...box, x: left, width: right - left };
    this.#stroke(inside, this.#theme.background, 1.5, -(line / 2 + 0.75));
    this.#stroke(inside, this.#theme.text, line, 0);
  }

  #isTaken(row: number, x: number): boolean {
    const grain = this.#scene.selected.length > MANY ? 4 : 1;
    const key = Math.floor(x / grain) * 100_000 + Math.floor(row);
    if (this.#taken.has(key)) return true;
    this.#taken.add(key);
    return false;
  }

  #stroke({ x, y, width, height }: Box, color: string, line: number, by: number): void {
    const context = this.#context;
    context.strokeStyle = color;
    context.lineWidth = line;
    context.strokeRect(x - by, y - by, Math.max(0, width + 2 * by), Math.max(0, height + 2 * by));
  }

  /** Shows which of the slots are in view where not all are. */
  #scrollbar(): void {
    const { height, rowsHeight, rowsTop, scroll, width } = this.#scene;
    const room = height - rowsTop;
    if (rowsHeight <= room) return;
    const length = Math.max(12, (room / rowsHeight) * room);
    const share = scroll / (rowsHeight - room);
    this.#fill(this.#theme.muted, width - 4, rowsTop + share * (room - length), 3, length);
  }
}
