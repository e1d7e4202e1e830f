import { element, KEEP_KEYS } from "../shared/dom.ts";
import { integer } from "../shared/format.ts";
import type { Slices } from "./slices.ts";

const SYNTHETIC =
  "synthetic: nodes laid end to end from mean times; the sum of nodes is not the latency";
const WALL = "start and end times as recorded; what is empty was idle or not recorded";
const SYNTHETIC_MORE =
  "The debugger runs each node by itself, several times, and writes a trace in which the means follow each other " +
  "in node order. Nothing ran at these times: there are no gaps, no overlap and no transfers in it. What the " +
  "network takes as a whole is measured by running it as a whole (time_evaluator on its run function).";
const WALL_MORE =
  "Every slice lies where the clock of the machine saw it. Gaps are drawn as gaps: point at one to measure it.";

/** Says what the time axis means, always in view; more when opened. */
export function banner({ columns, unusable }: Slices): HTMLElement {
  const { clock, notes, sources } = columns.info;
  const wall = clock === "wall";
  const said = unusable
    ? [...notes, `${integer(unusable)} slices have no usable start or duration and are not drawn`]
    : notes;
  return element(
    "details",
    { class: `tvmdbg-timeline-clock ${wall ? "" : "tvmdbg-timeline-synthetic"}` },
    element(
      "summary",
      KEEP_KEYS,
      element("span", {}, wall ? WALL : SYNTHETIC),
      ...said.map((note) => element("span", { class: "tvmdbg-timeline-note" }, note)),
    ),
    element("p", {}, wall ? WALL_MORE : SYNTHETIC_MORE),
    sources.length > 0 &&
      element("p", { class: "tvmdbg-muted" }, `Read from ${sources.join(", ")}.`),
  );
}
