import { asApplication, onResize } from "./dom.ts";
import { loading } from "./message.ts";
import type { ViewOptions } from "./view.ts";

/** Name, role and label of a view. */
export interface ViewTitle {
  /** Of its class: `tvmdbg-<name>`. */
  name: string;
  /** What it shows: `memory plan`. */
  noun: string;
  label: string;
  /** What it reads, if that is not what it shows. */
  data?: string;
}

/** Reads the data of a view and shows them; meanwhile and otherwise a message stands in `root`. */
export function mounted<T>(
  root: HTMLElement,
  { name, noun, label, data = noun }: ViewTitle,
  signal: AbortSignal,
  read: () => Promise<T>,
  show: Parameters<typeof loading<T>>[4],
): Promise<void> {
  root.classList.add(`tvmdbg-${name}`, "tvmdbg-column");
  asApplication(root, noun, label);
  return loading(root, data, signal, read, show);
}

/** Gives a view the height of its option, and the class of narrow views; `resized` says how much more height it takes. */
export function keepSize<T extends { height: number }>(
  root: HTMLElement,
  name: string,
  options: ViewOptions<T>,
  { narrow, least = 0 }: { narrow: number; least?: number },
  resized: (isNarrow: boolean) => number,
  signal: AbortSignal,
): void {
  const resize = () => {
    const isNarrow = root.clientWidth < narrow;
    root.classList.toggle(`tvmdbg-${name}-narrow`, isNarrow);
    const height = Math.max(least, options.get("height")) + resized(isNarrow);
    root.style.setProperty("--height", `${height}px`);
  };
  resize();
  onResize([root], resize, signal);
  options.onChange("height", resize, signal);
}

/** Calls back after changes of any of these options. */
export function onOptions<T, K extends keyof T & string>(
  options: ViewOptions<T>,
  names: readonly K[],
  changed: (name: K) => void,
  signal: AbortSignal,
): void {
  for (const name of names) options.onChange(name, () => changed(name), signal);
}
