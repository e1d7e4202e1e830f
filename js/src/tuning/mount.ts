import { hinted, message } from "../shared/client/message.ts";
import { isAbort } from "../shared/client/request.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import { onThemeChange } from "../shared/drawing/theme.ts";
import { paletteAction } from "../shared/palette/palette.ts";
import { element } from "../shared/ui/dom.ts";
import { fullScreenAction } from "../shared/ui/full_screen.ts";
import { bindKeys } from "../shared/ui/keys.ts";
import { Mirror } from "../shared/ui/mirror.ts";
import { actions } from "./actions.ts";
import { bindPointer } from "./chart/pointer.ts";
import type { TuningData } from "./data/data.ts";
import { headline } from "./data/descriptions.ts";
import { linkSession } from "./link.ts";
import { refusedText } from "./panes/findings_pane.ts";
import { splits } from "./splits.ts";
import { type TuningContext, TuningView } from "./view.ts";

const BUSY_AFTER_MS = 150;
/** Below this width the parts stand below each other. */
const NARROW = 760;
const TRAITS = ["task", "trial", "along", "trial_range", "query", "pane", "sort"] as const;

/** The TuningView: costs over trials, the tasks, and the schedule of a trial. */
export async function mountTuning(
  root: HTMLElement,
  context: TuningContext,
  session: SessionClient | null,
): Promise<void> {
  const { client, signal } = context;
  root.classList.add("tvmdbg-tuning");
  root.setAttribute("role", "application");
  root.setAttribute("aria-roledescription", "tuning log");
  root.setAttribute("aria-label", "Tuning log: costs of trials, tasks, and schedules");
  const say = (kind: "empty" | "error" | "busy", title: string, detail = "") => {
    root.replaceChildren(message(kind, title, detail));
    if (kind !== "busy") root.dataset.ready = "true";
  };
  const busy = setTimeout(() => say("busy", "Reading the tuning log …"), BUSY_AFTER_MS);
  signal.addEventListener("abort", () => clearTimeout(busy));
  try {
    const data = await client.data();
    clearTimeout(busy);
    if (signal.aborted) return;
    const show = build(root, context, data, session);
    show(data);
    root.dataset.ready = "true";
    client.onGrown(() => void client.data().then((grown) => signal.aborted || show(grown)));
  } catch (error) {
    clearTimeout(busy);
    if (signal.aborted || isAbort(error)) return;
    const hint =
      "Run the cell again; if the kernel was restarted, run the notebook again from the top.";
    say("error", "The tuning log could not be read", hinted(error, hint));
  }
}

/** Builds the view; returns what shows a log in it. */
function build(
  root: HTMLElement,
  context: TuningContext,
  data: TuningData,
  session: SessionClient | null,
): (data: TuningData) => void {
  const { options, signal } = context;
  const mirror = new Mirror();
  const view = new TuningView(root, context, data, (text) => mirror.say(text));
  const head = element("div", { class: "tvmdbg-tuning-head" });
  const { across, down } = splits(root);
  root.replaceChildren(
    view.bar.node,
    head,
    element("div", { class: "tvmdbg-tuning-above" }, view.chart.stage, across, view.table.node),
    down,
    view.panes.node,
    view.tooltip.node,
    mirror.node,
  );
  const resize = () => {
    root.classList.toggle("tvmdbg-tuning-narrow", root.clientWidth < NARROW);
    root.style.setProperty("--height", `${options.get("height")}px`);
    view.chart.changed();
  };
  resize();
  const observer = new ResizeObserver(resize);
  observer.observe(root);
  signal.addEventListener("abort", () => observer.disconnect());
  options.onChange("height", resize, signal);
  for (const trait of TRAITS) options.onChange(trait, () => view.look(), signal);
  bindPointer(root, view, signal);
  bindKeys(root, [...actions(view), paletteAction(root), fullScreenAction(root)], signal);
  onThemeChange(() => view.showTheme(), signal);
  for (const part of [view.panes.node, view.table.node, head]) {
    part.addEventListener("keydown", ({ key }) => key === "Escape" && view.focus());
  }
  if (session) linkSession(view, session, options, signal);
  return (shown) => {
    view.showLog(shown);
    const findings = () => view.showPane("findings");
    head.replaceChildren(...headOf(shown, view.legend.node, findings));
  };
}

/** What the log says of itself, the gravest finding, and how much of it could not be read. */
function headOf(data: TuningData, legend: HTMLElement, show: () => void): HTMLElement[] {
  const { info } = data;
  const parts = [
    element("strong", {}, info.title),
    element("span", { title: info.about.join("\n") }, headline(data)),
    legend,
  ];
  const [first] = info.findings;
  if (first && first.severity !== "info") {
    const more = info.findings.length - 1;
    const button = element(
      "button",
      { type: "button", class: `tvmdbg-tuning-top tvmdbg-finding-${first.severity}` },
      element("i", { class: `tvmdbg-icon tvmdbg-icon-${first.severity}`, "aria-hidden": "true" }),
      first.title,
      more ? element("span", { class: "tvmdbg-muted" }, ` and ${more} more`) : null,
    );
    button.addEventListener("click", show);
    parts.push(button);
  }
  if (info.refused) {
    parts.push(element("span", { class: "tvmdbg-error" }, refusedText(info.refused)));
  }
  return parts;
}
