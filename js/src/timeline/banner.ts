import { counted } from "../shared/format.ts";
import { element, KEEP_KEYS } from "../shared/ui/dom.ts";
import type { Slices } from "./data/slices.ts";

/** Says what the time axis means, always in view; more when opened. */
export function banner({ columns, unusable }: Slices): HTMLElement {
  const { clock, notes, sources, words } = columns.info;
  const wall = clock === "wall";
  const end = words.said.indexOf(":");
  const said = unusable
    ? [...notes, `${counted(unusable, "slice")} not drawn: no usable start or duration`]
    : notes;
  return element(
    "details",
    { class: `tvmdbg-timeline-clock ${wall ? "" : "tvmdbg-timeline-synthetic"}` },
    element(
      "summary",
      { ...KEEP_KEYS, title: words.said },
      element(
        "span",
        {},
        words.said.slice(0, end),
        element("span", { class: "tvmdbg-timeline-rest" }, words.said.slice(end)),
      ),
      ...said.map((note) => element("span", { class: "tvmdbg-timeline-note" }, note)),
    ),
    element(
      "div",
      { class: "tvmdbg-timeline-meaning" },
      element("p", {}, words.more),
      sources.length > 0 &&
        element("p", { class: "tvmdbg-muted" }, `Read from ${sources.join(", ")}.`),
    ),
  );
}
