import { counted, duration } from "../../shared/format.ts";
import { button, element, KEEP_KEYS } from "../../shared/ui/dom.ts";
import { type Points, rateText, typedRate } from "./roofline_points.ts";

/** Of one reason so many operators are listed. */
const LISTED = 12;

/** The operators that have no place on logarithmic axes, by the reason. */
export class MissingList {
  readonly node = element("section", {
    class: "tvmdbg-timeline-missing",
    "aria-label": "operators that are not in the chart",
  });
  readonly #pick: (nodes: number[]) => void;

  constructor(pick: (nodes: number[]) => void) {
    this.#pick = pick;
  }

  fill(
    points: Points,
    name: (point: number) => string,
    told: (ns: number) => string,
    convention: string,
  ): void {
    const groups = points.missing().map(({ why, points: own, ns }) => {
      const nodes = own.map((point) => points.node[point]!);
      const all = `${counted(own.length, "operator")}, ${duration(ns)}`;
      const rows = own.slice(0, LISTED).map((point) => {
        const node = points.node[point]!;
        const moved = points.moved(point);
        const rate = moved > 0 ? `, ${rateText(moved, "B/s")}` : "";
        const text = `${name(point)} · ${told(points.ns[point]!)}${rate}`;
        const row = button(text, why, () => this.#pick([node]));
        row.dataset.node = String(node);
        return element("li", {}, row);
      });
      const more = own.length - rows.length;
      return element(
        "div",
        {},
        element(
          "p",
          {},
          `${why}: `,
          button(all, `select ${all}`, () => this.#pick(nodes)),
        ),
        element("ul", {}, ...rows, more > 0 && element("li", {}, `… and ${more} more`)),
      );
    });
    this.node.hidden = groups.length === 0;
    this.node.replaceChildren(
      element("h4", {}, "Not in the chart"),
      ...groups,
      element("p", { class: "tvmdbg-muted" }, convention),
    );
  }

  /** Shows which of them are selected. */
  mark(selected: readonly number[]): void {
    for (const each of this.node.querySelectorAll<HTMLElement>("[data-node]")) {
      each.setAttribute("aria-pressed", String(selected.includes(Number(each.dataset.node))));
    }
  }
}

export interface RateEvents {
  set(value: number | null): void;
  say(text: string): void;
  /** Writes again what holds. */
  reset(): void;
  /** The focus goes back to the view. */
  leave(): void;
}

/** A field for what a machine can do; empty where that is not known. */
export class RateField {
  readonly node: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #unit: string;

  constructor(label: string, unit: string, title: string, events: RateEvents) {
    this.#unit = unit;
    this.#field = element("input", {
      type: "text",
      placeholder: `? ${unit}`,
      "aria-label": `${label}, ${unit}`,
      title: `${title}; empty: unknown`,
      ...KEEP_KEYS,
    });
    this.node = element("label", {}, `${label} `, this.#field);
    this.#field.addEventListener("change", () => {
      const value = typedRate(this.#field.value);
      this.#field.setAttribute("aria-invalid", String(Number.isNaN(value)));
      if (Number.isNaN(value)) events.say(`${label} must be a number above zero, such as 200 G`);
      else events.set(value);
    });
    this.#field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      if (event.key === "Escape") events.reset();
      this.#field.blur();
      events.leave();
    });
  }

  show(value: number | null): void {
    this.#field.value = value ? rateText(value, this.#unit) : "";
    this.#field.setAttribute("aria-invalid", "false");
  }
}
