import { errorText } from "../shared/client/request.ts";
import type { Entry, TensorAnswer } from "../shared/client/tensor_questions.ts";
import * as icons from "../shared/drawing/icons.ts";
import { iconButton, Mirror, onResize } from "../shell/dom.ts";
import { AxisPickers, ReadingPicker } from "./axis_pickers.ts";
import { Choices } from "./choices.ts";
import { nothingWords } from "./descriptions.ts";
import { HealthStrip } from "./distribution/health_strip.ts";
import { Histogram } from "./distribution/histogram.ts";
import { StatisticsLine } from "./distribution/statistics.ts";
import { EntryPicker } from "./entry_picker.ts";
import { TensorHeader, type TensorProgress, Trouble, TrustLine, ViewBar } from "./header.ts";
import { LayoutPicker } from "./layout_picker.ts";
import { muted, part, TensorPart } from "./parts.ts";
import { ChannelGrid } from "./picture/channel_grid.ts";
import { ColorControls } from "./picture/color_controls.ts";
import { ColorLegend } from "./picture/color_legend.ts";
import { Crosshair } from "./picture/crosshair.ts";
import { PlanePicture, type Plate } from "./picture/picture.ts";
import { ProfileView } from "./picture/profile_view.ts";
import type { Plane } from "./plane.ts";
import { type RequestedView, sameTensor } from "./requested_view.ts";
import type { ShowChoice, ShownTensor, TensorHost } from "./state.ts";
import { copyNumbers } from "./values/code_text.ts";
import { cellCaption, Readout } from "./values/readout.ts";
import { MarkedRegion, RegionPanel } from "./values/region.ts";
import { TensorExport } from "./values/saving.ts";
import { ValuesTable } from "./values/values_table.ts";

/** Columns per row from which a plane takes more of the width. */
const WIDE = 1.5;
const UNREAD = "The tensor could not be read";

export class InspectorLayout extends TensorPart {
  readonly mirror = new Mirror();
  readonly #bar = new ViewBar(this.host);
  readonly #axes = new AxisPickers(this.host);
  readonly #layouts = new LayoutPicker(this.host);
  readonly #reading = new ReadingPicker(this.host);
  readonly #controls = new ColorControls(this.host);
  readonly #choices = new Choices(
    this.host,
    this.#bar.node,
    this.#reading.node,
    this.#axes.node,
    this.#layouts.node,
    this.#controls.node,
  );
  readonly picker = new EntryPicker(this.host, this.#choices.button);
  readonly picture = new PlanePicture(this.host);
  readonly histogram = new Histogram(this.host);
  readonly numbers = new StatisticsLine(this.host);
  readonly panel = new RegionPanel(this.host);
  readonly marked = new MarkedRegion(this.host, this);
  readonly table = new ValuesTable(this.host);
  readonly profile = new ProfileView(this.host);
  readonly channels = new ChannelGrid(this.host);
  readonly saving = new TensorExport(this.host, this);
  readonly #valuesButton = iconButton(
    icons.TABLE,
    "values",
    "Show or hide the table of values (v)",
    () => this.toggleTable(),
  );
  readonly readout = new Readout(this.host, [this.#valuesButton, this.saving.node]);
  readonly cross = new Crosshair(this.host, this);
  readonly #header = new TensorHeader(this.host);
  readonly #health = new HealthStrip(this.host, this.#header);
  readonly #legend = new ColorLegend();
  readonly #trust = new TrustLine(this.host);
  readonly #trouble = new Trouble(this.host);
  readonly #caption = muted();
  readonly #view = part("view", this.picture.stage, this.channels.node);
  readonly #left = part(
    "left tvmdbg-column",
    this.#trouble.node,
    this.#view,
    this.profile.node,
    this.#trust.node,
    this.readout.more,
  );
  readonly #body = part(
    "body tvmdbg-fill",
    this.#left,
    this.table.node,
    part(
      "right tvmdbg-shaded",
      part(
        "columns",
        part(
          "facts-column tvmdbg-column tvmdbg-gap-4",
          this.#header.node,
          this.numbers.node,
          this.panel.node,
        ),
        part(
          "spread-column tvmdbg-column tvmdbg-gap-4",
          this.histogram.node,
          this.#legend.node,
          this.#caption,
        ),
      ),
    ),
  );
  #shown: ShownTensor | null = null;
  #progress: TensorProgress = { refining: false, stopped: false };
  #stated = "";

  constructor(host: TensorHost) {
    super(host);
    const { root, signal } = host;
    this.#valuesButton.setAttribute("aria-pressed", "false");
    this.#choices.node.append(this.picker.kinds);
    this.#noted();
    root.replaceChildren(
      this.picker.node,
      this.#health.node,
      this.readout.node,
      this.#choices.node,
      this.#body,
      this.mirror.node,
      this.#health.tip.node,
    );
    onResize([root], () => this.#choices.resized(), signal);
    copyNumbers(root, signal);
    root.addEventListener("tvmdbg:inspect", (event) => this.#inspect(event), { signal });
  }

  get shown(): ShownTensor | null {
    return this.#shown;
  }

  /** Shows the facts known before any value was read. */
  announce(entry: Entry, row: number): void {
    this.picker.show(entry);
    this.#health.show(entry);
    this.#header.announce(row);
    this.#reading.node.hidden = true;
  }

  noted(): void {
    this.#header.noted();
    this.#noted();
  }

  /** Canvas of the left pane. */
  get canvas(): HTMLCanvasElement | null {
    if (this.#shown?.show === "channels") return this.channels.canvas;
    const stage = this.#shown?.show === "line plot" ? this.profile.stage : this.picture.stage;
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
    const { unordered = false, viewShape } = answer;
    const { dataset } = this.#body;
    dataset.show = unordered ? "values" : nothing ? "nothing" : shown.show;
    // A page without a kernel may have only the statistics of a tensor.
    dataset.counted = String(!nothing || unordered || !!statistics?.statistics?.size);
    dataset.wide = String(plate !== null && plate.planeCols > WIDE * plate.planeRows);
    dataset.single = String(viewShape.every((length) => length === 1));
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
    this.#caption.textContent =
      shown.show === "heatmap" && answer.tile ? cellCaption(answer.tile, shown.cells) : "";
    this.channels.show(shown, plane);
    this.picture.show(plate);
    this.cross.over(shown);
    this.marked.over(shown);
    this.#placeTable();
    this.progress(this.#progress);
  }

  /** Removes the region, else the crosshair. */
  clear(): void {
    if (this.marked.region) this.marked.mark(null);
    else this.cross.mark(null);
  }

  nextLayout(): void {
    if (this.inTrouble) this.host.lay({ layout: "", sizes: null });
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
    this.host.root.setAttribute("aria-busy", String(busy));
  }

  get inTrouble(): boolean {
    return this.#trouble.shown;
  }

  toggleTable(): void {
    this.table.toggle();
    this.#placeTable();
  }

  #placeTable(): void {
    this.#body.dataset.table = String(this.table.open);
    this.#valuesButton.setAttribute("aria-pressed", String(this.table.open));
  }

  #noted(): void {
    this.#health.note(this.host.session.notes.map(([node]) => node));
  }

  #unread(entry: Entry | null): void {
    this.#shown = null;
    this.cross.over(null);
    this.cross.readAgain();
    this.marked.over(null);
    this.table.show(null);
    this.host.root.classList.add("tvmdbg-tensor-unread");
    this.host.root.classList.toggle("tvmdbg-tensor-unstated", this.#stated !== entry?.join());
  }

  #hold(shown: ShownTensor): void {
    this.#shown = shown;
    this.#stated = shown.entry.join();
    this.host.root.classList.remove("tvmdbg-tensor-unread", "tvmdbg-tensor-unstated");
  }

  #inspect(event: Event): void {
    const answer = this.#shown?.answer ?? null;
    Object.assign((event as CustomEvent<object>).detail, {
      histogram: this.histogram.inspected(),
      region: this.panel.inspected(),
      profile: this.profile.inspected(),
      channels: this.channels.inspected(),
      plane: answer && { entry: answer.entry, axes: answer.axes, index: answer.index },
    });
  }
}
