import { element } from "../shared/dom.ts";
import { part } from "./parts.ts";

interface Parts {
  axes: HTMLElement;
  readout: HTMLElement;
  stage: HTMLElement;
  histogram: HTMLElement;
  controls: HTMLElement;
  valuesButton: HTMLElement;
}

/** The boxes about a tensor's picture and numbers, and those among them that change with the tensor. */
export function frame(parts: Parts) {
  const [legend, caption, statistics] = [
    element("div", {}),
    element("div", { class: "tvmdbg-muted" }),
    part("numbers"),
  ];
  const side = [legend, parts.controls, parts.valuesButton, caption];
  const view = [parts.stage, part("side", ...side)];
  const left = part("left", parts.axes, parts.readout, part("view", ...view));
  const body = part("body", statistics, left, part("right", parts.histogram));
  return { body, left, legend, caption, statistics };
}
