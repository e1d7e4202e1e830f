import type { GraphState } from "../graph/options.ts";
import type { DebuggerOptions } from "../shared/client/options.ts";
import { div, element, onResize, splitter } from "../shell/dom.ts";
import type { ViewOptions } from "../shell/view.ts";

export const VIEWS = ["findings", "graph", "tensor", "timeline"] as const;
export type ViewName = (typeof VIEWS)[number];

export interface DebuggerState extends DebuggerOptions, GraphState {}

const CHROME = 46;
const NARROW = 760;
/** Least common height of the views, whatever is above them. */
const LEAST = 240;
/** Shares of the height for the findings: by default, and with evidence open. */
const FINDINGS = 1 / 8;
const FINDINGS_OPEN = 0.32;
const ROW = 23;
const LEAST_ROWS = 2;
const VIEWS_NARROW = 0.84;

/** Findings above, graph and tensor side by side, timeline below; the tour's text takes none of their height. */
export class Panels {
  readonly node = div("tvmdbg-grid");
  readonly above = div("tvmdbg-above");
  readonly of: Record<ViewName, HTMLElement>;
  readonly #root: HTMLElement;
  readonly #options: ViewOptions<DebuggerState>;
  readonly #heights: Record<ViewName, number> = { findings: 0, graph: 0, tensor: 0, timeline: 0 };
  readonly #listeners: (() => void)[] = [];
  readonly #sizes = { graph: 0.5, top: 0.66 };
  readonly #across = splitter("Width of the graph", "vertical", (share) =>
    this.#resize("graph", share),
  );
  readonly #down = splitter("Height of the upper row", "horizontal", (share) =>
    this.#resize("top", share),
  );

  constructor(root: HTMLElement, options: ViewOptions<DebuggerState>, signal: AbortSignal) {
    this.#root = root;
    this.#options = options;
    const panel = (name: ViewName) =>
      element("div", { class: "tvmdbg-panel tvmdbg-relative tvmdbg-scrolls", "data-view": name });
    this.of = {
      findings: panel("findings"),
      graph: panel("graph"),
      tensor: panel("tensor"),
      timeline: panel("timeline"),
    };
    const { findings, graph, tensor, timeline } = this.of;
    this.above.append(findings);
    this.node.append(graph, this.#across.node, tensor, this.#down.node, timeline);
    for (const name of ["layout_sizes", "collapsed", "height"] as const) {
      options.onChange(name, () => this.arrange(), signal);
    }
    onResize([root, this.above], () => this.arrange(), signal);
  }

  arrange(): void {
    const options = this.#options;
    const [share, upper_] = options.get("layout_sizes");
    this.#sizes.graph = within(share ?? 0.5);
    this.#sizes.top = within(upper_ ?? 0.66);
    const height = options.get("height");
    const collapsed = new Set(options.get("collapsed"));
    const narrow = this.#root.clientWidth > 0 && this.#root.clientWidth < NARROW;
    for (const name of VIEWS) this.of[name].hidden = collapsed.has(name);
    const list = this.of.findings.style;
    const room = ROW * Math.max(LEAST_ROWS, Math.floor((height * FINDINGS) / ROW));
    list.setProperty("--tvmdbg-findings-room", `${room}px`);
    const open = Math.max(room, Math.round(height * FINDINGS_OPEN));
    list.setProperty("--tvmdbg-findings-open-room", `${open}px`);
    const upper = !collapsed.has("graph") || !collapsed.has("tensor");
    const both = !collapsed.has("graph") && !collapsed.has("tensor");
    this.#across.node.hidden = narrow || !both;
    this.#down.node.hidden = narrow || !upper || collapsed.has("timeline");
    this.node.classList.toggle("tvmdbg-narrow", narrow);
    const total = narrow
      ? Math.round(height * VIEWS_NARROW)
      : Math.max(LEAST, height - CHROME - this.of.findings.offsetHeight);
    const heights = this.#heights;
    const top = collapsed.has("timeline") ? 1 : upper ? this.#sizes.top : 0;
    heights.graph = narrow ? Math.round(total * 0.7) : Math.round(total * top);
    heights.tensor = heights.graph;
    heights.timeline = narrow ? Math.round(total * 0.55) : total - Math.round(total * top);
    for (const name of ["graph", "tensor", "timeline"] as const) {
      this.of[name].style.height = `${heights[name]}px`;
    }
    this.node.style.gridTemplateColumns = narrow
      ? "minmax(0, 1fr)"
      : both
        ? `minmax(0, ${this.#sizes.graph}fr) 6px minmax(0, ${1 - this.#sizes.graph}fr)`
        : "minmax(0, 1fr)";
    this.node.classList.toggle("tvmdbg-both", both && !narrow);
    this.#across.set(this.#sizes.graph);
    this.#down.set(this.#sizes.top);
    for (const listener of this.#listeners) listener();
  }

  optionsOf(name: ViewName): ViewOptions<DebuggerState> {
    const options = this.#options;
    const own = (trait: keyof DebuggerState) =>
      name === "tensor" && trait === "show" ? "tensor_show" : trait;
    return {
      get: (trait) => (trait === "height" ? this.#heights[name] : options.get(own(trait))) as never,
      set: (trait, value) => {
        if (trait !== "height") options.set(own(trait), value as never);
      },
      onChange: (trait, listener, signal) => {
        if (trait === "height") this.#listeners.push(listener);
        else options.onChange(own(trait), listener, signal);
      },
    };
  }

  #resize(which: "graph" | "top", share: number): void {
    const next = { ...this.#sizes, [which]: within(share) };
    this.#options.set("layout_sizes", [next.graph, next.top]);
  }
}

function within(share: number): number {
  return Math.min(0.85, Math.max(0.15, share));
}
