import type { Client } from "../shared/client/client.ts";
import { element, KEEP_KEYS, raised } from "./dom.ts";

/** Python for the selection; `run` is the name that the documentation uses. */

export function nodesCode(nodes: readonly number[]): string {
  return several(nodes, "run.graph.nodes[", "]") ?? "run.graph";
}

export function timesCode(nodes: readonly number[]): string {
  return several(nodes, "run.timeline.node(", ")") ?? "run.timeline.top()";
}

export function sliceCode(node: number, occurrence: number): string {
  return `run.timeline.slice(run.timeline.slices_of(${node})[${occurrence}])`;
}

export function rangeCode([start, end]: readonly [number, number]): string {
  return `run.area(${start}, ${end}).to_dataframe()`;
}

/** Code with a comment that names the run, for notebooks with more than one. */
export function codeOfRun(code: string, title: string | null): string {
  const line = title?.replace(/[\s\p{C}]+/gu, " ").trim();
  return line ? `${code}  # run: ${line}` : code;
}

function several(nodes: readonly number[], before: string, after: string): string | null {
  if (nodes.length < 2) return nodes.length ? `${before}${nodes[0]}${after}` : null;
  return `[${before}i${after} for i in (${nodes.join(", ")})]`;
}

export async function titleOf(run: Client): Promise<string> {
  return (await run.ask("summary")).title;
}

const SHOWN_MS = 2600;

export const COPY_KEY = "y";

export class CodeCopy {
  readonly #root: HTMLElement;
  readonly #code: () => string | null;
  readonly #say: (text: string) => void;
  readonly #box = raised("tvmdbg-copied tvmdbg-anywhere");
  #title: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    root: HTMLElement,
    code: () => string | null,
    say: (text: string) => void,
    title: Promise<string>,
    signal: AbortSignal,
  ) {
    this.#root = root;
    this.#code = () => {
      const text = code();
      return text === null ? null : codeOfRun(text, this.#title);
    };
    title.then(
      (known) => {
        this.#title = known;
      },
      () => {},
    );
    this.#say = say;
    root.addEventListener(
      "copy",
      (event) => {
        if (event.target !== root || String(getSelection())) return;
        const text = this.#code();
        if (text === null) return;
        into(event, text);
        this.#copied(text);
      },
      { signal },
    );
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  copy(): void {
    const text = this.#code();
    if (text === null) {
      this.#show("No code for this selection.");
      this.#say("No code for this selection.");
      return;
    }
    this.#put(text, () => this.#copied(text));
  }

  copyText(text: string, what: string): void {
    this.#put(text, () => this.tell(`copied ${what}`));
  }

  tell(text: string): void {
    this.#show(text);
    this.#say(text);
  }

  /** By a copy event; where the page may not use the clipboard, a field holds the text. */
  #put(text: string, done: () => void): void {
    this.#root.focus({ preventScroll: true });
    let set = false;
    const copy = (event: ClipboardEvent) => {
      set = into(event, text);
    };
    // The browser fires a copy event, in which a page may set the text without permission.
    document.addEventListener("copy", copy, { capture: true });
    const copied = document.execCommand("copy");
    document.removeEventListener("copy", copy, { capture: true });
    if (copied && set) done();
    else this.#offer(text);
  }

  #copied(text: string): void {
    this.#show("copied ", element("code", {}, text));
    this.#say(`Copied: ${text}`);
  }

  #show(...children: (Node | string)[]): void {
    clearTimeout(this.#timer);
    this.#box.replaceChildren(...children);
    this.#box.hidden = false;
    this.#root.append(this.#box);
    this.#timer = setTimeout(() => this.#hide(), SHOWN_MS);
  }

  #hide(): void {
    this.#box.hidden = true;
    this.#box.replaceChildren();
  }

  #offer(text: string): void {
    const isLong = text.includes("\n");
    const given = {
      readonly: true,
      "aria-label": `${isLong ? "Text" : "Python code"}: copy it with Ctrl+C, close with Escape`,
      ...KEEP_KEYS,
    };
    const field: HTMLInputElement | HTMLTextAreaElement = isLong
      ? element("textarea", { ...given, rows: 6, cols: 50 }, text)
      : element("input", { ...given, value: text, title: text, size: Math.min(60, text.length) });
    this.#show("Ctrl+C copies, Esc closes: ", field);
    clearTimeout(this.#timer);
    field.addEventListener("keydown", (event: Event) => {
      if ((event as KeyboardEvent).key !== "Escape") return;
      event.stopPropagation();
      this.#root.focus({ preventScroll: true });
    });
    field.addEventListener("blur", () => this.#hide());
    field.focus();
    field.select();
    this.#say(`This page may not use the clipboard.${isLong ? "" : ` The code: ${text}`}`);
  }
}

function into(event: ClipboardEvent, text: string): boolean {
  if (!event.clipboardData) return false;
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
  return true;
}
