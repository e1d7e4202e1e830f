import { healthScan, isUnderWay, type Scan } from "../shared/client/health.ts";
import { errorText, isAbort } from "../shared/client/request.ts";
import type { HealthAnswer } from "../shared/client/tensor_questions.ts";
import { counted } from "../shared/format.ts";
import { ClassColors, Coloring, type GivenColumns, layoutName } from "./data/coloring.ts";
import type { BoxColors } from "./data/colors.ts";
import { NodeHealth } from "./data/health.ts";
import { type NodeColumn, readColumn } from "./data/node_columns.ts";
import { isOfKind } from "./data/times.ts";
import { MOST_SELECTED } from "./folding.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";
import type { GraphPicture } from "./paint/picture.ts";
import { GraphLegend } from "./panels/legend.ts";
import { type GraphHost, GraphPart } from "./parts.ts";

/** Polls the health of the run's values; only a small run is scanned without a request. */
class HealthLoader extends GraphPart {
  readonly scan: Scan<HealthAnswer> = healthScan(
    this.view.context.run,
    this,
    this.view.context.signal,
  );
  #isRequested = false;
  #glanced = false;

  glance(): void {
    if (this.#isRequested || this.#glanced) return;
    this.#glanced = true;
    const { run, signal } = this.view.context;
    void run.ask("health", { glance: true }, signal).then(
      (answer) => {
        if (answer.state === "none" || this.#isRequested) return;
        this.#isRequested = true;
        this.answered(answer);
        if (isUnderWay(answer)) void this.scan.start();
      },
      () => {},
    );
  }

  ask(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    void this.scan.start();
  }

  answered(answer: HealthAnswer): void {
    const { model, placing } = this.view;
    const before = [model.answer, model.fault].join();
    model.describe.health = new NodeHealth(answer, model.graph.kinds.length);
    this.view.repaint();
    if ([model.answer, model.fault].join() !== before) placing.lookAgain();
    if (!isUnderWay(answer)) this.view.tell(true);
  }

  failed(error: unknown): void {
    this.#isRequested = false;
    this.view.mirror.say(`The health of the run is not known: ${errorText(error)}`);
  }
}

interface AskedColumn {
  number: number;
  column: NodeColumn | null;
  /** Why there is none; may be empty. */
  problem: string;
}

export class Appearance extends GraphPart {
  readonly #coloring = new Coloring(this.view.model.graph, this.view.model.times);
  readonly #healthLoader = new HealthLoader(this.view);
  readonly legend = new GraphLegend(this.view, this.#healthLoader.scan);
  /** Columns of Python by name, with the number that was asked last. */
  readonly #asked = new Map<string, AskedColumn>();
  #given: GivenColumns = {};
  #colors: BoxColors | null = null;
  #glanced: string | null = null;

  constructor(view: GraphHost, signal: AbortSignal) {
    super(view);
    const { model, context } = view;
    const relabelled = () => {
      this.#ask();
      void view.arrange(false);
    };
    context.options.onChange("label", relabelled, signal);
    model.describe.entryValue = (entry) => {
      const value = this.#colors?.entry(entry);
      return value ? `${view.chosen.colorBy} ${value}` : "";
    };
    model.describe.value = (nodes) => {
      const { colorBy } = view.chosen;
      const value = colorBy === "time" ? "" : (this.#colors?.meaningOf(nodes) ?? "");
      return value && `${colorBy}: ${value}`;
    };
    model.labels.layoutOf = (node) => layoutName(model.graph, this.#given.layout ?? null, node);
    context.options.onChange("color_limits", () => view.repaint(), signal);
    const offered = () => {
      this.#offered();
      this.#ask();
      view.repaint();
    };
    context.options.onChange("_color_columns", offered, signal);
    this.#offered();
    this.#ask();
  }

  get names(): string[] {
    return this.#coloring.names(this.#given);
  }

  /** The colored column; null if there is none, or not yet. */
  get column(): NodeColumn | null {
    return this.#coloring.column(this.view.chosen.colorBy, this.#given);
  }

  glance(): void {
    this.#healthLoader.glance();
  }

  recolored(): void {
    const { colorBy } = this.view.chosen;
    this.view.highlighted = this.#glanced = null;
    this.#ask();
    if (colorBy === "health") this.#healthLoader.ask();
  }

  of(
    placed: PlacedScene | null,
  ): Pick<GraphPicture, "colorBy" | "colors" | "health" | "highlight"> | null {
    const { chosen, model, palette } = this.view;
    const { colorBy } = chosen;
    const known = model.describe.health;
    const wish = { name: colorBy, given: this.#given, limits: chosen.colorLimits };
    const health = placed && this.#coloring.health(known, placed.scene);
    const colors = placed && this.#coloring.colors(wish, placed.scene, palette, health);
    this.#colors = colors;
    const highlight = this.#glanced ?? this.view.highlighted;
    const work = chosen.offered[colorBy]?.work ?? null;
    this.legend.show(colors, work, this.#problem());
    return colors && { colorBy, colors, health, highlight };
  }

  #offered(): void {
    const { chosen, context } = this.view;
    const names = Object.keys(chosen.offered);
    const known = names.map((name) => [name, this.#asked.get(name)?.column ?? null]);
    this.#given = { ...context.columns, ...Object.fromEntries(known) };
  }

  /** Asks for the columns of colors and labels that Python has; what is shown stays until they arrive. */
  #ask(): void {
    const { chosen, context, model } = this.view;
    for (const name of [chosen.colorBy, "layout"]) {
      const number = chosen.offered[name]?.number;
      const isUsed = name === chosen.colorBy || chosen.label.includes("{layout}");
      const kept = this.#asked.get(name) ?? { number: -1, column: null, problem: "" };
      if (number === undefined || number === kept.number || !isUsed) continue;
      kept.number = number;
      this.#asked.set(name, kept);
      const read = (column: NodeColumn | null, problem = "") => {
        if (kept.number !== number) return;
        const isFirst = kept.column === null;
        Object.assign(kept, { column, problem });
        this.#offered();
        // Boxes are as wide as their labels.
        if (isFirst && chosen.label.includes(`{${name}}`)) void this.view.arrange(false);
        else this.view.repaint();
        this.view.tell(true);
      };
      context.run.ask("nodeColumn", { number }).then(
        (answer) => read(readColumn(model.graph, name, answer)),
        (error: unknown) => isAbort(error) || read(kept.column, errorText(error)),
      );
    }
  }

  #problem(): string {
    const { colorBy } = this.view.chosen;
    if (colorBy === "kind" || colorBy === "health" || this.column) return "";
    const problem = this.#asked.get(colorBy)?.problem;
    if (problem) return `${colorBy}: ${problem}`;
    return colorBy in this.view.chosen.offered
      ? `computing ${colorBy} …`
      : `${colorBy}: not in this page`;
  }

  /** Highlights an item of the legend while the pointer is on it; null ends that. */
  setOff(key: string | null): void {
    this.#glanced = key;
    this.view.repaint();
  }

  select(key: string): void {
    const { placed, model, mirror } = this.view;
    const { graph } = model;
    const { colors } = this.of(placed) ?? {};
    const nodes =
      colors instanceof ClassColors
        ? colors.nodes(key)
        : Array.from(graph.kinds.keys()).filter((node) => isOfKind(graph, node, key));
    if (nodes.length > MOST_SELECTED) {
      mirror.say(`${counted(nodes.length, "node")}: too many to select.`);
      return;
    }
    this.view.selectNodes(nodes);
  }
}
