/** Milliseconds after a press in which a view stays where it is: a second click is meant for the same place. */
const SETTLES = 400;

/** Whether the focus went to a view last, and not to the findings. */
export class Away {
  value = false;
  readonly #changed: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pressed = false;

  constructor(
    root: HTMLElement,
    findings: HTMLElement,
    views: readonly HTMLElement[],
    changed: () => void,
    signal: AbortSignal,
  ) {
    this.#changed = changed;
    const press = (pressed: boolean) => () => {
      this.#pressed = pressed;
    };
    root.addEventListener("pointerdown", press(true), { signal, capture: true });
    for (const end of ["pointerup", "pointercancel"] as const) {
      addEventListener(end, press(false), { signal, capture: true });
    }
    root.addEventListener(
      "focusin",
      ({ target }) => {
        const holds = (view: HTMLElement) => view.contains(target as Node);
        if (views.some(holds)) this.#to(true);
        // A chip of the one line is pressed without unfolding the list.
        else if (holds(findings) && !this.#pressed) this.#to(false);
      },
      { signal },
    );
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  end(): void {
    this.#to(false, true);
  }

  #to(value: boolean, atOnce = !this.#pressed): void {
    clearTimeout(this.#timer);
    if (value === this.value) return;
    if (!atOnce) {
      this.#timer = setTimeout(() => this.#to(value), SETTLES);
      return;
    }
    this.value = value;
    this.#changed();
  }
}

/** Lets the wheel scroll the page over a view without the focus, where the page can scroll. */
export function passWheel(panel: HTMLElement, root: HTMLElement, signal: AbortSignal): void {
  panel.addEventListener(
    "pointerenter",
    () => panel.classList.toggle("tvmdbg-passes-wheel", pageScrolls(root)),
    { signal },
  );
}

function pageScrolls(root: HTMLElement): boolean {
  for (let at = root.parentElement; at; at = at.parentElement) {
    if (at.scrollHeight <= at.clientHeight + 1) continue;
    const scrolls = at === document.scrollingElement ? /auto|scroll|visible/ : /auto|scroll/;
    if (scrolls.test(getComputedStyle(at).overflowY)) return true;
  }
  return false;
}
