import type { GraphColumns } from "../../shared/client/run_client.ts";
import { BoxHealth, type NodeHealth } from "../data/health.ts";
import type { Times } from "../data/times.ts";
import type { Palette } from "../paint/palette.ts";
import type { Scene } from "../placed/scene.ts";
import { ClassColors } from "./classes.ts";
import { type Colors, HealthColors, KindColors } from "./colors.ts";
import { type Column, ownColumn, readColumn, type Wire } from "./columns.ts";
import { NumberColors, timeColumn } from "./numbers.ts";

/** Columns that Python sends, by name; null for one that it works out once it is asked for. */
export type Wires = Readonly<Record<string, Wire | null>>;

/** What the colors are to show. */
export interface Wish {
  name: string;
  wires: Wires;
  limits: readonly [low: number, high: number] | null;
}

/** Makes the colors of one graph's pictures; the same wish for the same scene gets the same ones. */
export class Coloring {
  readonly #graph: GraphColumns;
  readonly #times: Times;
  readonly #columns = new Map<string, { wire: Wire | null; column: Column | null }>();
  #boxes: BoxHealth | null = null;
  #scene: Scene | null = null;
  #made: { of: readonly unknown[]; colors: Colors } | null = null;

  constructor(graph: GraphColumns, times: Times) {
    this.#graph = graph;
    this.#times = times;
  }

  /** What this graph can be colored by. */
  names(wires: Wires): string[] {
    const { storageIds, deviceTypes } = this.#graph;
    const own = ["kind", "time", "health", "dtype"];
    if (deviceTypes.length) own.push("device");
    if (storageIds.length) own.push("storage");
    return [...new Set([...own, "bytes", ...Object.keys(wires)])];
  }

  /** The column of a name; null where there is none, or not yet. */
  column(name: string, wires: Wires): Column | null {
    const wire = wires[name] ?? null;
    let kept = this.#columns.get(name);
    if (!kept || kept.wire !== wire) {
      const column = wire ? readColumn(this.#graph, name, wire) : this.#own(name);
      kept = { wire, column };
      this.#columns.set(name, kept);
    }
    return kept.column;
  }

  /** The health of boxes, as far as that of nodes is known. */
  health(nodes: NodeHealth | null, scene: Scene): BoxHealth | null {
    if (!nodes) return null;
    if (this.#boxes?.nodes !== nodes || this.#scene !== scene) {
      this.#boxes = new BoxHealth(nodes, scene);
      this.#scene = scene;
    }
    return this.#boxes;
  }

  colors(wish: Wish, scene: Scene, palette: Palette, health: BoxHealth | null): Colors {
    const column = this.column(wish.name, wish.wires);
    const limits = wish.limits ? String(wish.limits) : "";
    const of = [wish.name, column, limits, scene, palette, health];
    if (this.#made?.of.every((each, i) => each === of[i])) return this.#made.colors;
    const ground = { graph: this.#graph, scene, palette };
    let colors: Colors;
    if (!column) {
      const Kind = wish.name === "health" ? HealthColors : KindColors;
      colors = new Kind(ground, this.#times, health);
    } else if ("classes" in column) colors = new ClassColors(ground, this.#times, column);
    else colors = new NumberColors(ground, this.#times, column, wish.limits);
    this.#made = { of, colors };
    return colors;
  }

  #own(name: string): Column | null {
    return name === "time" ? timeColumn(this.#times) : ownColumn(this.#graph, name);
  }
}
