/** Copies code for what a view shows: by its own command, and by the browser's copy keys on its root. */
export class CodeCopy {
  readonly #root: HTMLElement;
  readonly #code: () => string | null;

  constructor(root: HTMLElement, code: () => string | null, signal: AbortSignal) {
    this.#root = root;
    this.#code = code;
    root.addEventListener(
      "copy",
      (event) => {
        if (event.target === root && !String(getSelection())) this.#into(event);
      },
      { signal },
    );
  }

  /** Whether it was copied. The browser asks back with a copy event, in which a page may always set the text. */
  copy(): boolean {
    this.#root.focus({ preventScroll: true });
    const copy = (event: ClipboardEvent) => this.#into(event);
    document.addEventListener("copy", copy, { capture: true });
    const copied = document.execCommand("copy");
    document.removeEventListener("copy", copy, { capture: true });
    return copied;
  }

  #into(event: ClipboardEvent): void {
    const code = this.#code();
    if (!code) return;
    event.clipboardData?.setData("text/plain", code);
    event.preventDefault();
  }
}
