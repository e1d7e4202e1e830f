import { counted, integer } from "../../shared/format.ts";
import { button, element } from "../../shared/ui/dom.ts";

const MOST_LETTERS = 10_000;

export function named(label: string, value: string): HTMLElement {
  const copy = button("copy", `copy the ${label}`, () => {
    navigator.clipboard?.writeText(value).then(
      () => copy.replaceChildren("copied"),
      () => copy.replaceChildren("select the text and press Ctrl+C"),
    );
  });
  return element(
    "div",
    { class: "tvmdbg-graph-named" },
    element("span", { class: "tvmdbg-muted" }, label),
    copy,
    element("div", { class: "tvmdbg-graph-mono" }, shownOf(value) || "(empty)"),
  );
}

export function section(title: string, ...children: (Node | null)[]): HTMLElement {
  return element("section", {}, element("h4", {}, title), ...children);
}

/** A file may hold names of any length; all of it is copied. */
function shownOf(value: string): string {
  const more = value.length - MOST_LETTERS;
  return more > 0 ? `${value.slice(0, MOST_LETTERS)}… and ${counted(more, "more letter")}` : value;
}

/** `inputs (3)`; `inputs (the first 500 of 1,000,000)`. */
export function listed(what: string, shown: number, count = shown): string {
  return `${what} (${shown < count ? `the first ${integer(shown)} of ` : ""}${integer(count)})`;
}

export function list(items: HTMLElement[], tag: "ul" | "ol" = "ul"): HTMLElement {
  return items.length
    ? element(tag, {}, ...items)
    : element("p", { class: "tvmdbg-muted" }, "none");
}

export function table(rows: readonly (readonly [string, string])[]): HTMLElement {
  return element(
    "table",
    {},
    element(
      "tbody",
      {},
      ...rows.map(([name, value]) =>
        element(
          "tr",
          {},
          name ? element("th", { scope: "row" }, name) : element("td"),
          element("td", {}, unbroken(value)),
        ),
      ),
    ),
  );
}

/** Keeps each time on one line with its unit. */
function unbroken(text: string): string {
  return text.replace(/(\d) (?=[nµm]?s\b)/g, "$1\u00a0");
}

export function bar(share: number, title: string): HTMLElement {
  const fill = element("div", {});
  fill.style.width = `${(100 * share).toFixed(1)}%`;
  return element("div", { class: "tvmdbg-graph-bar", title }, fill);
}

/** A row of a list: what it is, and below it its share as a bar and in words. */
export function shared(link: HTMLElement, share: HTMLElement, words: string): HTMLElement {
  return element("li", {}, link, element("div", { class: "tvmdbg-graph-slow" }, share, words));
}

/** Some rows, and how many more there are. */
export function top(rows: HTMLElement[], all: number, tag: "ul" | "ol"): HTMLElement {
  const more = all - rows.length;
  const rest = element("p", { class: "tvmdbg-muted" }, `and ${integer(more)} more`);
  return element("div", {}, list(rows, tag), more > 0 ? rest : null);
}
