/** Lines on a grid of 16 px; one constant per icon, so that a bundle has only the icons of its view. */
export type Icon = string;

export const BACK: Icon = "M13 8H3.5M7.5 4l-4 4 4 4";
export const BLOCKS: Icon = "M2 2.5h12v11H2zM5 5.5h6M5 8h6M5 10.5h6";
export const BOOKMARK: Icon = "M4 2.5h8v11L8 10.5l-4 3z";
export const BOTH: Icon = "M2 2.5h12v11H2zM2 8h12M5 5.25h4";
export const CHART: Icon = "M2.5 4h6M5.5 8h8M4 12h5";
export const CLOSE: Icon = "M4 4l8 8M12 4l-8 8";
export const CLOCK: Icon = "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 4.6V8l2.4 1.6";
export const CODE: Icon = "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5";
export const COLORS: Icon = "M8 1.8 3.6 7.4a5.6 5.6 0 1 0 8.8 0zM8 1.8v12.6";
export const CONTROLS: Icon = "M2 5h6.5M12 5h2M10.25 3.2v3.6M2 11h2M7.5 11H14M5.75 9.2v3.6";
export const CRITICAL: Icon = "M2 12.5 6 7l3 3 5-6.5M10.5 3.5H14V7";
export const DETAILS: Icon = "M2 2.5h12v11H2zM9.5 2.5v11";
export const DOWN: Icon = "M8 2.5v11M4 9.5l4 4 4-4";
export const SAVE: Icon = "M8 2v8M4.8 6.8 8 10l3.2-3.2M2.5 13.5h11";
export const FILTER: Icon = "M2 3h12L9.5 8.3v4.9l-3-1.6V8.3z";
export const FIT: Icon = "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M5.5 6h5v4h-5z";
export const FORWARD: Icon = "M3 8h9.5M8.5 4l4 4-4 4";
export const FULL_SCREEN: Icon = "M9.5 6.5 14 2M10 2h4v4M6.5 9.5 2 14M2 10v4h4";
export const HELP: Icon =
  "M5.8 5.8a2.2 2.2 0 1 1 3.3 1.9C8.3 8.2 8 8.6 8 9.6M8 12.4v.1M8 1.3a6.7 6.7 0 1 0 0 13.4A6.7 6.7 0 0 0 8 1.3z";
export const HIDDEN: Icon = "M1.8 8S4 4 8 4s6.2 4 6.2 4S12 12 8 12 1.8 8 1.8 8zM3.5 13.5l9-11";
export const LAYERS: Icon = "M8 2 2 5l6 3 6-3zM2 8l6 3 6-3M2 11l6 3 6-3";
export const LINK: Icon =
  "M6.3 9.7l3.4-3.4M7.2 4.6l1.3-1.3a2.9 2.9 0 0 1 4.2 4.2l-1.3 1.3M8.8 11.4l-1.3 1.3a2.9 2.9 0 0 1-4.2-4.2l1.3-1.3";
export const MEASURE: Icon = "M1.5 5.5h13v5h-13zM4.5 5.5v2M8 5.5v3M11.5 5.5v2";
export const MORE: Icon = "M3.2 8h.1M8 8h.1M12.8 8h.1";
export const NEXT: Icon = "M6 3.5 10.5 8 6 12.5";
export const PEAK: Icon = "M1.5 13.5h13M2.5 13.5 6 8.5l2.2-6 2.6 7 3 4";
export const PREVIOUS: Icon = "M10 3.5 5.5 8l4.5 4.5";
export const RIGHT: Icon = "M2.5 8h11M9.5 4l4 4-4 4";
export const SEARCH: Icon = "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14";
export const TABLE: Icon = "M2 2.5h12v11H2zM2 6h12M2 9.75h12M6.5 6v7.5";
export const ZOOM_IN: Icon =
  "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14M7 5v4M5 7h4";
export const ZOOM_OUT: Icon = "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14M5 7h4";

export function icon(lines: Icon): SVGSVGElement {
  const attributes = { class: "tvmdbg-sign", viewBox: "0 0 16 16", "aria-hidden": "true" };
  return svg("svg", attributes, svg("path", { d: lines }));
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string | number>,
  ...children: (Node | string)[]
): SVGElementTagNameMap[Tag] {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}
