import type { GraphState } from "../graph/options.ts";
import type { DebuggerOptions } from "../shared/client/options.ts";
import { div, element, onResize, splitter } from "../shell/dom.ts";
import type { ViewOptions } from "../shell/view.ts";
import { Away, passWheel } from "./focus.ts";

export const VIEWS = ["findings", "graph", "tensor", "timeline"] as const;
export type ViewName = (typeof VIEWS)[number];

export interface DebuggerState extends DebuggerOptions, GraphState {}

const CHROME = 46;
const NARROW = 760;
/** Sizes below which the findings leave their height to the views. */
const SMALL = { width: 900, height: 620 };
/** Least common height of the views, whatever is above them. */
const LEAST = 240;
/** Shares of the height for the findings: by default, and with evidence open. */
const FINDINGS = 1 / 8;
const FINDINGS_OPEN = 0.32;
const ROW = 23;
const LEAST_ROWS = 2;
const VIEWS_NARROW = 0.84;
/** Shares of the width for the graph, of the height for the upper row; and the flamechart's least height with the latter. */
const SHARES = { graph: 0.5, top: 0.66 };
const LEAST_TIMELINE = 178;
/** Least height of the upper row while evidence is open, where its height allows. */
const LEAST_TOP = 200;

/** Findings above, graph and tensor side by side, timeline below; the tour's text takes none of their height. */
export class Panels {
  readonly node = div("tvmdbg-grid");
  readonly above = div("tvmdbg-above");
  readonly of: Record<ViewName, HTMLElement>;
  readonly #root: HTMLElement;
  readonly #options: ViewOptions<DebuggerState>;
  readonly #heights: Record<ViewName, number> = { findings: 0, graph: 0, tensor: 0, timeline: 0 };
  readonly #listeners: (() => void)[] = [];
  readonly #sizes = { ...SHARES };
  #brief = false;
  readonly #folding: (() => void)[] = [];
  readonly #away: Away;
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
    this.#away = new Away(root, findings, [graph, tensor, timeline], () => this.arrange(), signal);
    for (const panel of [graph, tensor, timeline]) passWheel(panel, root, signal);
    for (const name of ["layout_sizes", "collapsed", "height"] as const) {
      options.onChange(name, () => this.arrange(), signal);
    }
    onResize([root, this.above], () => this.arrange(), signal);
  }

  /** True if the findings take one line, since another view has the focus. */
  get #isBrief(): boolean {
    return this.#away.value && this.#isSmall;
  }

  get #isSmall(): boolean {
    const { clientWidth: width } = this.#root;
    return (width > 0 && width < SMALL.width) || this.#options.get("height") < SMALL.height;
  }

  arrange(): void {
    const options = this.#options;
    const [share = SHARES.graph, upper_ = SHARES.top] = options.get("layout_sizes");
    this.#sizes.graph = within(share);
    this.#sizes.top = within(upper_);
    const height = options.get("height");
    const collapsed = new Set(options.get("collapsed"));
    const narrow = this.#root.clientWidth > 0 && this.#root.clientWidth < NARROW;
    const small = this.#isSmall;
    for (const name of VIEWS) this.of[name].hidden = collapsed.has(name);
    if (this.#brief !== this.#isBrief) {
      this.#brief = this.#isBrief;
      for (const listener of this.#folding) listener();
    }
    const findings = this.of.findings;
    const rows = small ? LEAST_ROWS : Math.max(LEAST_ROWS, Math.floor((height * FINDINGS) / ROW));
    const room = ROW * rows;
    findings.style.setProperty("--tvmdbg-findings-room", `${room}px`);
    const open = Math.max(room, Math.round(height * FINDINGS_OPEN));
    findings.style.setProperty("--tvmdbg-findings-open-room", `${open}px`);
    findings.classList.toggle("tvmdbg-findings-over", small);
    const upper = !collapsed.has("graph") || !collapsed.has("tensor");
    const both = !collapsed.has("graph") && !collapsed.has("tensor");
    this.#across.node.hidden = narrow || !both;
    this.#down.node.hidden = narrow || !upper || collapsed.has("timeline");
    this.node.classList.toggle("tvmdbg-narrow", narrow);
    const listed = this.#listed(room);
    findings.style.setProperty("--tvmdbg-findings-listed", `${listed}px`);
    const total = narrow
      ? Math.round(height * VIEWS_NARROW)
      : Math.max(LEAST, height - CHROME - listed);
    const heights = this.#heights;
    const top = collapsed.has("timeline") ? 1 : upper ? this.#sizes.top : 0;
    const least = top === SHARES.top ? LEAST_TIMELINE : 0;
    heights.timeline = narrow
      ? Math.round(total * 0.55)
      : Math.max(Math.min(least, total / 2), total - Math.round(total * top));
    // Evidence takes the height of graph and tensor alone: the flamechart stays at its place.
    const rest = total - heights.timeline;
    const taken = findings.offsetHeight - listed;
    heights.graph = narrow
      ? Math.round(total * 0.7)
      : Math.max(Math.min(rest, LEAST_TOP), rest - taken);
    heights.tensor = heights.graph;
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

  /** Height of the findings without evidence. */
  #listed(room: number): number {
    const { findings } = this.of;
    const open = findings.querySelector(":scope > .tvmdbg-findings-open");
    if (findings.hidden || !open) return findings.offsetHeight;
    const rows = open.classList.contains("tvmdbg-findings-waits")
      ? room
      : ROW * open.querySelectorAll("[role=treeitem]").length;
    return Math.min(room, rows) + 1;
  }

  optionsOf(name: ViewName): ViewOptions<DebuggerState> {
    const options = this.#options;
    const own = (trait: keyof DebuggerState) =>
      name === "tensor" && trait === "show" ? "tensor_show" : trait;
    return {
      get: (trait) => {
        if (trait === "height") return this.#heights[name] as never;
        const value = options.get(own(trait));
        return (trait === "findings_folded" ? value || this.#brief : value) as never;
      },
      set: (trait, value) => {
        if (trait === "height") return;
        if (trait === "findings_folded" && !value) this.#away.end();
        options.set(own(trait), value as never);
      },
      onChange: (trait, listener, signal) => {
        if (trait === "height") this.#listeners.push(listener);
        else options.onChange(own(trait), listener, signal);
        if (trait === "findings_folded") this.#folding.push(listener);
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
