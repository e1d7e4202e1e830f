import { FindingsHead } from "../findings/head.ts";
import { mountFindings } from "../findings/mount.ts";
import { mountGraph } from "../graph/mount.ts";
import { errorText, message } from "../shared/client/message.ts";
import type { RunSummary } from "../shared/client/run_client.ts";
import type { TourStep } from "../shared/client/session_client.ts";
import * as icons from "../shared/drawing/icons.ts";
import { applyTheme } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { PALETTE_KEY } from "../shared/palette/commands.ts";
import { openPalette, PALETTE_LABEL } from "../shared/palette/palette.ts";
import { button, element, iconButton, KEEP_KEYS } from "../shared/ui/dom.ts";
import { fullScreenButton, toggleFullScreen, withFullScreen } from "../shared/ui/full_screen.ts";
import { runKey } from "../shared/ui/keys.ts";
import { Overflow } from "../shared/ui/overflow.ts";
import type { Mount, ViewContext } from "../shared/ui/view.ts";
import type { ViewOptions } from "../shared/ui/view_options.ts";
import { mountTensor } from "../tensor/mount.ts";
import { mountTimeline } from "../timeline/mount.ts";
import { issuesPanel } from "./issues.ts";
import { type DebuggerOptions, VIEWS, type ViewName } from "./options.ts";
import { Panels } from "./panels.ts";
import { tourBar } from "./tour.ts";

export type { DebuggerOptions };

const TITLES: Record<ViewName, string> = {
  findings: "Findings",
  graph: "Graph",
  tensor: "Tensor",
  timeline: "Flamechart",
};

const WHOLE_KEY = "Shift+D";
/** With Alt: back to what was looked at before, wherever in the debugger one is. */
const JOURNEY = new Set(["ArrowLeft", "ArrowRight"]);

const MOUNTS: Record<Exclude<ViewName, "findings">, Mount<never>> = {
  graph: (root, context) => mountGraph(root, { ...context, isBeside: true }),
  tensor: mountTensor as Mount<never>,
  timeline: mountTimeline as Mount<never>,
};

/** What was found in a run, and its three views, linked. */
export const mountDebugger: Mount<DebuggerOptions> = async (root, context) => {
  const { run, session, options, signal } = context;
  root.classList.add("tvmdbg-debugger");
  for (const [name, value] of Object.entries(KEEP_KEYS)) root.setAttribute(name, value);
  const bar = element("div", { class: "tvmdbg-bar", role: "toolbar", "aria-label": "debugger" });
  const issues = element("div", { class: "tvmdbg-issues", hidden: true });
  const panels = new Panels(root, options, signal);
  const toggles = VIEWS.map((name) =>
    button(TITLES[name], `Show or hide the ${TITLES[name]} view`, () => {
      const collapsed = options.get("collapsed");
      const others = collapsed.filter((each) => each !== name);
      options.set("collapsed", others.length < collapsed.length ? others : [...collapsed, name]);
      panels.arrange();
      showToggles();
    }),
  );
  const showToggles = () => {
    const collapsed = options.get("collapsed");
    VIEWS.forEach((name, i) => {
      toggles[i]!.setAttribute("aria-pressed", String(!collapsed.includes(name)));
    });
  };
  const spotlight = (view: TourStep["view"]) => {
    for (const name of VIEWS) {
      panels.of[name].classList.toggle("tvmdbg-spotlit", name === view);
    }
    const collapsed = options.get("collapsed");
    if (view === null || !collapsed.includes(view)) return;
    options.set(
      "collapsed",
      collapsed.filter((each) => each !== view),
    );
    panels.arrange();
    showToggles();
  };
  const tour = tourBar(root, session, spotlight, signal);
  panels.above.prepend(tour.node);
  root.append(bar, issues, panels.above, panels.node);

  const title = element("span", { class: "tvmdbg-title" }, "…");
  const status = element("button", {
    type: "button",
    class: "tvmdbg-status",
    title: "Show or hide source and issues of the run",
    "aria-expanded": "false",
    ...KEEP_KEYS,
  });
  status.addEventListener("click", () => {
    issues.hidden = !issues.hidden;
    status.setAttribute("aria-expanded", String(!issues.hidden));
  });
  const views = element(
    "span",
    { class: "tvmdbg-joined", role: "group", "aria-label": "Views" },
    ...toggles,
  );
  const head = new FindingsHead();
  bar.append(
    title,
    status,
    ...head.items,
    element("span", { class: "tvmdbg-space" }),
    tour.toggle,
    iconButton(icons.SEARCH, "go to", `${PALETTE_LABEL} (${PALETTE_KEY})`, () =>
      openPalette(root, context),
    ),
    views,
    fullScreenButton(root, WHOLE_KEY),
  );
  const sometimes = [head.progress, head.tools, views, status, head.stop];
  const overflow = new Overflow(bar, { always: [], sometimes }, signal);
  const size = new ResizeObserver(() => overflow.fit());
  for (const each of [title, status, head.counts, head.progress, head.stop]) size.observe(each);
  signal.addEventListener("abort", () => size.disconnect());
  session.onChange(() => overflow.fit(), signal, ["tour"]);
  root.addEventListener("keydown", (event) => byKey(event, context), { signal, capture: true });
  showToggles();
  options.onChange("collapsed", showToggles, signal);
  panels.arrange();

  const ready = VIEWS.map(async (name) => {
    const view = element("div", {});
    panels.of[name].append(view);
    applyTheme(view, signal);
    try {
      const options = withFullScreen(view, panels.optionsOf(name), signal);
      if (name === "findings") mountFindings(view, { ...context, options }, head);
      else await MOUNTS[name](view, { ...context, options: options as ViewOptions<never> });
    } catch (error) {
      if (signal.aborted) return;
      view.append(message("error", `The ${TITLES[name]} view failed`, errorText(error)));
    }
  });
  try {
    showSummary(await run.summary(), title, status, issues, context);
  } catch (error) {
    if (!signal.aborted)
      issues.append(message("error", "The run could not be read", errorText(error)));
    issues.hidden = false;
  }
  await Promise.all(ready);
};

/** The keys of the debugger that all of its views leave to it. */
function byKey(event: KeyboardEvent, context: ViewContext<DebuggerOptions>): void {
  const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
  const [root, target] = [event.currentTarget as HTMLElement, event.target as HTMLElement];
  if (target.closest(".tvmdbg-palette")) return;
  const isTyping = target.matches("input, select, textarea");
  const isHeld = ctrlKey || metaKey;
  if (altKey) {
    const graph = root.querySelector<HTMLElement>(".tvmdbg-graph");
    if (isTyping || !JOURNEY.has(key) || !graph || !runKey(graph, `Alt+${key}`)) return;
  } else if (isHeld && !shiftKey && key.toLowerCase() === "k") openPalette(root, context);
  else if (key === "D" && shiftKey && !isHeld && !isTyping) toggleFullScreen(root);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

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
  status.textContent = `${summary.provenance[0] ?? ""} · ${counts.join(", ") || "no issues"}`;
  issues.append(issuesPanel(summary, (node) => context.session.select(node, "issues")));
}
