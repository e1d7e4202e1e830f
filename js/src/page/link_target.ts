/** Where in a run a link leads: what stands behind the `#` of the page's address. */
export interface LinkTarget {
  /** Node ids, or names, in the order they are selected. */
  nodes: string[];
  view: string | null;
  entry: [node: number, output: number] | null;
  slice: [node: number, occurrence: number] | null;
  /** Nanoseconds. */
  time: [begin: number, end: number] | null;
  /** Step of the tour, the first is 0. */
  step: number | null;
}

export interface ParsedLink {
  place: LinkTarget;
  /** What was not understood, each as half a sentence. */
  problems: string[];
}

const WHOLE = /^\d{1,15}$/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

export function parseLink(hash: string): ParsedLink {
  const place: LinkTarget = {
    nodes: [],
    view: null,
    entry: null,
    slice: null,
    time: null,
    step: null,
  };
  const problems: string[] = [];
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const [key, value] = [decoded(part.slice(0, at)), decoded(part.slice(at + 1))];
    if (key === null || value === null || !accept(place, key, value)) {
      problems.push(`it says ${part.slice(0, 80)}`);
    }
  }
  return { place, problems };
}

/** The part of an address behind `#`, or nothing where the place says nothing. */
export function linkText(place: LinkTarget): string {
  const parts = place.nodes.map((node) => `node=${encodeURIComponent(node)}`);
  if (place.entry) parts.push(`entry=${place.entry.join()}`);
  if (place.slice) parts.push(`slice=${place.slice.join()}`);
  if (place.time) parts.push(`time=${place.time.join()}`);
  if (place.step !== null) parts.push(`step=${place.step}`);
  if (place.view) parts.push(`view=${encodeURIComponent(place.view)}`);
  return parts.join("&");
}

function accept(place: LinkTarget, key: string, value: string): boolean {
  const parts = value.split(",");
  const whole = parts.length === 2 && parts.every((each) => WHOLE.test(each));
  const pair = parts.map(Number) as [number, number];
  switch (key) {
    case "node":
      place.nodes.push(value);
      return value !== "";
    case "view":
      place.view = value;
      return value !== "";
    case "entry":
    case "slice":
      if (whole) place[key] = pair;
      return whole;
    case "time": {
      const range = parts.length === 2 && parts.every((each) => NUMBER.test(each));
      const ordered = range && pair.every(Number.isFinite) && pair[0] < pair[1];
      if (ordered) place.time = pair;
      return ordered;
    }
    case "step":
      if (WHOLE.test(value)) place.step = Number(value);
      return WHOLE.test(value);
    default:
      return false;
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
