import * as icons from "../shared/drawing/icons.ts";
import { button, element, iconButton } from "../shared/ui/dom.ts";
import { part } from "./parts.ts";
import { SHOWS, type ShowChoice } from "./state.ts";

const NAMES: Record<ShowChoice, string> = {
  picture: "heatmap",
  channels: "tile by",
  profile: "line plot",
};
const TITLES: Record<ShowChoice, string> = {
  picture: "Heatmap of two axes (1)",
  channels: "Tile by an axis: one heatmap per index (2)",
  profile: "Line plot of min, mean and max along an axis (3)",
};

interface Events {
  show(show: ShowChoice): void;
  zoom(factor: number): void;
  whole(): void;
}

/** What stands at the left, and how far one is in. */
export class ViewBar {
  readonly node: HTMLElement;
  readonly #tabs = new Map<ShowChoice, HTMLButtonElement>();
  readonly #in: HTMLButtonElement;
  readonly #out: HTMLButtonElement;
  readonly #whole: HTMLButtonElement;
  readonly #zoom: HTMLElement;

  constructor(events: Events) {
    for (const show of SHOWS) {
      const tab = button(NAMES[show], TITLES[show], () => events.show(show));
      tab.setAttribute("aria-pressed", "false");
      this.#tabs.set(show, tab);
    }
    this.#out = iconButton(icons.ZOOM_OUT, "zoom out", "zoom out (-)", () => events.zoom(1 / 2));
    this.#in = iconButton(icons.ZOOM_IN, "zoom in", "zoom in (+)", () => events.zoom(2));
    this.#whole = iconButton(icons.FIT, "fit", "fit the whole heatmap (0)", () => events.whole());
    this.#zoom = element(
      "span",
      { class: "tvmdbg-tensor-zoom", role: "group", "aria-label": "Zoom" },
      element("span", { class: "tvmdbg-joined" }, this.#out, this.#in),
      this.#whole,
    );
    this.node = part(
      "view-bar",
      element(
        "span",
        { class: "tvmdbg-joined", role: "group", "aria-label": "Show" },
        ...this.#tabs.values(),
      ),
      this.#zoom,
    );
  }

  show(show: ShowChoice, zoomed: boolean, canZoom: boolean): void {
    for (const [each, tab] of this.#tabs) tab.setAttribute("aria-pressed", String(each === show));
    this.#zoom.hidden = show !== "picture" || (!zoomed && !canZoom);
    this.#whole.hidden = !zoomed;
    this.#out.disabled = !zoomed;
    this.#in.disabled = !canZoom;
  }
}
