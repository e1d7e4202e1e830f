import { classes as tokens } from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { GraphColumns } from "../../shared/client/answers.ts";
import { OWN_COLORS } from "../../shared/client/options.ts";
import { counted, integer } from "../../shared/format.ts";
import { type GraphScene, membersOf } from "../layout/scene.ts";
import type { Palette } from "../paint/palette.ts";
import {
  type BoxColors,
  type ColorShare,
  type Ground,
  HealthColors,
  KindColors,
  shares,
  tally,
} from "./colors.ts";
import { BoxHealth, type NodeHealth } from "./health.ts";
import { nodesIn } from "./links.ts";
import { type ClassColumn, type NodeColumn, ownColumn, rowsOf } from "./node_columns.ts";
import { NumberColors, timeColumn } from "./number_colors.ts";
import type { NodeTimes } from "./times.ts";

const COLORS = tokens.light.length;
/** Classes with a color of their own, the second half of them paler; the others share one. */
const OWN = 2 * COLORS;
const NAMED = 2;
const SHARED = new Set(["dtype", "device", "storage"]);
const OTHER = "other";

/** Colors by class; a box of several nodes has its most frequent class and a stripe with all shares. */
export class ClassColors extends KindColors {
  readonly column: ClassColumn;
  readonly rows: { key: string; label: string; nodes: number; color: string }[];
  readonly unknown: number;
  #own = 0;
  /** Rank by class, by frequency. */
  readonly #place: Int32Array;
  readonly #most: Int32Array;

  constructor(ground: Ground, times: NodeTimes, column: ClassColumn) {
    super(ground, times);
    const { graph, scene } = ground;
    this.column = column;
    const counts = new Int32Array(column.classes.length);
    /** The last node that was counted, by class: several of its outputs may have one class. */
    const last = new Int32Array(counts.length).fill(-1);
    let unknown = 0;
    for (let node = 0; node < graph.kinds.length; node++) {
      const [first, end] = rowsOf(graph, column, node);
      const more = graph.nodeCount?.[node] ?? 1;
      let known = false;
      for (let row = first; row < end; row++) {
        const code = column.codes[row]!;
        if (code < 0 || last[code] === node) continue;
        known = true;
        last[code] = node;
        counts[code]! += more;
      }
      if (!known) unknown += more;
    }
    this.unknown = unknown;
    const order = Array.from(counts.keys()).filter((code) => counts[code]! > 0);
    if (!column.ordered) order.sort((a, b) => counts[b]! - counts[a]! || a - b);
    this.#place = new Int32Array(counts.length);
    for (const [place, code] of order.entries()) this.#place[code] = column.ordered ? code : place;
    // A slot of a single entry shares nothing.
    const classes = column.name === "storage" ? order.filter((code) => counts[code]! > 1) : order;
    this.#own = Math.min(OWN, column.ordered ? counts.length : classes.length);
    this.rows = order.slice(0, this.#own).map((code) => ({
      key: String(code),
      label: column.classes[code]!,
      nodes: counts[code]!,
      color: this.color(code),
    }));
    const rest = order.slice(this.#own);
    if (rest.length) {
      const nodes = nodesIn(graph, this.nodes(OTHER));
      const label =
        classes.length < order.length
          ? `${integer(rest.length)} used once`
          : counted(rest.length, "other");
      this.rows.push({ key: OTHER, label, nodes, color: this.color(rest[0]!) });
    }
    this.#most = new Int32Array(scene.count);
    for (let box = 0; box < scene.count; box++) this.#most[box] = this.#shares(box)[0]?.[0] ?? -1;
  }

  color(code: number): string {
    const { theme } = this.ground.palette;
    const place = this.#place[code]!;
    if (place >= this.#own) return theme.muted;
    const full = tokens[theme.dark ? "dark" : "light"][place % COLORS]!;
    return place < COLORS ? full : this.ground.palette.faded(full);
  }

  override flat(box: number): string {
    const code = this.#most[box]!;
    return code < 0 ? this.ground.palette.hatched : this.color(code);
  }

  override face(box: number): string | null {
    const code = this.#most[box]!;
    return code < 0 ? null : this.ground.palette.tinted(this.color(code));
  }

  override isUnknown(box: number): boolean {
    const code = this.#most[box]!;
    return code < 0 || code === this.column.hatched;
  }

  override entry(entry: number): string {
    const { name, of, codes, classes } = this.column;
    return of === "nodes" || SHARED.has(name) ? "" : (classes[codes[entry]!] ?? "");
  }

  override parts(box: number): readonly ColorShare[] {
    return shares(this.#shares(box), (code) => this.color(code));
  }

  override has(box: number, key: string): boolean {
    return membersOf(this.ground.scene, box).some((node) => this.#is(node, key));
  }

  nodes(key: string): number[] {
    return Array.from(this.ground.graph.kinds.keys()).filter((node) => this.#is(node, key));
  }

  override meaningOf(nodes: ArrayLike<number>): string {
    const shares = this.#sharesOf(nodes);
    if (shares.length === 0) return `${this.column.name} unknown`;
    if (shares.length === 1) return this.column.classes[shares[0]![0]]!;
    const texts = shares
      .slice(0, NAMED)
      .map(([code, count]) => `${this.column.classes[code]} ${integer(count)}`);
    const more = shares.length - texts.length;
    return `${texts.join(", ")}${more > 0 ? `, +${more}` : ""}`;
  }

  #is(node: number, key: string): boolean {
    const { codes } = this.column;
    const [first, end] = rowsOf(this.ground.graph, this.column, node);
    for (let row = first; row < end; row++) {
      const code = codes[row]!;
      if (code >= 0 && (this.#place[code]! < this.#own ? String(code) : OTHER) === key) return true;
    }
    return false;
  }

  #shares(box: number): [code: number, count: number][] {
    return this.#sharesOf(membersOf(this.ground.scene, box));
  }

  #sharesOf(nodes: ArrayLike<number>): [code: number, count: number][] {
    if (nodes.length === 1) {
      const [first, end] = rowsOf(this.ground.graph, this.column, nodes[0]!);
      const code = this.column.codes[first]!;
      if (end - first === 1) return code < 0 ? [] : [[code, 1]];
    }
    const { codes, of } = this.column;
    const { graph } = this.ground;
    return tally(graph, nodes, codes, of === "nodes" ? null : graph.entryOffsets);
  }
}

/** Columns that are not the graph's own, by name; null for one that is not there yet. */
export type GivenColumns = Readonly<Record<string, NodeColumn | null>>;

export interface ColorWish {
  name: string;
  given: GivenColumns;
  limits: readonly [low: number, high: number] | null;
}

export class Coloring {
  readonly #graph: GraphColumns;
  readonly #times: NodeTimes;
  readonly #own = new Map<string, NodeColumn | null>();
  #boxes: BoxHealth | null = null;
  #scene: GraphScene | null = null;
  #made: { of: readonly unknown[]; colors: BoxColors } | null = null;

  constructor(graph: GraphColumns, times: NodeTimes) {
    this.#graph = graph;
    this.#times = times;
  }

  names(given: GivenColumns): string[] {
    const { storageIds, deviceTypes } = this.#graph;
    const there: Record<string, Int32Array> = { storage: storageIds, device: deviceTypes };
    const own = OWN_COLORS.filter((name) => there[name]?.length !== 0);
    return [...new Set([...own, ...Object.keys(given)])];
  }

  column(name: string, given: GivenColumns): NodeColumn | null {
    if (given[name]) return given[name];
    if (!this.#own.has(name)) {
      const isTime = name === "time";
      this.#own.set(name, isTime ? timeColumn(this.#times) : ownColumn(this.#graph, name));
    }
    return this.#own.get(name)!;
  }

  health(nodes: NodeHealth | null, scene: GraphScene): BoxHealth | null {
    if (!nodes) return null;
    if (this.#boxes?.nodes !== nodes || this.#scene !== scene) {
      this.#boxes = new BoxHealth(nodes, scene);
      this.#scene = scene;
    }
    return this.#boxes;
  }

  colors(
    wish: ColorWish,
    scene: GraphScene,
    palette: Palette,
    health: BoxHealth | null,
  ): BoxColors {
    const column = this.column(wish.name, wish.given);
    const limits = wish.limits ? String(wish.limits) : "";
    const of = [wish.name, column, limits, scene, palette, health];
    if (this.#made?.of.every((node, i) => node === of[i])) return this.#made.colors;
    const ground = { graph: this.#graph, scene, palette };
    let colors: BoxColors;
    if (!column) {
      const Kind = wish.name === "health" ? HealthColors : KindColors;
      colors = new Kind(ground, this.#times, health);
    } else if ("classes" in column) colors = new ClassColors(ground, this.#times, column);
    else colors = new NumberColors(ground, this.#times, column, wish.limits);
    this.#made = { of, colors };
    return colors;
  }
}

/** Layout of a node's first output by the column of layouts; empty if unknown. */
export function layoutName(graph: GraphColumns, layout: NodeColumn | null, node: number): string {
  if (!layout || !("classes" in layout)) return "";
  return layout.classes[layout.codes[rowsOf(graph, layout, node)[0]]!] ?? "";
}
