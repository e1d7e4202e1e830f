import type { SpreadAnswer } from "../../shared/client/tensor_questions.ts";
import { clear, layer, Repaint } from "../../shared/drawing/canvas.ts";
import { onThemeChange, readTheme } from "../../shared/drawing/theme.ts";
import { integer } from "../../shared/format.ts";
import { element, listening } from "../../shared/ui/dom.ts";
import { nearRange, scaleKind } from "../colors/color_scale.ts";
import { paintHistogram } from "./histogram_painter.ts";
import { spreadOf } from "./spread.ts";
import { barAt, type SpreadScene, spreadScene } from "./spread_scene.ts";

const AUTO = { scale: "auto", range: "auto" } as const;

/** A histogram by the rules of the large one, without its controls; a bar is told at the pointer. */
export class SmallHistogram {
  readonly node = element("div", { class: "tvmdbg-stage tvmdbg-tensor-small-bars", role: "img" });
  readonly #root: HTMLElement;
  readonly #base = layer("tvmdbg-base");
  readonly #repaint: Repaint;
  #found: SpreadAnswer | null = null;
  #dtype = "";
  #scene: SpreadScene | null = null;

  constructor(root: HTMLElement, signal: AbortSignal) {
    this.#root = root;
    this.node.append(this.#base.canvas);
    this.#repaint = new Repaint(this.node, () => this.#paint(), signal);
    onThemeChange(() => this.#repaint.request(), signal);
    const listen = listening(this.node, signal);
    listen("pointermove", (event) => {
      const x = event.clientX - this.node.getBoundingClientRect().x;
      const bar = this.#scene && barAt(this.#scene, x);
      this.node.title = bar === null ? "" : (this.#scene?.bars[bar]?.text ?? "");
    });
  }

  show(found: SpreadAnswer, dtype: string): void {
    this.#found = found;
    this.#dtype = dtype;
    this.node.hidden = !found.statistics;
    this.#repaint.request();
  }

  inspect() {
    return this.#scene?.bars ?? [];
  }

  #paint(): void {
    const { clientWidth: width, clientHeight: height } = this.node;
    const found = this.#found;
    if (!found?.statistics || width === 0 || height === 0) return;
    const near = nearRange(found, AUTO);
    const zoom = near && ([near.low, near.high] as const);
    const spread = spreadOf(found, this.#dtype, { kind: scaleKind(found, "auto"), zoom });
    this.#scene = spread && spreadScene(spread, found.statistics.size, width, height, false);
    const view = { spread, scene: this.#scene, colors: null, theme: readTheme(this.#root) };
    clear(this.#base, width, height);
    paintHistogram(this.#base.context, width, height, view, false);
    const most = integer(Math.round(this.#scene?.top ?? 0));
    this.node.setAttribute("aria-label", `Histogram of the region, max count ${most}`);
  }
}
