import type { TimelineOptions } from "../shared/client/options.ts";
import { element, KEEP_KEYS, onResize } from "../shell/dom.ts";
import type { ViewContext, ViewOptions } from "../shell/view.ts";
import type { TimelineBar } from "./bar.ts";
import type { OtherCharts } from "./charts/other_charts.ts";
import type { ColorKey } from "./color_key.ts";
import type { TimelineData } from "./descriptions.ts";
import type { Tables } from "./tables.ts";
import type { TimelineChart } from "./tracks/chart.ts";
import { TOP } from "./tracks/scene.ts";

const LEAST_HEIGHT = 120;
/** Height of the bar, and of the line above the chart if it is not in the bar. */
const BAR = 34;
const LINE = 26;
/** Largest share of the rest for the chart, and the least height for the details if all tracks are visible. */
const CHART = 0.66;
const LEAST_BELOW = 40;
/** Height of chart and details below which the details are beside the tracks. */
const ASIDE = 300;
/** Height of the details of a slice below the chart. */
const BELOW = 180;
/** Height left below another chart with the table beside it. */
const BELOW_OTHER = 120;
/** Width from which the table is beside the chart (898 and two borders). */
const WIDE = 898;
/** Width from which a low view has chart, details and table beside each other, unless it compares. */
const WIDEST = 1500;
/** Width from which the bar has room for the line on the times. */
const ROOMY = 1360;
/** Width from which a low chart has its panel beside it, and a bar room for the shortened line. */
const BESIDE = 600;
/** Least height of details and table below a narrow chart, and of a table that compares. */
const LEAST_PANEL = 250;
const LEAST_CHANGES = 500;
/** Height of the panel below a low and narrow chart, and the least height of both. */
const PANEL = 110;
const LEAST_BOTH = 200;

/** Least height for the color key below a low chart. */
const KEY = 40;

export type PanelPart = "details" | "table";

/** Parts of a view that are placed. */
interface PlacedParts {
  readonly root: HTMLElement;
  readonly body: HTMLElement;
  readonly context: ViewContext<TimelineOptions>;
  readonly data: TimelineData;
  readonly chart: TimelineChart;
  readonly charts: OtherCharts;
  readonly bar: TimelineBar;
  readonly tables: Tables;
  readonly key: ColorKey;
  showPanel(part: PanelPart): void;
  act(act: () => void): void;
}

/**
 * Places chart, details and table: beside each other in a wide view, below each other in a high one; in one that is
 * neither, details and table are the tabs of a panel.
 */
export class PartsLayout {
  readonly #view: PlacedParts;
  readonly #line: HTMLElement;
  readonly #options: ViewOptions<TimelineOptions>;
  readonly #tabs: HTMLElement;
  /** Chart and what is below it; details and color key. */
  readonly #chart: HTMLElement;
  readonly #below: HTMLElement;
  readonly #buttons: Readonly<Record<PanelPart, HTMLButtonElement>>;
  /** True if a note on the times makes the line two lines high. */
  readonly #isLong: boolean;

  constructor(view: PlacedParts, line: HTMLElement, chart: HTMLElement, below: HTMLElement) {
    [this.#chart, this.#below] = [chart, below];
    this.#view = view;
    this.#line = line;
    this.#options = view.context.options;
    this.#isLong = line.querySelector(".tvmdbg-timeline-note") !== null;
    const tab = (part: PanelPart) => {
      const node = element("button", { type: "button", role: "tab", ...KEEP_KEYS }, part);
      node.title = `show the ${part} beside the chart (q)`;
      node.addEventListener("click", () => view.act(() => view.showPanel(part)));
      return node;
    };
    this.#buttons = { details: tab("details"), table: tab("table") };
    const list = { class: "tvmdbg-joined", role: "tablist", "aria-label": "beside the chart" };
    const { details, table } = this.#buttons;
    this.#tabs = element(
      "div",
      { class: "tvmdbg-timeline-tabs" },
      element("div", list, details, table),
    );
    view.body.prepend(this.#tabs);
    view.data.scene.onLayout = () => this.resize();
    onResize([view.root], () => this.resize(), view.context.signal);
    this.#options.onChange("height", () => this.resize(), view.context.signal);
  }

  show(part: PanelPart): void {
    this.#view.body.dataset.panel = part;
    for (const [name, node] of Object.entries(this.#buttons)) {
      node.ariaSelected = String(name === part);
    }
  }

  resize(): void {
    const { root, charts, chart, bar, tables, body, key } = this.#view;
    const { scene } = this.#view.data;
    const width = root.clientWidth;
    const height = Math.max(LEAST_HEIGHT, this.#options.get("height"));
    const isWide = width >= WIDE;
    const { isTabbed, isInBar, room } = this.#tabbed(width, height);
    const classes = root.classList;
    classes.toggle("tvmdbg-timeline-wide", isWide && !isTabbed);
    classes.toggle("tvmdbg-timeline-roomy", width >= ROOMY);
    classes.toggle("tvmdbg-timeline-tabbed", isTabbed);
    classes.toggle("tvmdbg-timeline-stacked", !isWide && !isTabbed);
    classes.toggle("tvmdbg-timeline-split", isTabbed && width >= BESIDE);
    classes.toggle("tvmdbg-timeline-single", isTabbed && width < BESIDE && room < LEAST_BOTH);
    if (isInBar) bar.hold(this.#line);
    else if (this.#line.parentElement !== root) bar.node.after(this.#line);
    tables.placeChoice(isTabbed ? this.#tabs : null);
    move(this.#below, isTabbed && this.#options.get("show") !== "chart" ? body : this.#chart);
    root.style.setProperty("--height", `${height}px`);
    scene.isLow = scene.isCompact = false;
    const isLow = isWide && scene.naturalHeight > room - BELOW;
    const isAside = isLow && !isTabbed && room < ASIDE;
    const most = this.#mostOfChart(room, width, isAside, isTabbed);
    scene.isLow = isAside || isTabbed ? scene.naturalHeight > most : isLow;
    scene.isCompact = isTabbed && scene.naturalHeight > most;
    classes.toggle("tvmdbg-timeline-low", isLow || isTabbed);
    classes.toggle("tvmdbg-timeline-aside", isAside);
    const isAll = scene.naturalHeight <= Math.max(most, isTabbed ? 0 : room - LEAST_BELOW);
    const other = isWide && !isTabbed ? Math.max(most, room - BELOW_OTHER) : most;
    charts.node.style.setProperty("--room", `${other}px`);
    const high = isAll ? scene.naturalHeight : scene.heightWithin(most);
    chart.node.style.height = `${high}px`;
    // Room below the tracks is for the colors.
    const isFree = isTabbed && charts.kind === "time" && most - high >= KEY;
    move(key.node, isFree && this.#below.parentElement === body ? this.#chart : this.#below);
    chart.changed();
  }

  /** Whether the panel has tabs and the line is in the bar, and the height left for the rest. */
  #tabbed(width: number, height: number): { isTabbed: boolean; isInBar: boolean; room: number } {
    const { scene } = this.#view.data;
    scene.isLow = scene.isCompact = false;
    const free = height - BAR - LINE;
    const left = free - scene.naturalHeight;
    const compares = this.#view.data.change !== null;
    const isNarrow = width < WIDEST || compares;
    const least = compares && width >= BESIDE ? LEAST_CHANGES : LEAST_PANEL;
    const isTabbed = width < WIDE ? left < least : isNarrow && left + LINE < BELOW;
    const isInBar = isTabbed ? width >= BESIDE : width >= WIDE && (!this.#isLong || free < ASIDE);
    return { isTabbed, isInBar, room: isInBar ? free + LINE : free };
  }

  #mostOfChart(room: number, width: number, isAside: boolean, isTabbed: boolean): number {
    const isAlone = width >= BESIDE || room < LEAST_BOTH;
    if (isAside || (isTabbed && isAlone)) return room;
    if (isTabbed) return Math.max(TOP, room - PANEL);
    const below = width < WIDE ? LEAST_PANEL : 0;
    return Math.round(Math.min(room - below, Math.max(TOP + 80, room * CHART)));
  }
}

function move(node: HTMLElement, place: HTMLElement): void {
  if (node.parentElement !== place) place.append(node);
}
