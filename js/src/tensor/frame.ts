import { element } from "../shared/ui/dom.ts";
import { part } from "./parts.ts";
import type { Shown } from "./state.ts";

interface Parts {
  bar: HTMLElement;
  axes: readonly HTMLElement[];
  readout: HTMLElement;
  stage: HTMLElement;
  profile: HTMLElement;
  channels: HTMLElement;
  legend: HTMLElement;
  controls: HTMLElement;
  trust: HTMLElement;
  statistics: HTMLElement;
  histogram: HTMLElement;
  region: HTMLElement;
  table: HTMLElement;
}

/** The boxes about a tensor's picture and numbers, and those among them that change with the tensor. */
export function frame(parts: Parts) {
  const caption = element("div", { class: "tvmdbg-muted" });
  const side = part("side", parts.legend, parts.controls, caption);
  const view = part("view", parts.stage, parts.channels);
  const left = part(
    "left",
    parts.bar,
    part("choices", ...parts.axes),
    view,
    parts.profile,
    parts.trust,
    parts.readout,
  );
  const body = part(
    "body",
    part("numbers", parts.statistics),
    left,
    part("right", parts.region, parts.histogram, side),
    parts.table,
  );
  return {
    body,
    left,
    view,
    caption,
    show: ({ show, answer }: Shown) => {
      body.dataset.show = answer?.unordered ? "values" : show;
    },
  };
}
