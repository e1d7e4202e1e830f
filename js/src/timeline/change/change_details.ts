import { svg } from "../../shared/drawing/icons.ts";
import { counted, duration } from "../../shared/format.ts";
import { largest, smallest } from "../../shared/many.ts";
import { nodeTitle } from "../../shared/node_title.ts";
import { element } from "../../shared/ui/dom.ts";
import { factList } from "../descriptions.ts";
import { type Change, changeText, ratioText, verdictSign } from "./change.ts";

const WIDTH = 300;
const HEIGHT = 26;
const MOST_DOTS = 200;

/** What a row of the comparison says in full: both times and repeats on one axis, and what the verdict rests on. */
export function changeDetails(change: Change, row: number): HTMLElement {
  const rows = change.byNode;
  const verdict = rows.verdict[row]!;
  const interval =
    Number.isFinite(rows.low[row]!) && Number.isFinite(rows.high[row]!)
      ? `, 95 % CI ${changeText(rows.low[row]!)} … ${changeText(rows.high[row]!)}`
      : "";
  const match = change.matchLabel(row);
  const facts: [string, string][] = [
    ["A", `${change.told(rows.nsA[row]!, 0)} (${sideText(change, row, 0)})`],
    ["B", `${change.told(rows.nsB[row]!, 1)} (${sideText(change, row, 1)})`],
    ["B − A", `${changeText(change.of(row))} (${ratioText(row, rows)})`],
  ];
  if (Number.isFinite(rows.shift[row]!)) {
    facts.push(["per repeat", `${changeText(rows.shift[row]!)}${interval}`]);
  }
  facts.push(["verdict", `${change.verdictLabel(verdict)}: ${rows.why.at(row)}`]);
  if (match) facts.push(["match", `${match}: ${change.columns.reason.at(row)}`]);
  return element(
    "div",
    { class: "tvmdbg-change-details", "data-verdict": change.verdictLabel(verdict) },
    element(
      "h5",
      {},
      `${verdictSign(verdict)} ${changeText(change.of(row))}`,
      element("span", { class: "tvmdbg-muted" }, "B minus A"),
    ),
    distributions(change, row),
    factList(facts),
  );
}

function sideText(change: Change, row: number, side: 0 | 1): string {
  const nodes = side === 0 ? change.nodesA(row) : change.nodesB(row);
  if (!nodes.length) return "no node";
  if (side === 0) return Array.from(nodes, (node) => `#${node}`).join(", ");
  const { bNames, bStart } = change.columns;
  const told = Array.from(nodes, (node, at) => nodeTitle(bNames.at(bStart[row]! + at), node));
  return told.join(", ");
}

/** The repeats of both runs, one strip over the other, on one axis. */
function distributions(change: Change, row: number): HTMLElement | string {
  const [a, b] = change.repeats(row).map((each) => Float64Array.from(each));
  if (!a!.length && !b!.length) return "";
  const all = [...a!, ...b!];
  const [low, high] = [smallest(all), largest(all)];
  const figure = element("figure");
  for (const [name, values] of [
    ["A", a!],
    ["B", b!],
  ] as const) {
    figure.append(
      element(
        "div",
        { class: "tvmdbg-change-strip" },
        element("b", {}, name),
        strip(name, values, low, high),
      ),
    );
  }
  figure.append(
    element(
      "figcaption",
      {},
      element("span", {}, duration(low)),
      element(
        "span",
        { class: "tvmdbg-muted" },
        `${a!.length} and ${counted(b!.length, "repeat")}`,
      ),
      element("span", {}, duration(high)),
    ),
  );
  return figure;
}

function strip(name: string, values: Float64Array, low: number, high: number): SVGElement {
  const sorted = Float64Array.from(values).sort();
  const x = (value: number) =>
    high > low ? 6 + ((value - low) / (high - low)) * (WIDTH - 12) : WIDTH / 2;
  const middle = sorted.length / 2;
  const median = sorted.length
    ? (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
    : Number.NaN;
  const told = sorted.length
    ? `${name}: ${counted(sorted.length, "repeat")}, median ${duration(median)}`
    : `${name}: no repeats`;
  const node = svg("svg", {
    class: "tvmdbg-timeline-strip",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    width: WIDTH,
    height: HEIGHT,
    role: "img",
    "aria-label": told,
  });
  const title = svg("title", {});
  title.textContent = told;
  node.append(title);
  if (!sorted.length) return node;
  const from = x(sorted[0]!);
  const width = Math.max(1, x(sorted.at(-1)!) - from);
  node.append(
    svg("rect", { class: "band", x: from, y: 1, width, height: HEIGHT - 2 }),
    svg("rect", { class: "median", x: x(median) - 0.5, y: 0, width: 1, height: HEIGHT }),
  );
  const every = Math.ceil(values.length / MOST_DOTS);
  for (let at = 0; at < values.length; at += every) {
    const cy = 3.5 + ((at + 0.5) / values.length) * (HEIGHT - 7);
    node.append(svg("circle", { class: "dot", cx: x(values[at]!), cy, r: 2 }));
  }
  return node;
}
