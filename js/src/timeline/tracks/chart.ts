import { RowKind } from "../../shared/client/timeline_columns.ts";
import { ChartBrush } from "../../shared/drawing/brush.ts";
import { clear, type Layer, layer } from "../../shared/drawing/canvas.ts";
import { readTheme, type Theme } from "../../shared/drawing/theme.ts";
import { AxisCamera, type AxisView } from "../../shell/axis_camera.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import { lengthOf } from "../data/neighbors.ts";
import { Fills } from "./fills.ts";
import { TimelineOverlay } from "./overlay.ts";
import { OVERVIEW, type TimelineScene, TOP } from "./scene.ts";
import { Strips } from "./strips.ts";
import { type DrawnTracks, TracksPainter } from "./tracks_painter.ts";

/** All of the time with the lowest rows of every track: the same picture for every visible part. */
class TimelineOverview {
  readonly #scene: TimelineScene;
  readonly #strips: Strips;
  readonly #kept = layer("");
  #keptFor = "";

  constructor(scene: TimelineScene, strips: Strips) {
    this.#scene = scene;
    this.#strips = strips;
  }

  forget(): void {
    this.#keptFor = "";
  }

  picture({ surface }: Theme): HTMLCanvasElement {
    const { slices, width, viewport, bins } = this.#scene;
    const ratio = devicePixelRatio || 1;
    const shown = [width, ratio, surface].join();
    if (shown === this.#keptFor) return this.#kept.canvas;
    this.#keptFor = shown;
    clear(this.#kept, width, OVERVIEW);
    const { context } = this.#kept;
    context.fillStyle = surface;
    context.fillRect(0, 0, width, OVERVIEW);
    const lowest = slices.rows.filter(
      ({ kind, depth }) => kind === RowKind.OVERLAP || (kind === RowKind.NESTED && depth === 0),
    );
    const columns = Math.round(width * ratio);
    const view = {
      start: viewport.first,
      step: viewport.whole / columns,
      width: columns,
      rows: lowest.length,
      ratio,
    };
    this.#strips.forget();
    this.#strips.begin(view, 0, Infinity, bins.coarsest.length > 0);
    const strips = lowest.map((row) => this.#strips.line(row));
    this.#strips.flush();
    const room = ((OVERVIEW - 6) / slices.tracks.length) * ratio;
    lowest.forEach((row, i) => {
      const y = Math.round(3 * ratio + row.track * room);
      const height = Math.max(1, Math.round(room - ratio));
      this.#strips.drawPixels(context, strips[i]!, y, height);
    });
    return this.#kept.canvas;
  }
}

/** Paints everything that depends on the visible part: overview, axis, tracks, and bands below them. */
class TimelinePainter {
  readonly #scene: TimelineScene;
  readonly #context: CanvasRenderingContext2D;
  readonly #brush: ChartBrush;
  readonly #fills: Fills;
  readonly #strips: Strips;
  readonly #overview: TimelineOverview;
  readonly #tracks: TracksPainter;
  #themed = "";

  constructor(scene: TimelineScene, { context }: Layer) {
    this.#scene = scene;
    this.#context = context;
    this.#brush = new ChartBrush(context);
    this.#fills = new Fills(scene.slices, scene.names);
    const source = {
      slices: scene.slices,
      fills: this.#fills,
      bins: (from: number, to: number, step: number) => scene.bins.bins(from, to, step),
    };
    this.#strips = new Strips(source);
    this.#overview = new TimelineOverview(
      scene,
      new Strips({ ...source, bins: () => scene.bins.coarsest }),
    );
    this.#tracks = new TracksPainter(scene, this.#brush, this.#fills, this.#strips);
  }

  forget(): void {
    this.#fills.recolor();
    this.#overview.forget();
    this.#strips.forget();
  }

  /** Paints; returns true if all is at full resolution, as with `record`, which stores what was drawn. */
  paint(theme: Theme, record = false): boolean {
    this.#brush.start(theme);
    this.#retheme(theme);
    const { width, height } = this.#scene;
    this.#brush.fill(theme.background, 0, 0, width, height);
    this.#context.drawImage(this.#overview.picture(theme), 0, 0, width, OVERVIEW);
    const isFine = this.#tracks.paint(theme, devicePixelRatio || 1, record);
    this.#brush.clip(0, TOP, width, height - TOP);
    this.#bands();
    this.#context.restore();
    return isFine;
  }

  /** Items of the last paint with `record`. */
  get drawn(): DrawnTracks {
    return this.#tracks.drawn;
  }

  #retheme(theme: Theme): void {
    const { background, dark, muted } = theme;
    const themed = `${background} ${dark} ${muted}`;
    if (themed === this.#themed) return;
    this.#themed = themed;
    this.#fills.retheme(theme);
    this.forget();
  }

  #bands(): void {
    const { bands, layout, scroll, height } = this.#scene;
    let y = TOP - scroll + layout.height;
    for (const band of bands) {
      if (y < height && y + band.height > TOP) {
        this.#context.save();
        band.paint(this.#brush, this.#scene, y);
        this.#context.restore();
      }
      y += band.height;
    }
  }
}

interface TimeView extends AxisView {
  readonly root: HTMLElement;
  readonly scene: TimelineScene;
  readonly context: { readonly signal: AbortSignal };
  /** Called after each paint. */
  painted(): void;
}

/** The stage of the tracks. */
export class TimelineChart extends Stage {
  readonly #painter: TimelinePainter;

  constructor(view: TimeView) {
    const { root, scene } = view;
    let painter!: TimelinePainter;
    const painters = (base: Layer, over: Layer): StagePainters => {
      painter = new TimelinePainter(scene, base);
      const overlay = new TimelineOverlay(scene, over);
      return {
        resize: (width, height) => scene.resize(width, height),
        base: (theme) => painter.paint(theme),
        over: (theme) => overlay.paint(theme),
        painted: () => view.painted(),
        inspect: () => {
          const { viewport, range, current, critical, hovered } = scene;
          const view = [viewport.start, viewport.end];
          const facts = { view, range, current, critical: critical?.count ?? 0, hovered };
          if (!this.node.isConnected) return facts;
          clear(base, scene.width, scene.height);
          painter.paint(readTheme(root), true);
          return { ...painter.drawn, ...facts };
        },
      };
    };
    super(root, "tvmdbg-timeline-base", painters, view.context.signal);
    this.#painter = painter;
  }

  arrived(): void {
    this.#painter.forget();
    this.changed();
  }
}

/** Room on both sides of a fitted range, as a share of it. */
const MARGIN = 0.25;

/** Moves the visible part of the time axis, and tells the model. */
export class TimeCamera extends AxisCamera {
  readonly #scene: TimelineScene;

  constructor(view: TimeView, signal: AbortSignal) {
    super(view, signal);
    this.#scene = view.scene;
  }

  /** Shows the executions, or all if these are visible. */
  home(): void {
    const { opening, isOpening } = this.#scene;
    if (opening && !isOpening) this.move((viewport) => viewport.show(...opening));
    else this.all();
  }

  /** Zooms at a place, by default at the pointer, else at the selected slice if visible, else at the middle. */
  override zoom(factor: number, at = this.#middle): void {
    super.zoom(factor, at);
  }

  get #middle(): number {
    const { pointer, current, slices } = this.#scene;
    return pointer
      ? this.#scene.at(pointer.x)
      : (slices.startOf(current) + slices.endOf(current)) / 2;
  }

  /** Fits the measured or marked range, the gap, or the selected slice; else all. */
  fit(): void {
    const { slices, current, range, gap, measure, viewport } = this.#scene;
    const exact = measure?.range ?? range;
    if (exact && exact[0] < exact[1]) this.move(() => viewport.show(...exact));
    else if (gap) this.#around(gap.from, gap.to, lengthOf(gap));
    else if (current >= 0) {
      const lasts = slices.durationOf(current);
      this.#around(slices.startOf(current), slices.endOf(current), lasts);
    } else this.all();
  }

  center(ns: number): void {
    this.move(() => this.#scene.viewport.center(ns));
  }

  reveal(from: number, to: number): void {
    this.move(() => this.#scene.viewport.reveal(from, to));
  }

  #around(from: number, to: number, length: number): void {
    const { viewport } = this.#scene;
    const margin = length > 0 ? length * MARGIN : viewport.whole / 1000;
    this.move(() => viewport.show(from - margin, to + margin));
  }
}
