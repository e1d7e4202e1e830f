import { Camera } from "../graph/camera.ts";
import type { Bounds } from "../graph/layout/types.ts";
import { mountGraph } from "../graph/mount.ts";
import type { GraphState } from "../graph/options.ts";
import type { GraphView } from "../graph/view.ts";
import type { Client } from "../shared/client/client.ts";
import type { ComparisonOptions } from "../shared/client/options.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import { applyTheme } from "../shared/drawing/theme.ts";
import { div, element } from "../shell/dom.ts";
import { type ViewOptions, withFullScreen } from "../shell/view.ts";
import type { RowAligner } from "./align.ts";
import { type ComparisonData, colorColumns, LETTER, namesApart, OTHER, type Side } from "./data.ts";

export type { ComparisonOptions };

const SHARED = ["color_by", "fold_parameters", "direction", "grouped"] as const;
type SharedOption = (typeof SHARED)[number];

/** Options of a graph in a comparison: some are the comparison's, the rest are its own while it exists. */
export function graphOptions(options: ViewOptions<ComparisonOptions>): ViewOptions<GraphState> {
  const values: Partial<GraphState> = {
    focus: null,
    hops: null,
    color_limits: null,
    label: "",
    search: "",
    isolate: null,
    hidden: [],
    open_groups: null,
    wrapped: false,
    group: null,
  };
  const listeners = new EventTarget();
  const shared = (name: string): name is SharedOption => SHARED.includes(name as SharedOption);
  return {
    get: (name) => (shared(name) ? options.get(name) : values[name]) as never,
    set: (name, value) => {
      if (shared(name)) {
        options.set(name, value as never);
      } else if (JSON.stringify(values[name]) !== JSON.stringify(value)) {
        values[name] = value;
        listeners.dispatchEvent(new Event(name));
      }
    },
    onChange: (name, listener, signal) => {
      if (shared(name)) options.onChange(name, listener, signal);
      else listeners.addEventListener(name, () => listener(true), { signal });
    },
  };
}

export interface PaneContext {
  data: ComparisonData;
  run: Client;
  session: SessionClient;
  options: ViewOptions<ComparisonOptions>;
  follow: CameraLink;
  aligner: RowAligner;
  signal: AbortSignal;
}

export class GraphPane {
  readonly node: HTMLElement;
  readonly root = element("div");
  readonly #side: Side;
  readonly #context: PaneContext;
  #isDrawn = false;

  constructor(side: Side, context: PaneContext) {
    this.#side = side;
    this.#context = context;
    const { signal } = context;
    this.node = div("tvmdbg-comparison-pane tvmdbg-column tvmdbg-fill", this.root);
    this.node.dataset.side = LETTER[side].toLowerCase();
    for (const type of ["pointerdown", "wheel", "keydown"] as const) {
      const lead = () => {
        context.follow.leader = side;
      };
      this.root.addEventListener(type, lead, { signal, capture: true, passive: true });
    }
    this.root.addEventListener(
      "tvmdbg:drawn",
      (event) => {
        const view = (event as CustomEvent<GraphView>).detail;
        // Two graphs leave no room for details, unless the user opens them.
        if (!this.#isDrawn) view.showDetails(false);
        this.#isDrawn = true;
        context.follow.drawn(side, view);
      },
      { signal },
    );
  }

  async mount(): Promise<void> {
    const { data, run, session, options, aligner, signal } = this.#context;
    applyTheme(this.root, signal);
    const title = data.info.titles[this.#side];
    await mountGraph(this.root, {
      run,
      session,
      title: element(
        "span",
        { class: "tvmdbg-title tvmdbg-comparison-title tvmdbg-clip", title },
        element("strong", {}, LETTER[this.#side]),
        ` ${namesApart(data.info.titles)[this.#side]}`,
      ),
      isBeside: true,
      opensOn: data.answer(this.#side),
      columns: colorColumns(data, this.#side),
      place: (placed, view) => aligner.place(this.#side, placed, view),
      options: withFullScreen(this.root, graphOptions(options), signal),
      signal,
    });
    const bar = this.root.querySelector(":scope > .tvmdbg-bar");
    bar?.setAttribute("aria-label", `graph ${LETTER[this.#side]}`);
    this.root.setAttribute(
      "aria-label",
      `Graph ${LETTER[this.#side]}, ${data.info.titles[this.#side]}: arrow keys walk along edges, ? lists all keys`,
    );
  }
}

const STILL = 0.5;

/** Moves one graph with the other so that matching nodes stay side by side. */
export class CameraLink {
  leader: Side = 0;
  readonly #data: ComparisonData;
  readonly #options: ViewOptions<ComparisonOptions>;
  readonly #views: [GraphView | null, GraphView | null] = [null, null];

  constructor(data: ComparisonData, options: ViewOptions<ComparisonOptions>) {
    this.#data = data;
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.get("linked") !== false;
  }

  view(side: Side): GraphView | null {
    return this.#views[side];
  }

  drawn(side: Side, view: GraphView): void {
    const isFirst = this.#views[side] === null;
    this.#views[side] = view;
    const lead = this.#views[this.leader];
    if (this.isOn && lead && !lead.stage.isMoved) this.#level();
    if (isFirst || side === this.leader) this.follow();
  }

  /** Shows both at the scale of the one with less room. */
  #level(): void {
    const [lead, other] = [this.#views[this.leader], this.#views[OTHER[this.leader]]];
    if (!lead?.placed || !other?.placed) return;
    const { camera } = lead.stage;
    const factor = other.stage.camera.scale / camera.scale;
    if (factor >= 1) return;
    const target = Object.assign(new Camera(), camera);
    target.zoomAt(factor, camera.width / 2, lead.stage.showsAll ? camera.height / 2 : 0);
    lead.stage.along(target);
  }

  follow(): void {
    const lead = this.#views[this.leader];
    const other = this.#views[OTHER[this.leader]];
    if (!this.isOn || !lead?.placed || !other?.placed) return;
    const pair = this.#anchor(lead);
    if (!pair) return;
    const [box, to] = [lead.placed.boxOf(pair[0]), other.placed.boxOf(pair[1])];
    const [camera, moved] = [lead.stage.camera, other.stage.camera];
    if (box < 0 || to < 0 || moved.width <= 1) return;
    const { scale } = camera;
    const [{ x, y }, there] = [lead.placed.layout, other.placed.layout];
    const right = there.x[to]! - (x[box]! - camera.x);
    const down = there.y[to]! - (y[box]! - camera.y);
    const target = Object.assign(new Camera(), moved, { x: right, y: down, scale });
    target.clamp(there.bounds);
    const away = Math.hypot(target.x - moved.x, target.y - moved.y) * scale;
    if (away < STILL && Math.abs(moved.scale / scale - 1) < 1e-6) return;
    other.stage.along(target);
  }

  /** Anchor of both graphs: the selected node if visible, else the one nearest to the fixed point. */
  #anchor(lead: GraphView): [node: number, partner: number] | null {
    const { camera } = lead.stage;
    const placed = lead.placed!;
    const { node } = lead;
    const box = node === null ? -1 : placed.boxOf(node);
    const seen = box >= 0 && camera.shows(placed.rectangle(box), 0);
    const { x, y } = held(camera, placed.layout);
    for (const candidate of [seen ? node : null, placed.nearest(x, y)]) {
      const partner = candidate === null ? null : this.#data.partner(this.leader, candidate);
      if (candidate !== null && partner !== null) return [candidate, partner];
    }
    return null;
  }
}

/** The fixed point, as far down the stage as the stage is down the graph: graphs of any lengths end together. */
function held(
  camera: Camera,
  { bounds, direction }: { bounds: Bounds; direction: "down" | "right" },
): { x: number; y: number } {
  const { minX, minY, maxX, maxY } = camera.view();
  const right = direction === "right";
  return {
    x: along(minX, maxX, bounds.minX, bounds.maxX, right ? bounds.minX : camera.x),
    y: along(minY, maxY, bounds.minY, bounds.maxY, right ? camera.y : bounds.minY),
  };
}

function along(from: number, to: number, low: number, high: number, whole: number): number {
  const hidden = high - low - (to - from);
  if (hidden <= 0) return whole;
  return from + (to - from) * Math.max(0, Math.min(1, (from - low) / hidden));
}
