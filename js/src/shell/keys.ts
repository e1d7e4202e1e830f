import * as icons from "../shared/drawing/icons.ts";
import { div, element, iconButton, KEEP_KEYS, raised } from "./dom.ts";

/**
 * A keyboard action of a view: `keys` as in KeyboardEvent.key, letters in lower case, optionally after `Ctrl+`, `Alt+`
 * or `Shift+` (then letters are in upper case).
 */
export interface KeyAction {
  keys: readonly string[];
  does: string;
  run: (event: KeyboardEvent) => void;
  /** Offers the action in the palette with a typed text as its argument. */
  offer?: (typed: string) => { label: string; run(): void } | null;
}

export function action(keys: readonly string[], does: string, run: KeyAction["run"]): KeyAction {
  return { keys, does, run };
}

/** Runs the action of a key; a letter in upper case is that with Shift. */
export function runKey(root: HTMLElement, key: string): boolean {
  const shiftKey = /^[A-Z]$/.test(key);
  const bound = shiftKey ? key.toLowerCase() : key;
  const action = actionsOf(root).find(({ keys }) => keys.includes(bound));
  action?.run(new KeyboardEvent("keydown", { key: bound.replace(/^\w+\+(?=.)/, ""), shiftKey }));
  return action !== undefined;
}

const BOUND = new WeakMap<HTMLElement, readonly KeyAction[]>();

/** Keyboard actions of a view; empty without keys. */
export function actionsOf(root: HTMLElement): readonly KeyAction[] {
  return BOUND.get(root) ?? [];
}

/**
 * Makes `root` the view's one focusable element, runs its actions by key, and lists them on `?`.  Keys typed into the
 * view's own fields stay theirs, and so do those with ctrl, alt or meta. The list opens in `around` if the view itself
 * is too low for it.
 */
export function bindKeys(
  root: HTMLElement,
  actions: readonly KeyAction[],
  signal: AbortSignal,
  around = root,
): void {
  root.tabIndex = 0;
  BOUND.set(root, actions);
  for (const [name, value] of Object.entries(KEEP_KEYS)) root.setAttribute(name, value);
  const help = helpPanel(actions);
  around.append(help);
  help.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && event.key !== "?") return;
    event.preventDefault();
    event.stopPropagation();
    root.focus({ preventScroll: true });
    help.hidden = true;
  });
  const byKey = new Map(actions.flatMap((action) => action.keys.map((key) => [key, action])));
  root.addEventListener(
    "keydown",
    (event) => {
      if (event.target !== root) return;
      if (event.ctrlKey || event.metaKey || event.altKey) {
        const held = byKey.get(`${event.altKey ? "Alt" : "Ctrl"}+${event.key}`);
        if (!held) return;
        event.preventDefault();
        event.stopPropagation();
        held.run(event);
        return;
      }
      if (event.key === "?") {
        help.hidden = !help.hidden;
        const bar = around.querySelector<HTMLElement>(":scope > .tvmdbg-bar");
        const top = bar ? bar.offsetTop + bar.offsetHeight + 4 : 8;
        help.style.setProperty("--tvmdbg-help-top", `${top}px`);
        inColumns(help, around.clientWidth);
        event.preventDefault();
        return;
      }
      if (event.key === "Escape" && !help.hidden) {
        help.hidden = true;
        return;
      }
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const action = (event.shiftKey && byKey.get(`Shift+${event.key}`)) || byKey.get(key);
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action.run(event);
    },
    { signal },
  );
  root.addEventListener("focusout", (event) => regain(root, event), { signal });
}

/** Moves the focus to the view when the focused control goes away; a browser would drop it. */
function regain(root: HTMLElement, { target, relatedTarget }: FocusEvent): void {
  const gone = target as HTMLElement;
  if (relatedTarget || document.activeElement !== document.body || !document.hasFocus()) return;
  if (!gone.checkVisibility() || gone.matches(":disabled")) root.focus({ preventScroll: true });
}

export function helpButton(root: HTMLElement): HTMLButtonElement {
  return iconButton(icons.HELP, "keys", "keys (?)", () => {
    root.focus({ preventScroll: true });
    root.dispatchEvent(new KeyboardEvent("keydown", { key: "?" }));
  });
}

const COLUMN = 210;

const SHOWN: Record<string, string> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  " ": "Space",
  Escape: "Esc",
};

export function shownKey(key: string): string {
  const plain = key.replace(/^(Ctrl|Alt)\+(?=.)/, "");
  return `${key.slice(0, key.length - plain.length)}${SHOWN[plain] ?? plain}`;
}

function helpPanel(actions: readonly KeyAction[]): HTMLElement {
  const rows = [...actions, { keys: ["?"], does: "show or hide this list" }].map(({ keys, does }) =>
    element(
      "div",
      {},
      ...keys.map((key) => element("kbd", {}, shownKey(key))),
      element("span", {}, does),
    ),
  );
  return raised(
    "tvmdbg-help tvmdbg-shaded",
    { role: "note", tabindex: 0, "aria-label": "Keys", ...KEEP_KEYS },
    div("tvmdbg-help-keys", ...rows),
  );
}

function inColumns(help: HTMLElement, width: number): void {
  const { style } = help.firstElementChild as HTMLElement;
  const most = Math.floor(width / COLUMN);
  style.columnCount = "1";
  for (let columns = 2; columns <= most && help.scrollHeight > help.clientHeight; columns++) {
    style.columnCount = String(columns);
  }
}
