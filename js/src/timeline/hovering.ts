import type { SessionClient } from "../shared/client/session_client.ts";
import type { OtherCharts } from "./charts/other_charts.ts";
import type { Data } from "./data.ts";
import type { Tooltip } from "./details/tooltip.ts";
import type { TopTable } from "./tables/table.ts";
import type { Chart } from "./tracks/chart.ts";
import type { Hit } from "./tracks/scene.ts";

interface Shown {
  chart: Chart;
  charts: OtherCharts;
  table: TopTable;
  tooltip: Tooltip;
}

/** What the pointer rests on, here or in another view: lit in chart and table, and told beside the pointer. */
export class Hovering {
  readonly #root: HTMLElement;
  readonly #data: Data;
  readonly #session: SessionClient;
  readonly #shown: Shown;

  constructor(root: HTMLElement, data: Data, session: SessionClient, shown: Shown) {
    this.#root = root;
    this.#data = data;
    this.#session = session;
    this.#shown = shown;
  }

  /** The pointer is at a point of the chart. */
  at(hit: Hit | null, x: number, y: number): void {
    const { ranking, scene } = this.#data;
    const { chart, tooltip } = this.#shown;
    const slice = hit && "slice" in hit ? hit.slice : -1;
    const place = this.#inRoot(chart.stage, x, y);
    this.#light(slice, ranking.rowOfSlice(slice));
    if (hit) tooltip.show(hit, ...place);
    else tooltip.tell(scene.bandAt(x, y), ...place);
  }

  /** The pointer is on a row of the table; -1: on none. */
  row(row: number): void {
    this.#light(row < 0 ? -1 : this.#data.ranking.slice[row]!, row);
  }

  /** Tells lines beside a point of the other chart; null: nothing. */
  tell(lines: string[] | null, x: number, y: number): void {
    const { charts, chart, tooltip } = this.#shown;
    tooltip.tell(lines, ...this.#inRoot(charts.shown?.node ?? chart.stage, x, y));
  }

  /** Lights the node that another view hovers. */
  sync(): void {
    this.#shown.charts.shown?.sync();
    const { hovered } = this.#session;
    const { ranking, scene, slices } = this.#data;
    const node = hovered ?? -1;
    if (slices.nodeOf(scene.hovered) === node) return;
    this.#mark(slices.of(node)[0] ?? -1, ranking.rowOf(node));
  }

  #light(slice: number, row: number): void {
    const node = this.#data.slices.nodeOf(slice);
    this.#mark(slice, row);
    this.#session.hover(node < 0 ? null : node);
  }

  #mark(slice: number, row: number): void {
    this.#data.scene.hovered = slice;
    this.#shown.table.hover(row);
    this.#shown.chart.touched();
  }

  /** A point of a chart as one of the root, and the box of the root. */
  #inRoot(chart: HTMLElement, x: number, y: number): [x: number, y: number, box: DOMRect] {
    const [own, box] = [chart.getBoundingClientRect(), this.#root.getBoundingClientRect()];
    return [own.left - box.left + x, own.top - box.top + y, box];
  }
}
