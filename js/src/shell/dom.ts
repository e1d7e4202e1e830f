import { type Icon, icon } from "../shared/drawing/icons.ts";
import { unbroken } from "../shared/format.ts";

type Child = Node | string | null | undefined | false;
/** Creates an element with attributes and children; text only ever enters as text nodes. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  const shown = children.filter((child): child is Node | string => !!child || child === "");
  node.append(...shown.map((child) => (typeof child === "string" ? unbroken(child) : child)));
  return node;
}

export function div(className: string, ...children: Child[]): HTMLDivElement {
  return element("div", { class: className }, ...children);
}

export function span(className: string, ...children: Child[]): HTMLSpanElement {
  return element("span", { class: className }, ...children);
}

/** A hidden box over its view. */
export function raised(
  className: string,
  attributes: Parameters<typeof element>[1] = {},
  ...children: Child[]
): HTMLElement {
  const all = { class: `${className} tvmdbg-raised`, hidden: true, ...attributes };
  return element("div", all, ...children);
}

/** Keeps JupyterLab from acting on bare keys (`d d` deletes the cell); must be on the focused element itself. */
export const KEEP_KEYS = { "data-lm-suppress-shortcuts": "true" } as const;

export function letSave(root: HTMLElement, signal: AbortSignal): void {
  const [name] = Object.keys(KEEP_KEYS) as [string];
  const leave = (event: KeyboardEvent) => {
    const isHeld = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (!isHeld || event.key.toLowerCase() !== "s" || !root.contains(event.target as Node)) return;
    const kept: Element[] = [];
    for (let at = event.target as Element | null; at; at = at.parentElement) {
      if (at.hasAttribute(name)) kept.push(at);
    }
    for (const node of kept) node.removeAttribute(name);
    setTimeout(() => {
      for (const node of kept) node.setAttribute(name, "true");
    });
  };
  // JupyterLab listens on the document, in the capture phase too.
  addEventListener("keydown", leave, { capture: true, signal });
}

/** A button with a label; the title describes its action. */
export function button(label: string, title: string, onClick: () => void): HTMLButtonElement {
  const node = element("button", { type: "button", ...KEEP_KEYS });
  relabel(node, label, title);
  node.addEventListener("click", onClick);
  return node;
}

export function iconButton(
  lines: Icon,
  label: string,
  title: string,
  onClick: () => void,
): HTMLButtonElement {
  const node = button("", title, onClick);
  const hasLabel = title.toLowerCase().includes(label.toLowerCase());
  node.ariaLabel = hasLabel ? title : `${label}: ${title}`;
  const key = /\(([^)]+)\)$/.exec(title)?.[1];
  if (key) node.dataset.key = key;
  node.append(icon(lines), element("span", { class: "tvmdbg-label" }, label));
  return node;
}

export function changeIcon(node: HTMLButtonElement, lines: Icon): void {
  node.firstElementChild!.replaceWith(icon(lines));
}

export function captioned(label: string, control: HTMLElement): HTMLElement {
  return element(
    "label",
    { class: "tvmdbg-captioned tvmdbg-inline tvmdbg-gap-8" },
    element("span", { class: "tvmdbg-label", "aria-hidden": "true" }, label),
    control,
  );
}

/** Changes a button's label; its accessible name contains the label, for voice control (WCAG 2.5.3). */
export function relabel(node: HTMLButtonElement, label: string, title: string): void {
  const hasLabel = !/\p{L}{2}/u.test(label) || title.toLowerCase().includes(label.toLowerCase());
  node.textContent = label;
  node.title = title;
  node.ariaLabel = hasLabel ? title : `${label}: ${title}`;
}

export function keepChildren(node: HTMLElement, ...children: readonly Node[]): void {
  for (const child of [...node.childNodes])
    if (!children.includes(child as HTMLElement)) child.remove();
  let at = node.firstChild;
  for (const child of children) {
    if (child === at) at = at.nextSibling;
    else node.insertBefore(child, at);
  }
}

/** A labelled drop-down list; `onChange` gets the chosen value. */
export function select(
  label: string,
  choices: readonly (readonly [value: string, text: string])[],
  value: string,
  onChange: (value: string) => void,
): HTMLSelectElement {
  const options = choices.map(([choice, text]) =>
    element("option", { value: choice, selected: choice === value }, text),
  );
  const node = element("select", { "aria-label": label, title: label, ...KEEP_KEYS }, ...options);
  node.addEventListener("change", () => onChange(node.value));
  return node;
}

/** Adds listeners to a node until the signal aborts; they may prevent the browser's default. */
export function listening(node: HTMLElement, signal: AbortSignal) {
  return <K extends keyof HTMLElementEventMap>(
    type: K,
    run: (event: HTMLElementEventMap[K]) => void,
  ) => node.addEventListener(type, run, { signal, passive: false });
}

/** Makes `root` an application for screen readers, which then leave its keys to it. */
export function asApplication(root: HTMLElement, description: string, label: string): void {
  root.role = "application";
  root.ariaRoleDescription = description;
  root.ariaLabel = label;
}

/** Runs after changes of the size of nodes until the signal aborts. */
export function onResize(nodes: readonly Element[], run: () => void, signal: AbortSignal): void {
  const observer = new ResizeObserver(run);
  for (const node of nodes) observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect());
}

/** Position of the pointer in a node, CSS px. */
export function pointIn(node: Element, event: MouseEvent): { x: number; y: number } {
  const { left, top } = node.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

const KEPT_MS = 60_000;

export function downloadProblem(): string {
  const opaque = origin === "null" && location.protocol !== "file:";
  return opaque && self !== top ? "This page is sandboxed and may not save files." : "";
}

export function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = element("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

export function fileName(parts: readonly string[], ending: string): string {
  const name = parts
    .map((part) => part.replace(/[^\w.-]+/g, "_").replace(/^[_.]+|_+$/g, ""))
    .filter(Boolean)
    .join("_");
  return `${name.slice(0, 100) || "tvmdbg"}.${ending}`;
}

/** Live region that describes a view to screen readers. */
export class Mirror {
  readonly node = element("div", {
    class: "tvmdbg-mirror",
    role: "status",
    "aria-live": "polite",
    "aria-atomic": "true",
  });

  /** Last description of the view. */
  #description = "";
  /** Current message at the time of a pending description. */
  #pending = "";

  say(text: string): void {
    if (this.node.textContent !== text) this.node.textContent = text;
  }

  /** Announces a description; a late one does not replace newer messages. */
  tell(text: string, isLate = false): void {
    const { textContent } = this.node;
    if (isLate && textContent !== this.#description && textContent !== this.#pending) return;
    this.#description = this.#pending = text;
    this.say(text);
  }

  /** Announces that a description is pending and will replace the current message. */
  ask(): void {
    this.#pending = this.node.textContent ?? "";
  }
}

const STEP = 0.05;

export function splitter(
  label: string,
  orientation: "vertical" | "horizontal",
  onMove: (share: number) => void,
): { node: HTMLElement; set: (share: number) => void } {
  const node = element("div", {
    class: `tvmdbg-splitter tvmdbg-splitter-${orientation}`,
    role: "separator",
    tabindex: 0,
    "aria-label": label,
    "aria-orientation": orientation,
    "aria-valuemin": 15,
    "aria-valuemax": 85,
    ...KEEP_KEYS,
  });
  let current = 0.5;
  const move = (event: PointerEvent) => {
    const box = node.parentElement!.getBoundingClientRect();
    onMove(
      orientation === "vertical"
        ? (event.clientX - box.left) / box.width
        : (event.clientY - box.top) / box.height,
    );
  };
  node.addEventListener("pointerdown", (event) => {
    node.setPointerCapture(event.pointerId);
    event.preventDefault();
    node.focus();
  });
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) move(event);
  });
  const [less, more] =
    orientation === "vertical" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  node.addEventListener("keydown", (event) => {
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    onMove(current + (event.key === more ? STEP : -STEP));
  });
  return {
    node,
    set: (share) => {
      current = share;
      node.setAttribute("aria-valuenow", String(Math.round(share * 100)));
    },
  };
}
