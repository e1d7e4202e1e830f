import { type GraphOptions, mountGraph } from "../graph/mount.ts";
import { button, element, KEEP_KEYS } from "../shared/dom.ts";
import { counted } from "../shared/format.ts";
import { errorText, message } from "../shared/message.ts";
import type { RunSummary } from "../shared/run_client.ts";
import { applyTheme } from "../shared/theme.ts";
import type { Mount, ViewContext, ViewOptions } from "../shared/view.ts";
import { mountTensor, type TensorOptions } from "../tensor/mount.ts";
import { mountTimeline, type TimelineOptions } from "../timeline/mount.ts";
import { issuesPanel } from "./issues.ts";
import { splitter } from "./splitter.ts";

const VIEWS = ["graph", "tensor", "timeline"] as const;
type ViewName = (typeof VIEWS)[number];
const TITLES: Record<ViewName, string> = {
  graph: "Graph",
  tensor: "Tensor",
  timeline: "Flamechart",
};

export interface DebuggerOptions extends GraphOptions, TensorOptions, TimelineOptions {
  height: number;
  layout_sizes: number[];
  collapsed: ViewName[];
}

/** Room that the debugger's own bars and the frames of its views take, in CSS pixels. */
const CHROME = 46;
const NARROW = 760;

/** The three views of a run, linked: graph and tensor side by side, the timeline below. */
export const mountDebugger: Mount<DebuggerOptions> = async (root, context) => {
  const { run, options, signal } = context;
  root.classList.add("tvmdbg-debugger");
  const panel = (name: ViewName) => element("div", { class: "tvmdbg-panel", "data-view": name });
  const panels: Record<ViewName, HTMLElement> = {
    graph: panel("graph"),
    tensor: panel("tensor"),
    timeline: panel("timeline"),
  };
  const bar = element("div", { class: "tvmdbg-bar", role: "toolbar", "aria-label": "Run" });
  const issues = element("div", { class: "tvmdbg-issues", hidden: true });
  const grid = element("div", { class: "tvmdbg-grid" });
  root.append(bar, issues, grid);

  const sizes = { graph: 0.5, top: 0.6 };
  const readSizes = () => {
    const [graph, top] = options.get("layout_sizes");
    sizes.graph = within(graph ?? 0.5);
    sizes.top = within(top ?? 0.6);
  };
  const across = splitter("Width of the graph", "vertical", (share) => resize("graph", share));
  const down = splitter("Height of the upper row", "horizontal", (share) => resize("top", share));
  grid.append(panels.graph, across.node, panels.tensor, down.node, panels.timeline);

  const arrange = () => {
    readSizes();
    const collapsed = new Set(options.get("collapsed"));
    const narrow = root.clientWidth > 0 && root.clientWidth < NARROW;
    for (const name of VIEWS) panels[name].hidden = collapsed.has(name);
    const upper = !collapsed.has("graph") || !collapsed.has("tensor");
    const both = !collapsed.has("graph") && !collapsed.has("tensor");
    across.node.hidden = narrow || !both;
    down.node.hidden = narrow || !upper || collapsed.has("timeline");
    grid.classList.toggle("tvmdbg-narrow", narrow);
    const total = options.get("height") - CHROME;
    const top = collapsed.has("timeline") ? 1 : upper ? sizes.top : 0;
    heights.graph = narrow ? Math.round(total * 0.7) : Math.round(total * top);
    heights.tensor = heights.graph;
    heights.timeline = narrow ? Math.round(total * 0.55) : total - Math.round(total * top);
    for (const name of VIEWS) panels[name].style.height = `${heights[name]}px`;
    grid.style.gridTemplateColumns = narrow
      ? "minmax(0, 1fr)"
      : both
        ? `minmax(0, ${sizes.graph}fr) 6px minmax(0, ${1 - sizes.graph}fr)`
        : "minmax(0, 1fr)";
    grid.classList.toggle("tvmdbg-both", both && !narrow);
    across.set(sizes.graph);
    down.set(sizes.top);
    for (const listener of heightListeners) listener();
  };
  const resize = (which: keyof typeof sizes, share: number) => {
    const next = { ...sizes, [which]: within(share) };
    options.set("layout_sizes", [next.graph, next.top]);
    arrange();
  };

  const heights: Record<ViewName, number> = { graph: 0, tensor: 0, timeline: 0 };
  const heightListeners: (() => void)[] = [];
  const viewContext = (name: ViewName): ViewContext<never> => ({
    ...context,
    options: withHeight(options, () => heights[name], heightListeners) as ViewOptions<never>,
  });

  const toggles = VIEWS.map((name) => {
    const toggle = button(TITLES[name], `Show or hide the ${TITLES[name]} view`, () => {
      const collapsed = options.get("collapsed");
      const others = collapsed.filter((each) => each !== name);
      options.set("collapsed", others.length < collapsed.length ? others : [...collapsed, name]);
      arrange();
      showToggles();
    });
    return toggle;
  });
  const shown = element(
    "span",
    { class: "tvmdbg-shown", role: "group", "aria-label": "Views" },
    ...toggles,
  );
  const showToggles = () => {
    const collapsed = options.get("collapsed");
    VIEWS.forEach((name, i) => {
      toggles[i]!.setAttribute("aria-pressed", String(!collapsed.includes(name)));
    });
  };
  const title = element("span", { class: "tvmdbg-title" }, "…");
  const status = element("button", {
    type: "button",
    class: "tvmdbg-status",
    title: "Show or hide where the run comes from, and what disagrees in it",
    "aria-expanded": "false",
    ...KEEP_KEYS,
  });
  status.addEventListener("click", () => {
    issues.hidden = !issues.hidden;
    status.setAttribute("aria-expanded", String(!issues.hidden));
  });
  bar.append(title, status, element("span", { class: "tvmdbg-space" }), shown);
  showToggles();
  for (const name of ["layout_sizes", "collapsed", "height"] as const) {
    options.onChange(
      name,
      () => {
        arrange();
        showToggles();
      },
      signal,
    );
  }
  const observer = new ResizeObserver(() => arrange());
  observer.observe(root);
  signal.addEventListener("abort", () => observer.disconnect());
  arrange();

  const mounts: Record<ViewName, Mount<never>> = {
    graph: mountGraph as Mount<never>,
    tensor: mountTensor as Mount<never>,
    timeline: mountTimeline as Mount<never>,
  };
  const ready = VIEWS.map(async (name) => {
    const view = element("div", {});
    panels[name].append(view);
    applyTheme(view, signal);
    try {
      await mounts[name](view, viewContext(name));
    } catch (error) {
      if (signal.aborted) return;
      view.append(message("error", `The ${TITLES[name]} view failed`, errorText(error)));
    }
  });
  try {
    showSummary(await run.summary(), title, status, issues, context);
  } catch (error) {
    if (!signal.aborted)
      issues.append(message("error", "The run does not answer", errorText(error)));
    issues.hidden = false;
  }
  await Promise.all(ready);
};

function showSummary(
  summary: RunSummary,
  title: HTMLElement,
  status: HTMLElement,
  issues: HTMLElement,
  context: ViewContext<DebuggerOptions>,
): void {
  title.textContent = summary.title;
  title.title = summary.provenance.join("\n");
  const count = (severity: string) =>
    summary.issues.filter((each) => each.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const counts = (["error", "warning", "note"] as const)
    .filter((severity) => count(severity) > 0)
    .map((severity) => counted(count(severity), severity));
  const grave = errors ? "error" : warnings ? "warning" : "muted";
  status.className = `tvmdbg-status tvmdbg-${grave}`;
  status.textContent = `${summary.provenance[0] ?? ""} · ${counts.join(", ") || "nothing disagrees"}`;
  issues.append(issuesPanel(summary, (node) => context.session.select(node, "issues")));
}

function withHeight(
  options: ViewOptions<DebuggerOptions>,
  height: () => number,
  listeners: (() => void)[],
): ViewOptions<DebuggerOptions> {
  return {
    get: (name) => (name === "height" ? height() : options.get(name)) as never,
    set: (name, value) => {
      if (name !== "height") options.set(name, value);
    },
    onChange: (name, listener, signal) => {
      if (name === "height") listeners.push(listener);
      else options.onChange(name, listener, signal);
    },
  };
}

function within(share: number): number {
  return Math.min(0.85, Math.max(0.15, share));
}
