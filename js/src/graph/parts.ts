import type { Mirror } from "../shell/dom.ts";
import type { Tooltip } from "../shell/tooltip.ts";
import type { ViewContext, ViewOptions } from "../shell/view.ts";
import type { GivenColumns } from "./data/coloring.ts";
import type { Hits } from "./data/hits.ts";
import type { Isolation } from "./data/links.ts";
import type { GraphModel } from "./data/model.ts";
import type { Walk } from "./data/walk.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";
import type { Direction } from "./layout/types.ts";
import type { GraphState } from "./options.ts";
import type { Palette } from "./paint/palette.ts";
import type { GraphStage } from "./stage.ts";

/** Source of what this view writes to the session. */
export const SOURCE = "graph";
const HEIGHT = 420;

/** The traits of the view, checked. */
export class ChosenOptions {
  readonly #options: ViewOptions<GraphState>;

  constructor(options: ViewOptions<GraphState>) {
    this.#options = options;
  }

  get colorBy(): string {
    return this.#options.get("color_by") || "kind";
  }

  get label(): string {
    return this.#options.get("label") ?? "";
  }

  get offered(): GraphState["_color_columns"] {
    return this.#options.get("_color_columns") ?? {};
  }

  /** Limits of the colors; null for the full range. */
  get colorLimits(): readonly [low: number, high: number] | null {
    const limits = this.#options.get("color_limits");
    return limits && limits[0] < limits[1] ? limits : null;
  }

  colorWith(name: string): void {
    if (name !== this.colorBy) this.#options.set("color_limits", null);
    this.#options.set("color_by", name);
  }

  get direction(): Direction {
    return this.#options.get("direction") === "right" ? "right" : "down";
  }

  get fold(): boolean {
    return this.#options.get("fold_parameters") !== false;
  }

  get focus(): string | number | null {
    return this.#options.get("focus") ?? null;
  }

  get hops(): number | null {
    return this.#options.get("hops") ?? null;
  }

  get isolation(): Isolation | null {
    return this.#options.get("isolate") ?? null;
  }

  get hidden(): readonly string[] {
    return this.#options.get("hidden") ?? [];
  }

  get grouped(): boolean {
    return this.#options.get("grouped") !== false;
  }

  get openGroups(): readonly number[] | null {
    return this.#options.get("open_groups") ?? null;
  }

  get wrapped(): boolean | null {
    return this.#options.get("wrapped") ?? null;
  }

  get group(): number | null {
    return this.#options.get("group") ?? null;
  }

  get query(): string {
    return this.#options.get("search") ?? "";
  }

  get height(): number {
    const height = this.#options.get("height");
    return height > 0 ? height : HEIGHT;
  }

  cycleColors(names: readonly string[]): void {
    this.colorWith(names[(names.indexOf(this.colorBy) + 1) % names.length]!);
  }

  toggleFold(): void {
    this.#options.set("fold_parameters", !this.fold);
  }
}

export interface GraphContext extends ViewContext<GraphState> {
  /** Element before its tools. */
  title?: HTMLElement;
  /** True beside other views that show the same details: its own are closed at first. */
  isBeside?: boolean;
  /** Node to open on instead of the first fault or the slowest; -1 for the graph's beginning. */
  opensOn?: number;
  /** Columns to color by beside those of Python. */
  columns?: GivenColumns;
  /** Adjusts a layout to its neighbor. */
  place?: (placed: PlacedScene, view: GraphHost) => PlacedScene;
}

/** Menus below buttons of the toolbar. */
export type MenuName = "groups" | "shows" | "marks" | "saves";

/** Interface of a graph view to its own parts and panels. */
export interface GraphHost {
  readonly root: HTMLElement;
  readonly context: GraphContext;
  readonly chosen: ChosenOptions;
  readonly model: GraphModel;
  readonly hits: Hits;
  readonly stage: GraphStage;
  readonly mirror: Mirror;
  readonly tooltip: Tooltip;
  readonly palette: Palette;
  placed: PlacedScene | null;
  walk: Walk | null;
  walked: string;
  highlighted: string | null;
  detailsOpen: boolean;
  readonly node: number | null;
  readonly box: number;
  readonly isArranging: boolean;
  readonly isWrapped: boolean;
  readonly isUntouched: boolean;
  readonly toolbar: { show(): void };
  readonly details: { focus(): void };
  readonly code: { copy(): void; copyText(text: string, what: string): void };
  readonly appearance: {
    readonly names: string[];
    setOff(key: string | null): void;
    select(key: string): void;
  };
  readonly commands: {
    select(node: number | null, output?: number): void;
    nextHit(by: number): Promise<void>;
    nextOf(verdict: number): void;
    slowest(): void;
    focusNode(): void;
    all(): void;
    zoom(factor: number): void;
    copy(): void;
    wrap(on: boolean): void;
  };
  readonly folding: {
    readonly group: number;
    readonly around: number;
    readonly justDone: boolean;
    isOpen(group: number): boolean;
    placed(): number;
    goTo(node: number): void;
    show(group: number): void;
    select(group: number): void;
    toggle(group: number): void;
    find(query: string): void;
    enter(): boolean;
    setAll(open: boolean): void;
  };
  readonly menus: Record<MenuName, (control: HTMLElement) => void> & {
    actions(at?: { x: number; y: number }): void;
    tools(): HTMLElement;
  };
  readonly navigation: {
    readonly names: string[];
    can(by: number): boolean;
    go(by: number): void;
    step(kind: "walk" | "fit"): void;
    keep(name: string): void;
    recall(name: string): void;
    forget(name: string): void;
    settle(shown?: PlacedScene | null): boolean;
  };
  readonly navigator: {
    readonly isPart: boolean;
    banner(): string;
    say(text: string): void;
    toggle(query: string): void;
  };
  readonly placing: {
    anchor: number | null;
    goal: number | null;
    fits: boolean;
    lookAgain(): void;
  };
  selectNodes(nodes: readonly number[]): void;
  arrange(opens: boolean): Promise<void>;
  replace(placed: PlacedScene): void;
  repaint(place?: (() => void) | null): void;
  mark(): void;
  tell(isLate?: boolean): void;
  cancel(): boolean;
  highlight(opKind: string | null): void;
  showDetails(on?: boolean): void;
}

/** A part of a graph view, whose fields may be made with the view. */
export class GraphPart {
  constructor(protected readonly view: GraphHost) {}
}
