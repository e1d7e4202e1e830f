import { TextMeasure } from "../../shared/drawing/canvas.ts";
import { type Hover, pencil } from "../../shared/drawing/figure.ts";
import { MARGIN, type Part } from "../../shared/drawing/figure_parts.ts";
import type { Pen } from "../../shared/drawing/pen.ts";
import type { TextWidths } from "../../shared/drawing/text_widths.ts";
import { figureTheme, type Theme } from "../../shared/drawing/theme.ts";
import { Brush } from "../charts/brush.ts";
import type { Names } from "../data/names.ts";
import type { Slices } from "../data/slices.ts";
import { titleText } from "../data/titles.ts";
import { Fills } from "../tracks/fills.ts";
import { RecordedStrips } from "../tracks/recorded_strips.ts";
import { AXIS, OVERVIEW, Scene, TOP } from "../tracks/scene.ts";
import { TracksPainter } from "../tracks/tracks_painter.ts";

/** Of tracks, and of rows of each; columns a px. */
const MOST = { tracks: 8, rows: 8 };
const RATIO = 0.5;
/** Slices that say what they are where the pointer rests, the longest. */
const TITLED = 160;

/** What of a timeline is in its picture. */
export class TimeChart {
  readonly part: Part;
  /** Beside the top of the part. */
  readonly hover: Hover[];
  /** Tracks that are not drawn. */
  readonly left: number;
  readonly scene: Scene;
  readonly #names: Names;
  readonly #selected: readonly number[];

  constructor(
    slices: Slices,
    names: Names,
    range: readonly [number, number] | null,
    selected: readonly number[],
    width: number,
    text: TextWidths,
  ) {
    this.#names = names;
    this.#selected = selected;
    this.scene = new Scene(slices, names, MOST);
    if (range) this.scene.viewport.show(...range);
    const { layout } = this.scene;
    this.scene.resize(width - 2 * MARGIN, TOP + layout.height);
    this.left = Math.max(0, slices.tracks.length - MOST.tracks);
    this.hover = this.#hover(text);
    this.part = {
      height: AXIS + layout.height + 4,
      paint: (pen, theme, top) => {
        pen.save();
        pen.translate(MARGIN, top - OVERVIEW);
        this.#painter(pen, theme).paint(theme, RATIO);
        this.#marks(pen, theme);
        pen.restore();
      },
    };
  }

  #painter(pen: Pen, theme: Theme): TracksPainter {
    const { names, slices } = this.scene;
    const fills = new Fills(slices, names);
    fills.retheme(theme);
    const bins = (from: number, to: number, step: number) => this.scene.bins.bins(from, to, step);
    const lines = new RecordedStrips({ slices, fills, bins }, this.scene, theme);
    return new TracksPainter(this.scene, pen, new TextMeasure(pen), fills, lines);
  }

  #hover(text: TextWidths): Hover[] {
    const theme = figureTheme(false, text.font);
    const painter = this.#painter(pencil(text), theme);
    painter.paint(theme, RATIO, true);
    const { slices } = this.scene;
    const marks = painter.drawn.marks.filter(
      ({ kind, slice }) => kind === "slice" && Number.isFinite(slices.durationOf(slice)),
    );
    marks.sort((a, b) => b.width - a.width);
    return marks.slice(0, TITLED).map(({ slice, node, x, y, width, height }) => {
      const title = titleText(this.#names.titleOf(node, this.#names.ofSlice(slice)));
      const said = `${title}: ${slices.told(slices.durationOf(slice))}`;
      return { x: x + MARGIN, y: y - OVERVIEW, width, height, text: said };
    });
  }

  /** A line round each slice of what is selected. */
  #marks(pen: Pen, theme: Theme): void {
    const { slices } = this.scene;
    const brush = new Brush(pen);
    brush.theme = theme;
    for (const node of this.#selected) {
      for (const slice of slices.of(node)) {
        const row = slices.rows[slices.rowOf(slice)]!;
        const { y, height } = this.scene.rowBox(row);
        const [left, right] = [slices.startOf(slice), slices.endOf(slice)].map((ns) =>
          Math.min(this.scene.width, Math.max(0, this.scene.x(ns))),
        );
        if (height > 0 && right! > left!) {
          brush.frame({ x: left!, y, width: right! - left!, height });
        }
      }
    }
  }
}
