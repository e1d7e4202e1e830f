import { message } from "../../shared/client/message.ts";
import { isAbort } from "../../shared/client/request.ts";
import { clear, layer, Repaint } from "../../shared/drawing/canvas.ts";
import { onThemeChange, readTheme } from "../../shared/drawing/theme.ts";
import { integer } from "../../shared/format.ts";
import { element } from "../../shared/ui/dom.ts";
import type { TuningData } from "../data/data.ts";
import { outcome } from "../data/descriptions.ts";
import { type Tiles, TilesScene } from "../data/tiles.ts";
import { paintTiles } from "./tiles_painter.ts";

/** Parallel coordinates of the tile sizes of one task's trials; a line can be pointed at and chosen. */
export class TilesPane {
  readonly node = element("div", { class: "tvmdbg-tuning-tiles" });
  readonly #said = element("p", { class: "tvmdbg-muted" });
  readonly #stage: HTMLElement;
  readonly #repaint: Repaint;
  readonly #root: HTMLElement;
  #scene: TilesScene | null = null;
  #data: TuningData | null = null;
  #marked: ReadonlySet<number> = new Set();
  #asked = 0;

  constructor(root: HTMLElement, pick: (trial: number) => void, signal: AbortSignal) {
    this.#root = root;
    const base = layer("tvmdbg-tuning-tiles-canvas");
    this.#stage = element("div", { class: "tvmdbg-stage" }, base.canvas);
    this.node.append(this.#said, this.#stage);
    this.#repaint = new Repaint(
      this.#stage,
      () => {
        const { clientWidth: width, clientHeight: height } = this.#stage;
        if (!width || !height || !this.#scene) return;
        this.#scene.width = width;
        this.#scene.height = height;
        clear(base, width, height);
        paintTiles(this.#scene, base.context, readTheme(root), this.#marked);
      },
      signal,
    );
    onThemeChange(() => this.#repaint.request(), signal);
    const at = (event: PointerEvent | MouseEvent) => {
      const box = base.canvas.getBoundingClientRect();
      return this.#scene?.hit(event.clientX - box.left, event.clientY - box.top) ?? -1;
    };
    base.canvas.addEventListener("pointermove", (event) => this.#hover(at(event)));
    base.canvas.addEventListener("pointerleave", () => this.#hover(-1));
    base.canvas.addEventListener("click", (event) => {
      const found = at(event);
      if (found >= 0) pick(this.#scene!.tiles.rows[found]!);
    });
  }

  async show(asked: Promise<Tiles> | null, data: TuningData): Promise<void> {
    const mine = ++this.#asked;
    this.#data = data;
    this.#scene = null;
    if (!asked) {
      this.#empty("empty", "Tile sizes of one task", "Select a task to compare its tile sizes.");
      return;
    }
    this.#empty("busy", "Reading tile sizes …");
    try {
      const tiles = await asked;
      if (mine !== this.#asked) return;
      if (!tiles.rows.length) {
        this.#empty("empty", "No tile sizes", tiles.info.note);
        return;
      }
      this.#scene = new TilesScene(tiles);
      this.node.replaceChildren(this.#said, this.#stage);
      this.#hover(-1);
    } catch (error) {
      if (mine !== this.#asked || isAbort(error)) return;
      this.#empty("error", "Tile sizes could not be read", String(error));
    }
  }

  mark(trial: number): void {
    this.#marked = new Set(trial < 0 ? [] : [trial]);
    this.#repaint.request();
  }

  #empty(kind: "empty" | "error" | "busy", title: string, detail = ""): void {
    this.node.replaceChildren(message(kind, title, detail));
  }

  #hover(at: number): void {
    if (!this.#scene || !this.#data) return;
    this.#scene.hovered = at;
    const { info, rows } = this.#scene.tiles;
    const trial = rows[at];
    const said =
      trial === undefined
        ? `${info.note}; strong lines are the fastest`
        : `trial ${integer(trial)}: ${outcome(this.#data, trial)}`;
    const values =
      trial === undefined
        ? []
        : info.axes.map((axis, i) => `${axis} = ${this.#scene!.tiles.value(at, i)}`);
    this.#said.textContent = [said, ...values].join(" · ");
    this.#said.title = values.join("\n");
    this.#root.dataset.tile = trial === undefined ? "" : String(trial);
    this.#repaint.request();
  }
}
