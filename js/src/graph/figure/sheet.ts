import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { GraphColumns } from "../../shared/client/answers.ts";
import type { HealthAnswer } from "../../shared/client/tensor_questions.ts";
import type { FigureRequest, Note } from "../../shared/drawing/figure.ts";
import { figureTheme, type Theme } from "../../shared/drawing/theme.ts";
import type { Camera } from "../camera.ts";
import { Coloring, type Wires } from "../data/coloring.ts";
import type { BoxColors } from "../data/colors.ts";
import { NodeHealth } from "../data/health.ts";
import type { Bridge } from "../data/links.ts";
import { GraphModel } from "../data/model.ts";
import type { Wire } from "../data/node_columns.ts";
import type { PlacedScene } from "../layout/placed_scene.ts";
import {
  type BoxTexts,
  boxesOf,
  buildScene,
  foldedParameters,
  type GraphScene,
  type SceneOptions,
} from "../layout/scene.ts";
import type { Direction } from "../layout/types.ts";
import type { OverlayMarks } from "../paint/painter.ts";
import { Palette } from "../paint/palette.ts";
import type { GraphPicture } from "../paint/picture.ts";

/** Data of a graph's figure beside the columns of the run; see `figures/request.py`. */
export interface GraphData {
  title: string;
  part: string;
  health: string;
  notes: Note[];
  /** Shown nodes, null for all; and connections through hidden ones. */
  only: number[] | null;
  bridges: Bridge[];
  /** -1 for none. */
  focus: number;
  selected: number[];
  outlined: number[];
  hits: number[];
  column: Omit<Wire, "data" | "terms"> | null;
  layouts: string[] | null;
  most: { boxes: number; bytes: number };
  whole: boolean;
  camera: { node: number; dx: number; dy: number; scale: number } | null;
  height: number;
}

export interface GraphTraits {
  color_by: string;
  color_limits: [low: number, high: number] | null;
  direction: Direction;
  fold_parameters: boolean;
  label: string;
  /** Null: no choice was made. */
  open_groups: number[] | null;
  grouped: boolean;
}

export type GraphRequest = FigureRequest<
  GraphData,
  GraphTraits,
  { graph: GraphColumns; health?: HealthAnswer }
>;

const { size: LARGE, small: SMALL } = tokens.font;
const MOST_LISTED = 2000;

/** Contents of one graph's figure, with its texts and colors. */
export class GraphSheet {
  readonly request: GraphRequest;
  readonly model: GraphModel;
  readonly health: NodeHealth | null;
  readonly words: BoxTexts;
  /** Flags of shown nodes; null for all. */
  readonly only: Uint8Array | null;
  readonly boxed: Int32Array;
  /** Limits of a scene's colors if none were chosen. */
  readonly limits = new WeakMap<GraphScene, readonly [low: number, high: number]>();
  #flat: GraphScene | null = null;
  readonly #coloring: Coloring;
  readonly #wires: Wires;
  readonly #kept = new Map<GraphScene, [light?: BoxColors, dark?: BoxColors]>();

  constructor(request: GraphRequest) {
    const { data, answers, options, text } = request;
    const { graph, health } = answers;
    this.request = request;
    const measure = {
      title: (words: string) => text.width(words, LARGE),
      small: (words: string) => text.width(words, SMALL),
    };
    this.model = new GraphModel(graph, null, measure);
    const { labels, links, times } = this.model;
    labels.layoutOf = (node) => data.layouts?.[node] ?? "";
    this.words = labels.labelled(options.label);
    this.health = health ? new NodeHealth(health, graph.kinds.length) : null;
    this.only = data.only && flags(graph.kinds.length, data.only);
    const shown = this.only ?? new Uint8Array(graph.kinds.length).fill(1);
    const folded = options.fold_parameters ? foldedParameters(links, shown) : null;
    this.boxed = Int32Array.from(shown.keys()).filter((node) => shown[node] && !folded?.[node]);
    this.#coloring = new Coloring(graph, times);
    this.#wires = wiresOf(request);
  }

  get colorBy(): string {
    return this.request.options.color_by;
  }

  get flat(): GraphScene {
    if (!this.#flat) {
      const { length } = this.model.graph.kinds;
      const isCut = this.only === null && length > MOST_LISTED;
      const only = new Uint8Array(length).fill(1, 0, MOST_LISTED);
      this.#flat = this.scene(isCut ? { only } : {});
    }
    return this.#flat;
  }

  scene(own: Partial<SceneOptions> = {}): GraphScene {
    const { data, options } = this.request;
    const { links, groups } = this.model;
    const { only, words } = this;
    const { fold_parameters: fold } = options;
    const { bridges } = data;
    return buildScene(links, { fold, groups, open: null, only, bridges, words, ...own });
  }

  colors(scene: GraphScene, theme: Theme): BoxColors {
    const kept = this.#kept.get(scene) ?? [];
    this.#kept.set(scene, kept);
    const at = Number(theme.dark);
    kept[at] ??= this.#coloring.colors(
      {
        name: this.colorBy,
        wires: this.#wires,
        limits: this.request.options.color_limits ?? this.limits.get(scene) ?? null,
      },
      scene,
      new Palette(theme),
      this.#coloring.health(this.health, scene),
    );
    return kept[at];
  }

  theme(dark: boolean): Theme {
    return figureTheme(dark, this.request.text.font);
  }

  picture(placed: PlacedScene, camera: Camera, theme: Theme): GraphPicture {
    const { graph, groups, times } = this.model;
    const { scene } = placed;
    return {
      graph,
      groups,
      times,
      placed,
      camera,
      palette: new Palette(theme),
      colorBy: this.colorBy,
      colors: this.colors(scene, theme),
      health: this.#coloring.health(this.health, scene),
      highlight: null,
      isStill: true,
    };
  }

  /** Marks of the selection and the hits; a node's own box has no hit count. */
  marks({ scene }: PlacedScene): OverlayMarks {
    const { focus, selected, outlined, hits } = this.request.data;
    const counts = new Map<number, number>();
    for (const node of hits) {
      for (const box of boxesOf(scene, node)) counts.set(box, (counts.get(box) ?? 0) + 1);
    }
    const boxes = (nodes: readonly number[]) => [
      ...new Set(nodes.flatMap((node) => Array.from(boxesOf(scene, node)).reverse())),
    ];
    return {
      selected: boxes([...(focus < 0 ? [] : [focus]), ...selected]),
      outlined: boxes(outlined),
      ...{ frame: -1, hovered: -1, hits: counts, noted: [] },
    };
  }
}

function wiresOf({ data, columns, options }: GraphRequest): Wires {
  if (!data.column) return {};
  const { rows, divisor, dividend } = columns;
  const wire: Wire = {
    ...data.column,
    data: view(rows),
    ...(divisor && { terms: [view(divisor), view(dividend)] }),
  };
  return { [options.color_by]: wire };
}

function view(column: unknown): DataView {
  const { buffer, byteOffset, byteLength } = column as Float64Array<ArrayBuffer>;
  return new DataView(buffer, byteOffset, byteLength);
}

function flags(count: number, nodes: readonly number[]): Uint8Array {
  const flags = new Uint8Array(count);
  for (const node of nodes) flags[node] = 1;
  return flags;
}
