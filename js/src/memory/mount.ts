import { hinted, message } from "../shared/client/message.ts";
import { isAbort } from "../shared/client/request.ts";
import { onThemeChange } from "../shared/drawing/theme.ts";
import { paletteAction } from "../shared/palette/palette.ts";
import { element } from "../shared/ui/dom.ts";
import { fullScreenAction } from "../shared/ui/full_screen.ts";
import { bindKeys } from "../shared/ui/keys.ts";
import { Mirror } from "../shared/ui/mirror.ts";
import type { Mount, ViewContext } from "../shared/ui/view.ts";
import { actions } from "./actions.ts";
import type { MemoryOptions } from "./options.ts";
import { Plan } from "./plan.ts";
import { bindPointer } from "./pointer.ts";
import { MemoryView } from "./view.ts";

export type { MemoryOptions };

const BUSY_AFTER_MS = 150;
const LEAST_HEIGHT = 300;
/** Below this width facts stand below each other, and the view is higher by so much. */
const NARROW = 620;
const NARROW_MORE = 70;

/** The MemoryView: bytes live over the execution, and the entries that share each slot. */
export const mountMemory: Mount<MemoryOptions> = async (root, context) => {
  const { run, signal } = context;
  root.classList.add("tvmdbg-memory");
  root.setAttribute("role", "application");
  root.setAttribute("aria-roledescription", "memory plan");
  root.setAttribute(
    "aria-label",
    "Memory plan: live bytes per node, and which entries share a slot",
  );
  const say = (kind: "empty" | "error" | "busy", title: string, detail = "") => {
    root.replaceChildren(message(kind, title, detail));
    if (kind !== "busy") root.dataset.ready = "true";
  };
  const busy = setTimeout(() => say("busy", "Reading the memory plan …"), BUSY_AFTER_MS);
  signal.addEventListener("abort", () => clearTimeout(busy));
  try {
    const [columns, graph] = await Promise.all([run.memory(), run.graph()]);
    if (signal.aborted) return;
    clearTimeout(busy);
    if (!columns || !graph || "missing" in columns) {
      say("empty", "No memory plan", columns && "missing" in columns ? columns.missing : "");
      return;
    }
    if (!columns.slotBytes.length) {
      const none = "No entry of this graph has a usable storage_id.";
      say("empty", "No memory plan", [none, ...columns.info.said].join("\n"));
      return;
    }
    build(root, context, new Plan(columns, graph));
  } catch (error) {
    clearTimeout(busy);
    if (signal.aborted || isAbort(error)) return;
    const hint =
      "Run the cell again; if the kernel was restarted, run the notebook again from the top.";
    say("error", "The memory plan could not be read", hinted(error, hint));
  }
};

function build(root: HTMLElement, context: ViewContext<MemoryOptions>, plan: Plan): void {
  const { session, options, signal } = context;
  const mirror = new Mirror();
  const view = new MemoryView(root, context, plan, (text) => mirror.say(text));
  root.replaceChildren(
    view.bar.node,
    view.chart.stage,
    element("div", { class: "tvmdbg-memory-below" }, view.legend, view.details),
    view.tooltip.node,
    mirror.node,
  );
  const resize = () => {
    const narrow = root.clientWidth < NARROW;
    const height = Math.max(LEAST_HEIGHT, options.get("height")) + (narrow ? NARROW_MORE : 0);
    root.classList.toggle("tvmdbg-memory-narrow", narrow);
    root.style.setProperty("--height", `${height}px`);
    view.chart.changed();
  };
  resize();
  const observer = new ResizeObserver(resize);
  observer.observe(root);
  signal.addEventListener("abort", () => observer.disconnect());
  options.onChange("height", resize, signal);
  for (const trait of ["parameters", "color_by", "step_range"] as const) {
    options.onChange(trait, () => view.look(), signal);
  }
  bindPointer(root, view, signal);
  bindKeys(root, [...actions(view), paletteAction(root, context), fullScreenAction(root)], signal);
  session.onChange(() => view.sync(), signal, ["selected", "entry"]);
  session.onChange(() => view.syncHover(), signal, ["hovered"]);
  session.onChange(() => view.sync(true), signal, ["notes"]);
  onThemeChange(() => view.look(), signal);
  view.look();
  view.sync(true);
}
