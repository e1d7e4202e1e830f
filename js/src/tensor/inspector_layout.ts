import { errorText } from "../shared/client/request.ts";
import type { Entry, TensorAnswer } from "../shared/client/tensor_questions.ts";
import * as icons from "../shared/drawing/icons.ts";
import { iconButton, Mirror, onResize } from "../shell/dom.ts";
import type { ViewContext } from "../shell/view.ts";
import { AxisPickers, ReadingPicker } from "./axis_pickers.ts";
import { nothingWords } from "./descriptions.ts";
import { HealthStrip } from "./distribution/health_strip.ts";
import { Histogram } from "./distribution/histogram.ts";
import { StatisticsLine } from "./distribution/statistics.ts";
import type { Entries } from "./entries.ts";
import { EntryPicker } from "./entry_picker.ts";
import { TensorHeader, type TensorProgress, Trouble, TrustLine, ViewBar } from "./header.ts";
import { LayoutPicker } from "./layout_picker.ts";
import { frame, part } from "./parts.ts";
import { ChannelGrid } from "./picture/channel_grid.ts";
import { ColorControls } from "./picture/color_controls.ts";
import { ColorLegend } from "./picture/color_legend.ts";
import { Crosshair } from "./picture/crosshair.ts";
import { PlaneOverview } from "./picture/overview.ts";
import { PlanePicture, type Plate } from "./picture/picture.ts";
import { ProfileView } from "./picture/profile_view.ts";
import { PlaneViewport } from "./picture/viewport.ts";
import type { Plane } from "./plane.ts";
import { type RequestedView, sameTensor } from "./requested_view.ts";
import type { InspectorCommands, ShowChoice, ShownTensor, TensorOptions } from "./state.ts";
import { copyNumbers } from "./values/code_text.ts";
import { cellCaption, Readout } from "./values/readout.ts";
import { MarkedRegion, RegionPanel } from "./values/region.ts";
import { TensorExport } from "./values/saving.ts";
import { TablePlace } from "./values/values_scroll.ts";
import { ValuesTable } from "./values/values_table.ts";

const UNREAD = "The tensor could not be read";

export class InspectorLayout {
  readonly picture: PlanePicture;
  readonly picker: EntryPicker;
  readonly histogram: Histogram;
  readonly table: ValuesTable;
  readonly profile: ProfileView;
  readonly saving: TensorExport;
  readonly cross: Crosshair;
  readonly marked: MarkedRegion;
  readonly panel: RegionPanel;
  readonly readout: Readout;
  readonly channels: ChannelGrid;
  readonly mirror = new Mirror();
  readonly #root: HTMLElement;
  readonly #commands: InspectorCommands;
  readonly #header: TensorHeader;
  readonly #health: HealthStrip;
  readonly #noted: () => number[];
  readonly #axes: AxisPickers;
  readonly #layouts: LayoutPicker;
  readonly #reading: ReadingPicker;
  readonly #controls: ColorControls;
  readonly #legend = new ColorLegend();
  readonly #trust: TrustLine;
  readonly #bar: ViewBar;
  readonly numbers: StatisticsLine;
  readonly #trouble: Trouble;
  readonly #frame: ReturnType<typeof frame>;
  readonly #valuesButton: HTMLButtonElement;
  readonly #tablePlace: TablePlace;
  #shown: ShownTensor | null = null;
  #progress: TensorProgress = { refining: false, stopped: false };
  #stated = "";

  constructor(
    root: HTMLElement,
    context: ViewContext<TensorOptions>,
    entries: Entries,
    commands: InspectorCommands,
  ) {
    const { run, session, signal } = context;
    this.#root = root;
    this.#commands = commands;
    this.#trouble = new Trouble(commands);
    this.picker = new EntryPicker(entries, commands, root, signal);
    this.#header = new TensorHeader(root, session, commands);
    this.#health = new HealthStrip(root, run, commands, this.#header, signal);
    this.#noted = () => session.notes.map(([node]) => node);
    this.#health.note(this.#noted());
    this.#axes = new AxisPickers(commands);
    this.#layouts = new LayoutPicker(commands);
    this.#reading = new ReadingPicker(commands);
    const viewport = new PlaneViewport();
    const overview = new PlaneOverview((row, col) => {
      if (viewport.center(row, col)) this.picture.moved();
    }, signal);
    this.picture = new PlanePicture(root, viewport, overview, commands, signal);
    this.histogram = new Histogram(root, commands, signal);
    this.numbers = new StatisticsLine(run, commands, signal);
    this.#controls = new ColorControls(commands);
    this.panel = new RegionPanel(root, commands, signal);
    this.marked = new MarkedRegion(this, run, commands, signal);
    this.#trust = new TrustLine(commands);
    this.table = new ValuesTable(run, commands, signal);
    this.profile = new ProfileView(root, run, commands, signal);
    this.channels = new ChannelGrid(root, run, commands, signal);
    this.saving = new TensorExport(root, run, this, signal);
    this.#valuesButton = iconButton(
      icons.TABLE,
      "values",
      "Show or hide the table of values (v)",
      () => this.toggleTable(),
    );
    this.#valuesButton.setAttribute("aria-pressed", "false");
    this.readout = new Readout(commands, [this.#valuesButton, this.saving.node]);
    this.cross = new Crosshair(this, run, commands, signal);
    this.#bar = new ViewBar(commands);
    this.#frame = frame({
      bar: this.#bar.node,
      axes: [this.#axes.node, this.#layouts.node],
      readout: this.readout.more,
      region: this.panel.node,
      stage: this.picture.stage,
      profile: this.profile.node,
      channels: this.channels.node,
      legend: this.#legend.node,
      controls: this.#controls.node,
      trust: this.#trust.node,
      statistics: this.numbers.node,
      histogram: this.histogram.node,
      table: this.table.node,
    });
    const { body, view } = this.#frame;
    const scroll = part(
      "scroll tvmdbg-column tvmdbg-fill",
      this.#health.node,
      this.#header.node,
      this.readout.node,
      this.#reading.node,
      this.#trouble.node,
      body,
    );
    this.#tablePlace = new TablePlace({
      ...{ scroll, body, view, stage: this.picture.stage, table: this.table.node },
    });
    root.replaceChildren(this.picker.node, scroll, this.mirror.node);
    onResize([scroll], () => this.#placeTable(), signal);
    copyNumbers(root, signal);
    root.addEventListener("tvmdbg:inspect", (event) => this.#inspect(event), { signal });
  }

  get shown(): ShownTensor | null {
    return this.#shown;
  }

  /** Shows the facts known before any value was read. */
  announce(entries: Entries, entry: Entry, row: number): void {
    this.picker.show(entry);
    this.#health.show(entry);
    this.#header.announce(entries, row);
    this.#reading.node.hidden = true;
  }

  noted(): void {
    this.#header.noted();
    this.#health.note(this.#noted());
  }

  /** Canvas of the left pane. */
  get canvas(): HTMLCanvasElement | null {
    if (this.#shown?.show === "channels") return this.channels.canvas;
    const stage = this.#shown?.show === "profile" ? this.profile.stage : this.picture.stage;
    return stage.querySelector("canvas");
  }

  /** Shows the changed parts. */
  show(
    shown: ShownTensor & { answer: TensorAnswer },
    plane: Plane | null,
    plate: Plate | null,
  ): void {
    const before = this.#shown;
    this.#hold(shown);
    const { answer, statistics } = shown;
    const nothing = plate === null;
    if (before?.statistics !== statistics || !sameTensor(before?.answer ?? null, answer)) {
      this.#header.show(shown);
      this.#reading.show(answer);
    }
    this.numbers.show(shown);
    this.histogram.show(shown);
    // A page without a kernel may have only the statistics of a tensor.
    this.#frame.body.hidden = nothing && !answer.unordered && !statistics?.statistics?.size;
    const { unordered = false } = answer;
    this.#frame.left.hidden = nothing && !unordered;
    if (answer.trouble) {
      this.#trouble.failed(UNREAD, answer.trouble, "Retry once it can be read again.");
    } else if (nothing && !unordered) {
      const { title, detail } = nothingWords(shown);
      this.#trouble.empty(title, detail);
    } else {
      this.#trouble.hide();
    }
    this.#axes.show(plane, answer.axisNames);
    this.#layouts.show(answer);
    this.table.show(shown);
    this.profile.show(shown);
    this.saving.show(shown);
    this.#controls.show(shown);
    this.#legend.show(shown);
    this.#frame.caption.textContent =
      shown.show === "picture" && answer.tile ? cellCaption(answer.tile, shown.cells) : "";
    this.channels.show(shown, plane);
    this.picture.show(plate);
    this.cross.over(shown);
    this.marked.over(shown);
    this.#frame.show(shown);
    this.#placeTable();
    this.progress(this.#progress);
  }

  typeIndex(): void {
    this.readout.focus();
  }

  /** Removes the region, else the crosshair. */
  clear(): void {
    if (this.marked.region) this.marked.mark(null);
    else this.cross.mark(null);
  }

  openChannel(): void {
    if (this.#shown?.show === "channels") this.channels.open();
  }

  nextLayout(): void {
    if (this.inTrouble) this.#commands.lay({ layout: "", sizes: null });
    else this.#layouts.next();
  }

  choose({ plane, names }: RequestedView): void {
    this.#axes.show(plane, names);
  }

  progress(progress: TensorProgress): void {
    this.#progress = progress;
    if (this.#shown) this.#trust.show(this.#shown, progress);
  }

  zoomed(show: ShowChoice): void {
    const { viewport } = this.picture;
    this.#bar.show(show, viewport.zoomed, viewport.canZoom);
  }

  empty(entry: Entry | null, title: string, detail: string): void {
    this.picker.show(entry, title);
    this.#header.clear();
    this.#trouble.empty(title, detail);
    this.#reading.node.hidden = true;
    this.#unread(entry);
    this.busy(false);
    this.#frame.body.hidden = true;
    this.mirror.say(`${title}. ${detail}`);
  }

  /** Keeps the choices, so that the user can go back to a readable tensor. */
  failed(wish: RequestedView, error: unknown): void {
    const hint = "Choose other axes or another tensor, show the axes as stored (a), or retry.";
    this.#trouble.failed(UNREAD, error, hint);
    this.#unread(wish.entry);
    this.choose(wish);
    this.mirror.say(`${UNREAD}: ${errorText(error)}`);
  }

  busy(busy: boolean): void {
    this.#root.setAttribute("aria-busy", String(busy));
  }

  get inTrouble(): boolean {
    return this.#trouble.shown;
  }

  toggleTable(): void {
    this.table.toggle();
    this.#placeTable();
    if (this.table.open) this.table.node.scrollIntoView({ block: "nearest" });
  }

  #placeTable(): void {
    const answer = this.#shown?.answer ?? null;
    const tile = this.#shown?.show === "picture" ? (answer?.tile ?? null) : null;
    const plane = tile && { rows: tile.planeRows, cols: tile.planeCols };
    this.#tablePlace.arrange(plane, answer?.unordered ?? false, this.#stated);
    this.#valuesButton.setAttribute("aria-pressed", String(this.table.open));
  }

  #unread(entry: Entry | null): void {
    this.#shown = null;
    this.cross.over(null);
    this.cross.readAgain();
    this.marked.over(null);
    this.table.show(null);
    this.#root.classList.add("tvmdbg-tensor-unread");
    this.#root.classList.toggle("tvmdbg-tensor-unstated", this.#stated !== entry?.join());
    this.#frame.body.hidden = this.#frame.left.hidden = false;
  }

  #hold(shown: ShownTensor): void {
    this.#shown = shown;
    this.#stated = shown.entry.join();
    this.#root.classList.remove("tvmdbg-tensor-unread", "tvmdbg-tensor-unstated");
  }

  #inspect(event: Event): void {
    const answer = this.#shown?.answer ?? null;
    Object.assign((event as CustomEvent<object>).detail, this.picture.inspect(), {
      histogram: this.histogram.inspect(),
      region: this.panel.inspect(),
      profile: this.profile.inspect(),
      channels: this.channels.inspect(),
      plane: answer && { entry: answer.entry, axes: answer.axes, index: answer.index },
    });
  }
}
