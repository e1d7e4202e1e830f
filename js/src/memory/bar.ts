import { COPY_KEY } from "../shared/client/code_copy.ts";
import * as icons from "../shared/drawing/icons.ts";
import { button, element, iconButton } from "../shared/ui/dom.ts";
import { fullScreenButton } from "../shared/ui/full_screen.ts";
import { helpButton } from "../shared/ui/keys.ts";
import { Overflow } from "../shared/ui/overflow.ts";

export interface BarEvents {
  zoom: (factor: number) => void;
  all: () => void;
  peak: () => void;
  parameters: () => void;
  color: (bySize: boolean) => void;
  copy: () => void;
}

/** The buttons above the view. */
export class Bar {
  readonly node: HTMLElement;
  readonly #range = element("output", { class: "tvmdbg-muted", "aria-label": "visible range" });
  readonly #all: HTMLButtonElement;
  readonly #parameters: HTMLButtonElement;
  readonly #kind: HTMLButtonElement;
  readonly #size: HTMLButtonElement;
  readonly #overflow: Overflow;

  constructor(events: BarEvents, root: HTMLElement, signal: AbortSignal) {
    this.#all = iconButton(icons.FIT, "fit", "fit the whole run (0)", events.all);
    this.#parameters = iconButton(
      icons.LAYERS,
      "parameters",
      "show memory of parameters (m)",
      events.parameters,
    );
    this.#kind = button("kind", "color entries by operator kind (c)", () => events.color(false));
    this.#size = button("size", "color entries by size (c)", () => events.color(true));
    const zoom = element(
      "span",
      { class: "tvmdbg-joined" },
      iconButton(icons.ZOOM_OUT, "zoom out", "zoom out (s)", () => events.zoom(2)),
      iconButton(icons.ZOOM_IN, "zoom in", "zoom in (w)", () => events.zoom(0.5)),
    );
    const color = element(
      "span",
      { class: "tvmdbg-joined", role: "group", "aria-label": "color by" },
      this.#kind,
      this.#size,
    );
    const peak = iconButton(icons.PEAK, "peak", "go to the peak (p)", events.peak);
    const copy = `Copy Python code for the selection (${COPY_KEY})`;
    const code = iconButton(icons.CODE, "copy Python code", copy, events.copy);
    const help = helpButton(root);
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": "memory" },
      element("span", { class: "tvmdbg-title" }, "Memory"),
      zoom,
      this.#all,
      peak,
      this.#range,
      element("span", { class: "tvmdbg-space" }),
      this.#parameters,
      color,
      code,
      help,
      fullScreenButton(root),
    );
    this.#overflow = new Overflow(
      this.node,
      { always: [code, help], sometimes: [zoom, this.#parameters, color, this.#range] },
      signal,
    );
  }

  show(parameters: boolean, bySize: boolean): void {
    this.#parameters.setAttribute("aria-pressed", String(parameters));
    this.#kind.setAttribute("aria-pressed", String(!bySize));
    this.#size.setAttribute("aria-pressed", String(bySize));
  }

  showRange(text: string, all: boolean): void {
    this.#all.disabled = all;
    if (this.#range.textContent === text) return;
    this.#range.textContent = text;
    this.#overflow.fit();
  }
}
