import * as icons from "../shared/drawing/icons.ts";
import { COPY_KEY } from "./code_copy.ts";
import { button, changeIcon, element, iconButton, span } from "./dom.ts";
import { helpButton, type KeyAction, shownKey } from "./keys.ts";
import { Overflow } from "./overflow.ts";
import { fullScreenButton } from "./view.ts";

/** An action that a toolbar shows as a button. */
export interface Tool extends KeyAction {
  label: string;
  /** Icon, which may change with the state; without one the label is shown. */
  icon?: icons.Icon | (() => icons.Icon);
  /** True if pressed. */
  isOn?: () => boolean;
  /** True, or a reason, if it can do nothing now. */
  isOff?: () => string | boolean;
  isHidden?: () => boolean;
  /** True if it opens a menu, which takes the focus. */
  opensMenu?: boolean;
}

export function tool(
  keys: readonly string[],
  label: string,
  does: string,
  run: () => void,
  more: Partial<Tool> = {},
): Tool {
  return { keys, label, does, run, ...more };
}

/** Tools side by side, as one control. */
export interface ToolGroup {
  /** Name of choices; none for steps. */
  label?: string;
  tools: readonly Tool[];
}

export type ToolbarItem = Tool | ToolGroup | HTMLElement;

/** Items that move to the menu: always, or without room for them, the least needed first. */
export interface ToolbarMenu {
  always?: readonly ToolbarItem[];
  sometimes?: readonly ToolbarItem[];
}

const isTool = (item: ToolbarItem): item is Tool => "does" in item;

/** Toolbar of a view, made from its actions; keys and full screen are its last, as others may be. */
export class Toolbar {
  readonly node: HTMLElement;
  readonly #root: HTMLElement;
  readonly #tools: (readonly [tool: Tool, node: HTMLButtonElement])[] = [];
  readonly #icons = new Map<Tool, icons.Icon>();
  /** Null for a bar with room for all. */
  readonly #overflow: Overflow | null;

  constructor(
    root: HTMLElement,
    name: string,
    items: readonly ToolbarItem[],
    movable: ToolbarMenu | null,
    signal: AbortSignal,
    last = [helpButton(root), fullScreenButton(root)],
  ) {
    this.#root = root;
    const nodes = new Map(items.map((item) => [item, this.#made(item)]));
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": name },
      ...nodes.values(),
      ...last,
    );
    const of = (wanted: readonly ToolbarItem[]) => wanted.map((item) => nodes.get(item)!);
    const { always = [], sometimes = [] } = movable ?? {};
    const menu = { always: [...of(always), ...last.slice(0, -1)], sometimes: of(sometimes) };
    this.#overflow = movable && new Overflow(this.node, menu, signal);
    this.refresh();
  }

  /** Shows which tools are on, off or hidden, and keeps the bar to one row. */
  refresh(): void {
    for (const [tool, node] of this.#tools) {
      if (tool.isOn) node.setAttribute("aria-pressed", String(tool.isOn()));
      if (tool.isHidden) node.hidden = tool.isHidden();
      if (tool.isOff) {
        const why = tool.isOff();
        node.disabled = why !== false;
        node.title = typeof why === "string" ? `${titleOf(tool)}: ${why}` : titleOf(tool);
      }
      if (typeof tool.icon !== "function") continue;
      const icon = tool.icon();
      if (icon !== this.#icons.get(tool)) changeIcon(node, icon);
      this.#icons.set(tool, icon);
    }
    this.#overflow?.fit();
  }

  /** The button of a tool, below which its menu opens. */
  nodeOf(tool: Tool): HTMLButtonElement {
    return this.#tools.find(([known]) => known === tool)![1];
  }

  #made(item: ToolbarItem): HTMLElement {
    if (item instanceof HTMLElement) return item;
    if (isTool(item)) return this.#button(item);
    const { label, tools } = item;
    const group = { class: "tvmdbg-joined", role: label && "group", "aria-label": label };
    return element("span", group, ...tools.map((tool) => this.#button(tool)));
  }

  #button(tool: Tool): HTMLButtonElement {
    const { label, icon } = tool;
    const run = () => tool.run(new KeyboardEvent("keydown", { key: tool.keys[0] ?? "" }));
    const first = typeof icon === "function" ? icon() : icon;
    const node = first
      ? iconButton(first, label, titleOf(tool), run)
      : button(label, titleOf(tool), run);
    if (first) this.#icons.set(tool, first);
    // A pointer leaves the view focused; a keyboard stays on the button.
    if (tool.opensMenu) node.ariaHasPopup = "true";
    else {
      node.addEventListener("click", ({ detail }) => {
        if (detail > 0) this.#root.focus({ preventScroll: true });
      });
    }
    this.#tools.push([tool, node]);
    return node;
  }
}

const ZOOM = 1.5;

/** What the tools of every chart do. */
interface ChartCommands {
  /** A factor above 1 shows more. */
  zoom(factor: number): void;
  copy(): void;
}

interface ChartCamera {
  all(): void;
  isAll?(): boolean;
}

/** Zoom, fit and copy; `whole` and `subject` name what they fit and copy. */
export function chartTools(
  view: ChartCommands,
  camera: ChartCamera,
  whole: string,
  subject: string,
  keys = { in: ["w", "+", "="], out: ["s", "-"] },
): { zoom: ToolGroup; fit: Tool; copy: Tool; all: readonly Tool[] } {
  const zoomIn = tool(keys.in, "zoom in", "zoom in", () => view.zoom(1 / ZOOM), {
    icon: icons.ZOOM_IN,
  });
  const zoomOut = tool(keys.out, "zoom out", "zoom out", () => view.zoom(ZOOM), {
    icon: icons.ZOOM_OUT,
  });
  const fit = tool(["0"], "fit", `fit ${whole}`, () => camera.all(), {
    icon: icons.FIT,
    isOff: () => camera.isAll?.() ?? false,
  });
  const code = `Copy Python code for ${subject}`;
  const copy = tool([COPY_KEY], "copy Python code", code, () => view.copy(), { icon: icons.CODE });
  return { zoom: { tools: [zoomOut, zoomIn] }, fit, copy, all: [zoomIn, zoomOut, fit, copy] };
}

function titleOf({ does, keys }: KeyAction): string {
  return keys.length ? `${does} (${shownKey(keys[0]!)})` : does;
}

export function barTitle(text: string): HTMLElement {
  return span("tvmdbg-title", text);
}

/** Free space between the items on the left and on the right. */
export function barSpace(): HTMLElement {
  return span("tvmdbg-space");
}
