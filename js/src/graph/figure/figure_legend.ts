import { Fault } from "../../shared/client/health.ts";
import { type FigurePart, LINE, MARGIN, SMALL } from "../../shared/drawing/figure.ts";
import type { SvgContext } from "../../shared/drawing/svg_context.ts";
import { plain } from "../../shared/drawing/svg_marks.ts";
import { BADGE, inkOn, kindFill, paintBadge, type Theme } from "../../shared/drawing/theme.ts";
import { integer, percent } from "../../shared/format.ts";
import { ClassColors } from "../data/coloring.ts";
import { countsByWeight, isUnknown, MARKS, verdictLabel, verdictSign } from "../data/health.ts";
import { NumberColors } from "../data/number_colors.ts";
import { EdgeStyle, type GraphScene } from "../layout/scene.ts";
import { DASHES } from "../paint/edges.ts";
import { Palette, paintHatch } from "../paint/palette.ts";
import { type GraphRequest, GraphSheet } from "./sheet.ts";

const APART = 12;
const SWATCH = 10;
const SIGN = 14;
const RAMP = 72;
const STEPS = 12;
const STROKE = 22;

const LINES = [
  [EdgeStyle.AMBIGUOUS, "ambiguous: the file does not name the producer"],
  [EdgeStyle.CONTROL, "runs before"],
  [EdgeStyle.BRIDGE, "through hidden nodes"],
] as const;

interface LegendItem {
  width: number;
  paint: (pen: SvgContext, theme: Theme, x: number, y: number) => void;
}

export function legend(sheet: GraphSheet, scene: GraphScene): FigurePart {
  const items = [...new Items(sheet, scene).all()];
  const room = sheet.request.width - 2 * MARGIN;
  const places: [x: number, row: number][] = [];
  let [x, row] = [0, 0];
  for (const { width } of items) {
    if (x > 0 && x + width > room) [x, row] = [0, row + 1];
    places.push([x, row]);
    x += width + APART;
  }
  return {
    height: items.length ? (row + 1) * LINE + 8 : 0,
    paint(pen, theme, top) {
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      for (const [at, item] of items.entries()) {
        const [left, line] = places[at]!;
        pen.font = `${SMALL}px ${theme.font}`;
        item.paint(pen, theme, MARGIN + left, top + (line + 0.5) * LINE);
      }
    },
  };
}

class Items {
  readonly #sheet: GraphSheet;
  readonly #scene: GraphScene;

  constructor(sheet: GraphSheet, scene: GraphScene) {
    this.#sheet = sheet;
    this.#scene = scene;
  }

  *all(): Generator<LegendItem> {
    const { colorBy, model } = this.#sheet;
    const colors = this.#colors(this.#sheet.theme(false));
    if (colorBy === "health") yield* this.#health();
    else if (colorBy === "time" && !model.times.known) yield this.#text("the run has no times");
    else if (colors instanceof NumberColors) yield* this.#numbers(colors);
    if (colors instanceof ClassColors) yield* this.#classes(colors);
    else yield* this.#kinds();
    if (colorBy !== "health") yield* this.#faults();
    for (const [style, words] of LINES) {
      if (this.#scene.edgeStyle.includes(style)) yield this.#line(DASHES[style]!, words);
    }
  }

  #colors(theme: Theme) {
    return this.#sheet.colors(this.#scene, theme);
  }

  #width(words: string): number {
    return this.#sheet.request.text.width(words, SMALL);
  }

  #text(words: string, color: keyof Theme & ("text" | "muted") = "text"): LegendItem {
    const { text, width } = this.#sheet.request;
    const fitted = text.fit(words, width - 2 * MARGIN, SMALL);
    return {
      width: this.#width(fitted),
      paint(pen, theme, x, y) {
        pen.fillStyle = theme[color];
        pen.fillText(fitted, x, y);
      },
    };
  }

  #chip(label: string, aside: string, fill: (theme: Theme) => string): LegendItem {
    const { text, width } = this.#sheet.request;
    const shown = text.fit(label, width - 2 * MARGIN - SWATCH - 60, SMALL);
    const draw: LegendItem["paint"] = (pen, theme, x, y) => {
      pen.fillStyle = fill(theme);
      pen.fillRect(x, y - SWATCH / 2, SWATCH, SWATCH);
    };
    return this.#marked(SWATCH, shown, draw, { aside });
  }

  *#kinds(): Generator<LegendItem> {
    const { times } = this.#sheet.model;
    for (const { kind, nodes, ns } of times.kindSums()) {
      const share = ns > 0 ? percent(ns / times.total) : integer(nodes);
      yield this.#chip(kind, share, (theme) => kindFill(theme, kind));
    }
  }

  *#classes({ column, rows, unknown }: ClassColors): Generator<LegendItem> {
    yield this.#text(column.name, "muted");
    for (const [at, { label, nodes }] of rows.entries()) {
      yield this.#chip(label, integer(nodes), (theme) => {
        return (this.#colors(theme) as ClassColors).rows[at]!.color;
      });
    }
    if (unknown) yield this.#unknown(unknown);
  }

  *#numbers(colors: NumberColors): Generator<LegendItem> {
    const { axis, column, counts, scale, together } = colors;
    const isWhole = this.#sheet.colorBy === "time" && scale === axis;
    const several = column.of === "entries" ? ` (${together} of outputs)` : "";
    const [low, high] = [colors.text(scale.low), colors.text(scale.high)];
    if (!counts.known) yield this.#text(colors.title);
    else yield* this.#ramps(colors.title, low, `${high}${isWhole ? " (slowest)" : several}`);
    for (const { text, color } of colors.outside) {
      yield color ? this.#chip(text, "", () => color) : this.#text(text);
    }
    if (counts.known && counts.unknown) yield this.#unknown(counts.unknown);
    if (column.note) yield this.#text(column.note, "muted");
  }

  /** The title stands above a ramp that leaves no room for it. */
  *#ramps(title: string, low: string, high: string): Generator<LegendItem> {
    const ramp = this.#ramp(`${title} ${low}`, high);
    if (ramp.width <= this.#sheet.request.width - 2 * MARGIN) {
      yield ramp;
      return;
    }
    yield this.#text(title);
    yield this.#ramp(low, high);
  }

  #ramp(before: string, after: string): LegendItem {
    const first = this.#width(before) + 4;
    const step = RAMP / STEPS;
    return {
      width: first + RAMP + 4 + this.#width(after),
      paint: (pen, theme, x, y) => {
        const colors = this.#colors(theme) as NumberColors;
        pen.fillStyle = theme.text;
        pen.fillText(before, x, y);
        for (let at = 0; at < STEPS; at++) {
          pen.fillStyle = colors.color(colors.scale.value((at + 0.5) / STEPS));
          pen.fillRect(x + first + at * step, y - SWATCH / 2, step + 0.2, SWATCH);
        }
        pen.fillStyle = theme.text;
        pen.fillText(after, x + first + RAMP + 4, y);
      },
    };
  }

  /** A mark of this size in px with words beside it, and a muted text after them. */
  #marked(
    side: number,
    words: string,
    draw: LegendItem["paint"],
    { aside = "", color = "text" }: { aside?: string; color?: "text" | "muted" } = {},
  ): LegendItem {
    const [start, wide] = [side + 4, this.#width(words)];
    return {
      width: start + wide + (aside ? 4 + this.#width(aside) : 0),
      paint(pen, theme, x, y) {
        draw(pen, theme, x, y);
        pen.font = `${SMALL}px ${theme.font}`;
        pen.fillStyle = theme[color];
        pen.fillText(words, x + start, y);
        pen.fillStyle = theme.muted;
        if (aside) pen.fillText(aside, x + start + wide + 4, y);
      },
    };
  }

  #unknown(count: number): LegendItem {
    return this.#marked(SWATCH, `${integer(count)} unknown`, (pen, theme, x, y) =>
      hatched(pen, theme, x, y, SWATCH),
    );
  }

  *#health(): Generator<LegendItem> {
    const { health } = this.#sheet;
    if (!health?.answer.total) {
      yield this.#text("the run holds no tensors");
      return;
    }
    const counts = countsByWeight(health.verdict);
    for (const [verdict, nodes] of counts) yield this.#verdict(verdict, integer(nodes));
  }

  #verdict(verdict: number, nodes: string): LegendItem {
    const draw: LegendItem["paint"] = (pen, theme, x, y) => {
      const fill = isUnknown(verdict) ? theme.background : new Palette(theme).verdict(verdict);
      pen.fillStyle = fill;
      pen.fillRect(x, y - SIGN / 2, SIGN, SIGN);
      if (isUnknown(verdict)) hatched(pen, theme, x, y, SIGN);
      pen.fillStyle = inkOn(fill);
      pen.textAlign = "center";
      pen.fillText(verdictSign(verdict), x + SIGN / 2, y);
      pen.textAlign = "left";
    };
    return this.#marked(SIGN, verdictLabel(verdict), draw, { aside: nodes });
  }

  *#faults(): Generator<LegendItem> {
    const { fault = new Uint8Array(), warned = -1 } = this.#sheet.health ?? {};
    if (warned >= 0) {
      yield this.#marked(BADGE, MARKS[0], (pen, theme, x, y) =>
        paintBadge(pen, x + BADGE / 2, y, BADGE / 2, { ...theme, error: theme.warning }),
      );
    }
    if (!fault.some(Boolean)) return;
    yield this.#marked(BADGE, MARKS[Fault.ORIGIN], (pen, theme, x, y) =>
      paintBadge(pen, x + BADGE / 2, y, BADGE / 2, theme),
    );
    yield this.#marked(SIGN, MARKS[Fault.SPREAD], (pen, theme, x, y) => {
      pen.strokeStyle = theme.error;
      pen.lineWidth = 1.5;
      pen.globalAlpha = 0.8;
      pen.setLineDash([4, 3]);
      pen.beginPath();
      pen.roundRect(x, y - SIGN / 2, SIGN, SIGN, 4);
      pen.stroke();
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    });
  }

  #line(dash: readonly number[], words: string): LegendItem {
    const { width } = this.#sheet.request;
    const isLong = STROKE + 4 + this.#width(words) > width - 2 * MARGIN;
    const draw: LegendItem["paint"] = (pen, theme, x, y) => {
      pen.strokeStyle = new Palette(theme).edge;
      pen.lineWidth = 1.2;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(x + STROKE, y);
      pen.stroke();
      pen.setLineDash([]);
    };
    return this.#marked(STROKE, isLong ? words.split(":", 1)[0]! : words, draw, { color: "muted" });
  }
}

function hatched(pen: SvgContext, theme: Theme, x: number, y: number, side: number): void {
  const shape = { x, y: y - side / 2, width: side, height: side };
  pen.beginPath();
  pen.rect(shape.x, shape.y, side, side);
  paintHatch(pen, new Palette(theme), shape);
  pen.strokeStyle = theme.line;
  pen.lineWidth = 1;
  pen.strokeRect(shape.x, shape.y, side, side);
}

/** Unit of the colors; and by node fill, ink on it, text and value, null if unknown. */
export async function nodeColors(request: GraphRequest) {
  const sheet = (await GraphSheet.of(request))!;
  const { labels, graph } = sheet.model;
  const scene = sheet.scene({ fold: false });
  const theme = sheet.theme(false);
  const palette = new Palette(theme);
  const colors = sheet.colors(scene, theme);
  const { health } = sheet;
  const unit = colors instanceof NumberColors ? colors.column.unit : "";
  const nodes: (readonly (string | number | null)[])[] = [];
  const add = (fill: string | null, words: string, value: number | string | null) =>
    nodes.push([fill && plain(fill), fill && inkOn(fill), words, value]);
  for (let box = 0; box < scene.count; box++) {
    const node = scene.node[box]!;
    const face = colors.face(box);
    if (colors instanceof NumberColors) {
      const value = colors.value(box);
      const text = sheet.colorBy === "time" ? labels.time(node) : colors.meaning(box);
      add(face, text, Number.isNaN(value) ? null : value);
    } else if (colors instanceof ClassColors) {
      const value = colors.meaning(box);
      add(face, value, face && value);
    } else if (health && sheet.colorBy === "health") {
      const verdict = health.verdict[node]!;
      add(face ?? palette.plain, health.brief(node), verdictLabel(verdict));
    } else {
      const kind = graph.opKinds.at(node);
      add(palette.tint(kind), kind, kind);
    }
  }
  return { unit, nodes };
}
