import { errorText, isAbort } from "../shared/client/request.ts";
import type { Layer, Pen } from "../shared/drawing/canvas.ts";
import { ramp, sequentialStops, type Theme } from "../shared/drawing/theme.ts";
import { integer } from "../shared/format.ts";
import { div, element } from "../shell/dom.ts";
import { message } from "../shell/message.ts";
import { Stage, type StagePainters } from "../shell/stage.ts";
import type { TileColumns } from "./client.ts";
import type { TuningData } from "./data.ts";
import { outcome, seconds } from "./descriptions.ts";
import { TilesScene } from "./tiles_scene.ts";

const PLAIN_ALPHA = 0.35;
/** Share of the trials that is emphasized. */
const CHEAP = 0.1;
/** Distance below which numbers beside an axis are left out, px. */
const NUMBER_GAP = 13;
const LABEL_APART = 8;

/** Parallel coordinates: one line per trial over its tile sizes to its cost; the cheapest on top. */
function paintTiles(scene: TilesScene, pen: Pen, theme: Theme, marked: ReadonlySet<number>) {
  const { rows } = scene.columns;
  const drawn = Array.from(rows.keys()).sort((a, b) => dearness(scene, b) - dearness(scene, a));
  const stops = sequentialStops(theme);
  const colorOf = (at: number) => {
    const rank = scene.rank(at);
    return Number.isNaN(rank) ? theme.error : ramp(stops, 0.95 - 0.75 * rank);
  };
  pen.lineWidth = 1;
  for (const at of drawn) {
    pen.globalAlpha = scene.rank(at) < CHEAP ? 0.9 : PLAIN_ALPHA;
    pen.strokeStyle = colorOf(at);
    trace(scene, pen, at);
  }
  pen.globalAlpha = 1;
  const isMarked = (at: number) => at !== scene.hovered && marked.has(rows[at]!);
  for (const at of drawn) if (isMarked(at)) strong(scene, pen, at, theme.text, theme);
  if (scene.hovered >= 0) strong(scene, pen, scene.hovered, theme.accent, theme);
  axes(scene, pen, theme);
  costScale(scene, pen, drawn, colorOf);
}

function dearness(scene: TilesScene, at: number): number {
  const rank = scene.rank(at);
  return Number.isNaN(rank) ? 2 : rank;
}

/** An emphasized line with an outline. */
function strong(scene: TilesScene, pen: Pen, at: number, color: string, theme: Theme): void {
  for (const [width, stroke] of [
    [6, theme.background],
    [2.5, color],
  ] as const) {
    pen.lineWidth = width;
    pen.strokeStyle = stroke;
    trace(scene, pen, at);
  }
}

function trace(scene: TilesScene, pen: Pen, at: number): void {
  pen.beginPath();
  for (let axis = 0; axis < scene.count; axis++) {
    const [x, y] = [scene.x(axis), scene.y(at, axis)];
    if (axis) pen.lineTo(x, y);
    else pen.moveTo(x, y);
  }
  pen.stroke();
}

function axes(scene: TilesScene, pen: Pen, theme: Theme): void {
  const { top, bottom, hovered } = scene;
  pen.font = `11px ${theme.font}`;
  pen.textBaseline = "middle";
  const room = scene.count > 1 ? scene.x(1) - scene.x(0) - LABEL_APART : scene.width;
  for (let axis = 0; axis < scene.count; axis++) {
    const x = scene.x(axis);
    const isCost = axis === scene.count - 1;
    pen.strokeStyle = theme.muted;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, bottom);
    pen.stroke();
    pen.textAlign = "center";
    pen.fillStyle = theme.text;
    pen.fillText(
      shortened(isCost ? "cost" : scene.columns.info.axes[axis]!, room, pen),
      x,
      top - 16,
    );
    pen.textAlign = "left";
    if (isCost) {
      pen.fillStyle = theme.muted;
      pen.fillText(seconds(scene.costs[0]), x + 8, top);
      pen.fillText(seconds(scene.costs[1]), x + 8, bottom);
      continue;
    }
    const own = hovered < 0 ? undefined : scene.value(hovered, axis);
    let last = Number.POSITIVE_INFINITY;
    for (const value of scene.levels[axis]!) {
      const y = scene.yOf(value, axis);
      const isNear = own !== undefined && Math.abs(scene.yOf(own, axis) - y) < NUMBER_GAP;
      if (last - y < NUMBER_GAP || (isNear && value !== own)) continue;
      last = y;
      number(String(value), x + 4, y, value === own ? theme.text : theme.muted, pen, theme);
    }
  }
  pen.textAlign = "left";
}

/** A number with a background that keeps it legible. */
function number(text: string, x: number, y: number, color: string, pen: Pen, theme: Theme): void {
  const wide = pen.measureText(text).width + 4;
  pen.fillStyle = theme.background;
  pen.globalAlpha = 0.8;
  pen.fillRect(x - 2, y - 7, wide, 14);
  pen.globalAlpha = 1;
  pen.fillStyle = color;
  pen.fillText(text, x, y);
}

function costScale(
  scene: TilesScene,
  pen: Pen,
  drawn: readonly number[],
  colorOf: (at: number) => string,
): void {
  const axis = scene.count - 1;
  const x = scene.x(axis);
  for (const at of drawn) {
    pen.fillStyle = colorOf(at);
    pen.fillRect(x - 3, scene.y(at, axis) - 1, 7, 2);
  }
}

function shortened(text: string, room: number, pen: Pen): string {
  if (pen.measureText(text).width <= room) return text;
  for (let length = text.length - 1; length > 1; length--) {
    const cut = `…${text.slice(-length)}`;
    if (pen.measureText(cut).width <= room) return cut;
  }
  return text.slice(-1);
}

/** Parallel coordinates of the tile sizes of one task's trials; lines can be hovered and chosen. */
export class TilesPane implements StagePainters {
  readonly node = div("tvmdbg-tuning-tiles tvmdbg-column");
  readonly #caption = element("p", { class: "tvmdbg-muted tvmdbg-clip tvmdbg-fixed" });
  readonly #stage: Stage;
  readonly #root: HTMLElement;
  #scene: TilesScene | null = null;
  #data: TuningData | null = null;
  #marked: ReadonlySet<number> = new Set();
  #serial = 0;

  constructor(root: HTMLElement, host: { pickTrial(trial: number): void }, signal: AbortSignal) {
    this.#root = root;
    this.#stage = new Stage(root, "tvmdbg-tuning-tiles-canvas", () => this, signal);
    this.node.append(this.#caption, this.#stage.node);
    const { canvas } = this.#stage;
    const at = (event: PointerEvent | MouseEvent) => {
      const box = canvas.getBoundingClientRect();
      return this.#scene?.hit(event.clientX - box.left, event.clientY - box.top) ?? -1;
    };
    canvas.addEventListener("pointermove", (event) => this.#hover(at(event)));
    canvas.addEventListener("pointerleave", () => this.#hover(-1));
    canvas.addEventListener("click", (event) => {
      const row = at(event);
      if (row >= 0) host.pickTrial(this.#scene!.columns.rows[row]!);
    });
  }

  base(theme: Theme, width: number, height: number, { context }: Layer): void {
    if (!this.#scene) return;
    Object.assign(this.#scene, { width, height });
    paintTiles(this.#scene, context, theme, this.#marked);
  }

  async show(request: Promise<TileColumns> | null, data: TuningData): Promise<void> {
    const mine = ++this.#serial;
    this.#data = data;
    this.#scene = null;
    if (!request) {
      this.#empty("empty", "Tile sizes of one task", "Select a task to compare its tile sizes.");
      return;
    }
    this.#empty("busy", "Reading tile sizes …");
    try {
      const columns = await request;
      if (mine !== this.#serial) return;
      if (!columns.rows.length) {
        this.#empty("empty", "No tile sizes", columns.info.note);
        return;
      }
      this.#scene = new TilesScene(columns);
      this.node.replaceChildren(this.#caption, this.#stage.node);
      this.#hover(-1);
    } catch (error) {
      if (mine !== this.#serial || isAbort(error)) return;
      this.#empty("error", "Tile sizes could not be read", errorText(error));
    }
  }

  mark(trial: number): void {
    this.#marked = new Set(trial < 0 ? [] : [trial]);
    this.#stage.changed();
  }

  #empty(kind: "empty" | "error" | "busy", title: string, detail = ""): void {
    this.node.replaceChildren(message(kind, title, detail));
  }

  #hover(at: number): void {
    if (!this.#scene || !this.#data) return;
    this.#scene.hovered = at;
    const { info, rows } = this.#scene.columns;
    const trial = rows[at];
    const caption =
      trial === undefined
        ? `${info.note}; strong lines are the fastest`
        : `trial ${integer(trial)}: ${outcome(this.#data, trial)}`;
    const values =
      trial === undefined
        ? []
        : info.axes.map((axis, i) => `${axis} = ${this.#scene!.value(at, i)}`);
    this.#caption.textContent = [caption, ...values].join(" · ");
    this.#caption.title = values.join("\n");
    this.#root.dataset.tile = trial === undefined ? "" : String(trial);
    this.#stage.changed();
  }
}
