import { mountGraph } from "../graph/mount.ts";
import type { RunSummary } from "../shared/client/answers.ts";
import { errorText } from "../shared/client/request.ts";
import {
  goToStep,
  type SessionClient,
  stepOf,
  type TourStep,
  tourOf,
} from "../shared/client/session_client.ts";
import * as icons from "../shared/drawing/icons.ts";
import { applyTheme } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { button, div, element, KEEP_KEYS, onResize, span } from "../shell/dom.ts";
import { runKey } from "../shell/keys.ts";
import { message } from "../shell/message.ts";
import { openPalette, PALETTE_KEY, PALETTE_LABEL } from "../shell/palette.ts";
import { barSpace, Toolbar, tool } from "../shell/toolbar.ts";
import {
  fullScreenButton,
  type Mount,
  toggleFullScreen,
  type ViewContext,
  type ViewOptions,
  withFullScreen,
} from "../shell/view.ts";
import { mountTensor } from "../tensor/mount.ts";
import { mountTimeline } from "../timeline/mount.ts";
import { FindingsHead } from "./finding_rows.ts";
import { mountFindings } from "./findings_panel.ts";
import { type DebuggerState, Panels, VIEWS, type ViewName } from "./panels.ts";

const NODES_SHOWN = 8;

function issuesPanel(summary: RunSummary, onNode: (node: number) => void): HTMLElement {
  const rows = summary.issues.map(({ severity, rule, message, nodes }) =>
    element(
      "li",
      { class: `tvmdbg-issue tvmdbg-anywhere tvmdbg-${severity === "note" ? "muted" : severity}` },
      element("strong", {}, severity),
      ` ${message} `,
      element("code", {}, rule),
      ...nodes
        .slice(0, NODES_SHOWN)
        .map((node) => button(`#${node}`, `Go to node #${node}`, () => onNode(node))),
      nodes.length > NODES_SHOWN ? ` and ${nodes.length - NODES_SHOWN} more` : null,
    ),
  );
  const [format = "", ...evidence] = summary.provenance;
  return element(
    "div",
    {},
    rows.length
      ? element("ul", { "aria-label": "Issues" }, ...rows)
      : element("p", {}, "No issues."),
    element("p", {}, `Source: ${format}`),
    element("ul", {}, ...evidence.map((fact) => element("li", { class: "tvmdbg-muted" }, fact))),
  );
}

const KEYS: Record<string, number> = { ArrowRight: 1, n: 1, ArrowLeft: -1, p: -1 };
const SCROLL = 40;

function tourBar(
  root: HTMLElement,
  session: SessionClient,
  onStep: (view: TourStep["view"]) => void,
  signal: AbortSignal,
): { node: HTMLElement; toggle: HTMLButtonElement } {
  const prose = element("div", { class: "tvmdbg-tour-prose", "aria-live": "polite" });
  const place = span("tvmdbg-tour-place tvmdbg-nowrap");
  const go = (by: number) => {
    const step = (stepOf(session) ?? 0) + by;
    if (step >= 0 && step < tourOf(session).length) goToStep(session, step);
  };
  const back = button("‹ back", "Previous step (← or p)", () => go(-1));
  const next = button("next ›", "Next step (→ or n)", () => go(1));
  const close = button("close", "Close the tour (Esc)", () => leave());
  const node = element(
    "section",
    {
      class: "tvmdbg-tour tvmdbg-wrap tvmdbg-line-below",
      role: "group",
      tabindex: 0,
      "aria-roledescription": "tour",
      "aria-label": "Tour: arrow keys right and left, or n and p, go through its steps",
      hidden: true,
      ...KEEP_KEYS,
    },
    prose,
    div(
      "tvmdbg-row tvmdbg-wrap tvmdbg-gap-4",
      place,
      back,
      next,
      close,
      span("tvmdbg-muted tvmdbg-nowrap tvmdbg-tour-keys", "keys: ← → or p n, Esc"),
    ),
  );
  let left = 0;
  const leave = () => {
    left = stepOf(session) ?? 0;
    goToStep(session, null);
    toggle.focus();
  };
  const toggle = button("tour", "Show or hide the tour", () => {
    if (stepOf(session) !== null) leave();
    else {
      goToStep(session, Math.min(left, tourOf(session).length - 1));
      node.focus({ preventScroll: true });
    }
  });
  const show = () => {
    const [tour, tourStep] = [tourOf(session), stepOf(session)];
    const step = tourStep === null ? null : tour[tourStep]!;
    const focused = node.contains(document.activeElement);
    toggle.hidden = tour.length === 0;
    toggle.setAttribute("aria-pressed", String(step !== null));
    node.hidden = step === null;
    if (step) root.tabIndex = -1;
    else root.removeAttribute("tabindex");
    onStep(step?.view ?? null);
    if (!step) return;
    prose.replaceChildren(...paragraphs(step.text).map((text) => element("p", {}, text)));
    prose.scrollTop = 0;
    place.textContent = `step ${tourStep! + 1} / ${tour.length}`;
    // A disabled button would lose the focus, and the keys with it.
    back.ariaDisabled = String(tourStep === 0);
    next.ariaDisabled = String(tourStep === tour.length - 1);
    if (focused && !node.contains(document.activeElement)) node.focus({ preventScroll: true });
  };
  const key = (event: KeyboardEvent) => {
    const inside = node.contains(event.target as Node) || event.target === root;
    if (!inside || node.hidden || event.ctrlKey || event.altKey || event.metaKey) return;
    const by = KEYS[event.key];
    if (by !== undefined) go(by);
    else if (event.key === "Escape") leave();
    else if (event.key === "ArrowDown") prose.scrollBy(0, SCROLL);
    else if (event.key === "ArrowUp") prose.scrollBy(0, -SCROLL);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  root.addEventListener("keydown", key, { signal });
  session.onChange(show, signal, ["tour", "tour_step"]);
  show();
  return { node, toggle };
}

export function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

const TITLES: Record<ViewName, string> = {
  findings: "Findings",
  graph: "Graph",
  tensor: "Tensor",
  timeline: "Flamechart",
};

const WHOLE_KEY = "Shift+D";
/** With Alt: back to the previous selection, from anywhere in the debugger. */
const JOURNEY = new Set(["ArrowLeft", "ArrowRight"]);

const MOUNTS: Record<Exclude<ViewName, "findings">, Mount<never>> = {
  graph: (root, context) => mountGraph(root, { ...context, isBeside: true }),
  tensor: mountTensor as Mount<never>,
  timeline: mountTimeline as Mount<never>,
};

export const mountDebugger: Mount<DebuggerState> = async (root, context) => {
  const { run, session, options, signal } = context;
  root.classList.add("tvmdbg-debugger");
  for (const [name, value] of Object.entries(KEEP_KEYS)) root.setAttribute(name, value);
  const issues = element("div", { class: "tvmdbg-issues", hidden: true });
  const panels = new Panels(root, options, signal);
  const isShown = (name: ViewName) => !options.get("collapsed").includes(name);
  const collapse = (name: ViewName, isCollapsed: boolean) => {
    const others = options.get("collapsed").filter((view) => view !== name);
    options.set("collapsed", isCollapsed ? [...others, name] : others);
  };
  const views = {
    label: "Views",
    tools: VIEWS.map((name) => {
      const toggle = () => collapse(name, isShown(name));
      const does = `Show or hide the ${TITLES[name]} view`;
      return tool([], TITLES[name], does, toggle, { isOn: () => isShown(name) });
    }),
  };
  const spotlight = (view: TourStep["view"]) => {
    for (const name of VIEWS) panels.of[name].classList.toggle("tvmdbg-spotlit", name === view);
    if (view !== null) collapse(view, false);
  };
  const tour = tourBar(root, session, spotlight, signal);
  panels.above.prepend(tour.node);

  const title = span("tvmdbg-title tvmdbg-clip", "…");
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
  const head = new FindingsHead();
  const search = tool([PALETTE_KEY], "go to", PALETTE_LABEL, () => openPalette(root, context), {
    icon: icons.SEARCH,
    opensMenu: true,
  });
  const bar = new Toolbar(
    root,
    "debugger",
    [title, status, ...head.items, barSpace(), tour.toggle, search, views],
    { sometimes: [head.progress, head.tools, views, status, head.stop] },
    signal,
    [fullScreenButton(root, WHOLE_KEY)],
  );
  root.append(bar.node, issues, panels.above, panels.node);
  const controls = [title, status, head.counts, head.progress, head.stop];
  onResize(controls, () => bar.refresh(), signal);
  session.onChange(() => bar.refresh(), signal, ["tour"]);
  root.addEventListener("keydown", (event) => byKey(event, context), { signal, capture: true });
  options.onChange("collapsed", () => bar.refresh(), signal);
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
    showSummary(await run.ask("summary"), title, status, issues, context);
  } catch (error) {
    if (!signal.aborted)
      issues.append(message("error", "The run could not be read", errorText(error)));
    issues.hidden = false;
  }
  await Promise.all(ready);
};

/** Keys of the debugger that its views do not use. */
function byKey(event: KeyboardEvent, context: ViewContext<DebuggerState>): void {
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
  context: ViewContext<DebuggerState>,
): void {
  title.textContent = summary.title;
  title.title = summary.provenance.join("\n");
  const count = (severity: string) =>
    summary.issues.filter((issue) => issue.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const counts = (["error", "warning", "note"] as const)
    .filter((severity) => count(severity) > 0)
    .map((severity) => counted(count(severity), severity));
  const grave = errors ? "error" : warnings ? "warning" : "muted";
  status.className = `tvmdbg-status tvmdbg-${grave}`;
  status.textContent = `${summary.provenance[0] ?? ""} · ${counts.join(", ") || "no issues"}`;
  issues.append(issuesPanel(summary, (node) => context.session.select(node, "issues")));
}
