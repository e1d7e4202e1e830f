import { errorText, isAbort } from "../shared/client/request.ts";
import type { Entry, StatisticsAnswer, TensorAnswer } from "../shared/client/tensor_questions.ts";
import { tensorWords } from "./descriptions.ts";
import type { InspectorLayout } from "./inspector_layout.ts";
import { TensorPart } from "./parts.ts";
import { type ColorScale, colorScale, sameScale } from "./picture/color_scale.ts";
import type { Plate } from "./picture/picture.ts";
import { Pictures, type PicturesHost } from "./picture/pictures.ts";
import { answeredPlane, axisAlong, axisText, fixedAxes, withIndex } from "./plane.ts";
import { type RequestedView, sameTensor, withPicture } from "./requested_view.ts";
import { hasValues, type Region, type ShownTensor, type TensorHost } from "./state.ts";

const POLL_MS = 150;

/** Statistics of one complete tensor: at once those known, then exact ones. */
class StatisticsLoader extends TensorPart<Pick<TensorLoader, "recounted" | "uncounted">> {
  #question: { entry: Entry; reading: string | null } | null = null;
  #scanning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ticket = 0;

  /** Known counts of another tensor or reading. */
  begin(entry: Entry, reading: string | null): Promise<StatisticsAnswer> {
    this.forget();
    this.#question = { entry, reading };
    return this.host.run.ask("statistics", { ...this.#question, exact: false });
  }

  /** Releases the tensor; a pass that only this view waits for ends. */
  forget(): void {
    if (this.#scanning) this.#cancel().catch(() => {});
    this.#ticket += 1;
    this.#scanning = false;
    clearTimeout(this.#timer);
  }

  refine(): void {
    if (this.#scanning || !this.#question) return;
    this.#scanning = true;
    this.#follow(++this.#ticket);
  }

  /** Stops the pass and keeps its results so far. */
  async stop(): Promise<void> {
    if (!this.#scanning) return;
    const ticket = ++this.#ticket;
    this.#scanning = false;
    clearTimeout(this.#timer);
    try {
      const answer = await this.#cancel();
      if (ticket === this.#ticket) this.beside.recounted(answer);
    } catch (error) {
      if (ticket === this.#ticket) this.beside.uncounted(error);
    }
  }

  #cancel(): Promise<StatisticsAnswer> {
    return this.host.run.ask("cancelTensor", this.#question!);
  }

  async #follow(ticket: number): Promise<void> {
    try {
      const answer = await this.host.run.ask("statistics", { ...this.#question!, exact: true });
      if (ticket !== this.#ticket) return;
      this.#scanning = answer.state === "scanning";
      this.beside.recounted(answer);
      if (this.#scanning) this.#timer = setTimeout(() => this.#follow(ticket), POLL_MS);
    } catch (error) {
      if (ticket !== this.#ticket) return;
      this.#scanning = false;
      this.beside.uncounted(error);
    }
  }
}

/** Loads the requested tensor's plane and statistics, and shows them in the panels. */
export class TensorLoader extends TensorPart implements PicturesHost {
  readonly #pictures: Pictures;
  readonly #counting = new StatisticsLoader(this.host, this);
  #answer: TensorAnswer | null = null;
  #statistics: StatisticsAnswer | null = null;
  /** Statistics held back until the picture comes. */
  #early: StatisticsAnswer | null = null;
  #counted = "";
  /** Keeps its identity while equal, so that painted tiles stay valid. */
  #scale: ColorScale | null = null;

  constructor(
    host: TensorHost,
    readonly panels: InspectorLayout,
    readonly wish: RequestedView,
  ) {
    super(host);
    host.signal.addEventListener("abort", () => this.#counting.forget());
    this.#pictures = new Pictures(host.run, wish, panels.picture.viewport, this, host.signal);
  }

  get answer(): TensorAnswer | null {
    return this.#answer;
  }

  get statistics(): StatisticsAnswer | null {
    return this.#statistics;
  }

  forget(): void {
    this.#pictures.forget();
    this.#counting.forget();
  }

  clear(): void {
    this.#answer = this.#statistics = this.#early = null;
    this.#counted = "";
  }

  count(go: boolean): void {
    if (go) {
      this.#counting.refine();
      if (this.#answer?.tile && !this.#answer.tile.exact) this.#pictures.goOn();
    } else {
      this.#pictures.stop();
      this.#counting.stop();
    }
  }

  toggleCount(): void {
    this.count(this.#pictures.stopped || this.#statistics?.state === "cancelled");
  }

  /** Shows the requested view from the cache, else requests it. */
  want(known: TensorAnswer | null): void {
    const { view } = this.wish;
    if (!view) return;
    if (!known) this.panels.picture.measure();
    const tensor = `${view.entry.join()} ${view.reading}`;
    let beside: Promise<unknown> | null = null;
    if (this.#counted !== tensor) {
      this.#counted = tensor;
      this.#early = null;
      beside = this.#counting.begin(view.entry, view.reading).then(
        (answer) => {
          if (this.#counted === tensor) this.#early = answer;
        },
        (error) => this.uncounted(error),
      );
    }
    this.#pictures.want(known, beside);
  }

  answered(reply: TensorAnswer): void {
    const { cross } = this.panels;
    const before = this.#answer;
    const answer = withPicture(reply, before);
    this.#answer = answer;
    this.#statistics = this.#early;
    if (!this.wish.answered(answer)) {
      cross.point = null;
      this.panels.choose(this.wish);
    }
    const key = `${answer.entry.join()} ${answer.reading}`;
    if (this.#counted !== key && this.#statistics) this.#counted = key;
    const tile = answer.tile;
    this.panels.picture.viewport.over(tile?.planeRows ?? 0, tile?.planeCols ?? 0, true);
    const { shape, axes } = answeredPlane(answer);
    const isLone = axes.every((axis) => axis === null || shape[axis] === 1);
    if (hasValues(answer) && isLone) cross.point = { row: 0, col: 0 };
    this.draw();
    this.panels.mirror.tell(this.words(), sameTensor(before, answer));
    cross.place(cross.point);
    if (!sameTensor(before, answer) && this.#statistics?.state === "sampled") {
      this.#counting.refine();
    }
    const empty = !tile || tile.planeRows * tile.planeCols === 0;
    if (empty || this.wish.show === "line plot") this.host.painted();
    else this.host.moved();
  }

  failed(error: unknown): void {
    this.#answer = null;
    this.panels.failed(this.wish, error);
    this.host.painted();
  }

  busy(busy: boolean): void {
    this.panels.busy(busy);
  }

  refining(refining: boolean): void {
    this.panels.progress({ refining, stopped: this.#pictures.stopped });
  }

  /** Asks again after an error. */
  again(): void {
    this.#pictures.forget();
    if (!this.#early) this.#counted = "";
    this.want(null);
  }

  draw(): void {
    const answer = this.#answer;
    if (!answer) return;
    const shown = { ...this.shown, answer };
    this.panels.show(shown, this.wish.plane, this.#plate(shown));
    this.panels.zoomed(this.wish.show);
  }

  #plate({ answer, scale, cells }: ShownTensor & { answer: TensorAnswer }): Plate | null {
    const tile = answer.tile;
    if (!tile || tile.planeRows * tile.planeCols === 0) return null;
    const [down, across] = answer.axes;
    return {
      planeRows: tile.planeRows,
      planeCols: tile.planeCols,
      names: [axisText(answer.axisNames, down), axisText(answer.axisNames, across)],
      dtype: answer.valueDtype,
      paint: { scale, cells },
      tiles: (layout) => this.#pictures.toDraw(answer, layout),
      whole: () => this.#pictures.whole(answer),
    };
  }

  words(): string {
    const { entry } = this.wish;
    const note = entry ? this.host.session.note(entry[0]) : "";
    return `${tensorWords(this.shown)}${note ? `. Note: ${note}` : ""}`;
  }

  get shown(): ShownTensor {
    const [answer, statistics] = [this.#answer, this.#statistics];
    const { colors, cells, values } = this.wish;
    const show = answer?.unordered ? "heatmap" : this.wish.show;
    const scale = colorScale({ statistics, tile: answer?.tile ?? null }, colors);
    if (!sameScale(scale, this.#scale)) this.#scale = scale;
    const pictured = answer && show === "channels" ? answer.axes : [];
    return {
      entry: answer?.entry ?? this.wish.entry ?? [-1, 0],
      answer,
      statistics,
      show,
      along: answer && show !== "heatmap" ? axisAlong(answer, pictured, this.wish.along) : null,
      region: this.panels.picture.viewport.region,
      colors,
      scale: this.#scale,
      cells,
      values,
    };
  }

  /** Takes more counts of the current tensor. */
  recounted(statistics: StatisticsAnswer): void {
    this.#early = this.#statistics = statistics;
    this.draw();
  }

  uncounted(error: unknown): void {
    if (isAbort(error)) return;
    this.panels.mirror.say(`The values could not be counted: ${errorText(error)}`);
  }
}

/** Moves the visible part, and the crosshair or the chosen channel, by steps. */
export class TensorNavigation extends TensorPart {
  constructor(
    host: TensorHost,
    readonly panels: InspectorLayout,
    readonly wish: RequestedView,
  ) {
    super(host);
  }

  /** Zooms in by a factor at the crosshair, else in the middle. */
  zoom(factor: number): void {
    const { picture, cross } = this.panels;
    const at = cross.point && picture.placeOf(cross.point);
    if (picture.viewport.zoom(factor, at ?? undefined)) picture.moved();
  }

  region(region: Region | null): void {
    this.panels.picture.viewport.show(region);
    this.panels.picture.moved();
  }

  /** Moves the visible part by shares of itself. */
  pan(right: number, down: number): void {
    const { picture } = this.panels;
    const plot = picture.viewport.layout?.plot;
    if (plot && picture.viewport.pan(-right * plot.width, -down * plot.height)) picture.moved();
  }

  /** Moves the crosshair, or the chosen channel. */
  move(rows: number, cols: number): void {
    const { shown, channels, cross } = this.panels;
    const { plane } = this.wish;
    if (shown?.show === "channels") channels.move(rows, cols);
    else if (plane && shown?.answer && hasValues(shown.answer)) cross.move(plane, rows, cols);
  }

  /** Moves the corner of the marked region, which begins at the crosshair. */
  mark(rows: number, cols: number): void {
    const { shown, cross, marked } = this.panels;
    const { plane } = this.wish;
    if (!plane || shown?.show !== "heatmap" || !shown.answer?.tile) return;
    cross.put(marked.extend(plane, cross.point ?? { row: 0, col: 0 }, rows, cols));
  }

  /** Moves along the first fixed axis. */
  index(steps: number): void {
    const { plane } = this.wish;
    const axis = plane ? fixedAxes(plane).find((axis) => plane.shape[axis]! > 1) : undefined;
    if (!plane || axis === undefined) return;
    this.host.look(() => withIndex(plane, axis, plane.index[axis]! + steps));
  }

  turns(by: number): boolean {
    const { plane } = this.wish;
    const axis = plane ? fixedAxes(plane).find((axis) => plane.shape[axis]! > 1) : undefined;
    if (!plane || axis === undefined) return false;
    return by < 0 ? plane.index[axis]! > 0 : plane.index[axis]! < plane.shape[axis]! - 1;
  }
}
