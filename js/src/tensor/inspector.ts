import { CodeCopy } from "../shared/code_copy.ts";
import { errorText } from "../shared/message.ts";
import { isAbort } from "../shared/request.ts";
import type { GraphColumns } from "../shared/run_client.ts";
import type { Entry, StatisticsAnswer, TensorAnswer } from "../shared/tensor_questions.ts";
import type { ViewContext } from "../shared/view.ts";
import { Board, sameTensor } from "./board.ts";
import { codeText } from "./code_text.ts";
import { type CellChoice, type ColorChoice, colorScale } from "./color_scale.ts";
import { Counting } from "./counting.ts";
import type { Entries } from "./entries.ts";
import { follow } from "./follow.ts";
import type { LayoutWish } from "./layout_picker.ts";
import { Memory } from "./memory.ts";
import { DEFAULT_HEIGHT, firstLooks, type TensorOptions } from "./options.ts";
import type { Plate } from "./picture.ts";
import { Pictures } from "./pictures.ts";
import { axisText, fixedAxes, indexAt, locate, type Plane, samePlane, withIndex } from "./plane.ts";
import { type Region, SHOWS, type ShowChoice, type Shown, type ValueLook } from "./state.ts";
import { logicalIndex } from "./unfold.ts";
import { type PlaneWish, Wish } from "./wish.ts";
import { missingWords, tensorWords } from "./words.ts";

const SETTLE_MS = 200;

/** One tensor at a time: what is wanted of it, what is known, and what is shown on its board. */
export class Inspector {
  readonly #root: HTMLElement;
  readonly #context: ViewContext<TensorOptions>;
  readonly #entries: Entries;
  readonly #graph: GraphColumns | null;
  readonly #board: Board;
  readonly #pictures: Pictures;
  readonly #counting: Counting;
  readonly #codeCopy: CodeCopy;
  readonly #memory: Memory;
  readonly #wish = new Wish();

  #answer: TensorAnswer | null = null;
  #statistics: StatisticsAnswer | null = null;
  /** The tensor and reading that the statistics are of. */
  #counted = "";
  #colors: ColorChoice;
  #values: ValueLook;
  #show: ShowChoice;
  #cells: CellChoice = "mean";
  #settle: ReturnType<typeof setTimeout> | undefined;

  constructor(
    root: HTMLElement,
    context: ViewContext<TensorOptions>,
    entries: Entries,
    graph: GraphColumns | null,
  ) {
    const { options, run, signal } = context;
    this.#root = root;
    this.#context = context;
    this.#entries = entries;
    this.#graph = graph;
    const looks = firstLooks(options);
    [this.#colors, this.#values, this.#show] = [looks.colors, looks.values, looks.show];
    const leave = () => root.focus({ preventScroll: true });
    this.#board = new Board(root, context, entries, {
      pick: (entry) => this.pick(entry),
      step: (step) => this.step(step),
      leave,
      go: (index, space) => this.#go(index, space),
      mark: (point) => this.#board.cross.mark(point),
      recolor: (change) => this.recolor(() => change),
      look: (change) => this.value(change),
      read: (reading) => this.read(reading),
      plane: (plane) => this.look(() => plane),
      layout: (wish) => this.lay(wish),
      cells: (cells) => this.cells(() => cells),
      show: (show) => this.display(() => show),
      zoom: (factor) => this.zoom(factor),
      whole: () => this.whole(),
      count: (go) => this.count(go),
      stop: () => this.count(false),
      goOn: () => this.count(true),
      open: (axis, index) => this.open(axis, index),
      copy: () => this.copy(),
      words: () => this.#words(),
      wheel: (steps) => this.stepIndex(steps),
      moved: () => this.#moved(),
      resized: () => this.#resized(),
      painted: () => this.#painted(),
    });
    this.#board.picture.sight.show(options.get("region") ?? null);
    this.#pictures = new Pictures(
      run,
      this.#board.picture.sight,
      {
        answered: (answer) => this.#answered(answer),
        failed: (error) => this.#failed(error),
        busy: (busy) => this.#board.busy(busy),
        refining: (refining) => this.#progress(refining),
      },
      signal,
    );
    this.#counting = new Counting(
      run,
      { counted: (found) => this.#found(found), failed: (error) => this.#uncounted(error) },
      signal,
    );
    this.#memory = new Memory(options, signal);
    this.#codeCopy = new CodeCopy(
      root,
      () => codeText(this.#shown, this.#board.cross.read),
      (text) => this.#board.mirror.say(text),
      context,
    );
    this.#wish.reading = options.get("reading") ?? null;
    follow(this, context, this.#memory);
    this.#listen();
    this.resize();
  }

  start(): void {
    const { options, session } = this.#context;
    const first = options.get("entry") ?? session.entry ?? this.#entries.first();
    if (!first) {
      this.#empty("No tensors", "The run was read, but it holds no tensor.");
      return;
    }
    const layout = options.get("data_layout") ?? null;
    this.show(
      first,
      { axes: options.get("axes") ?? null, index: options.get("index") ?? null },
      layout === null ? null : { layout, sizes: {} },
    );
  }

  resize(): void {
    const height = this.#context.options.get("height") || DEFAULT_HEIGHT;
    this.#root.style.setProperty("--tvmdbg-tensor-height", `${height}px`);
  }

  /** The notes of the session have changed. */
  noted(): void {
    this.#board.noted();
    if (this.#answer) this.#board.mirror.say(this.#words());
  }

  /** Chooses an entry for all linked views. */
  pick(entry: Entry): void {
    this.#context.session.select(entry[0], "tensor", { output: entry[1] });
    this.show(entry);
  }

  /** Shows an entry in this view alone. */
  show(entry: Entry, plane: PlaneWish | null = null, layout: LayoutWish | null = null): void {
    const wish = this.#wish;
    if (!plane && wish.entry?.join() === entry.join()) return;
    this.#pictures.forget();
    this.#counting.forget();
    const row = this.#entries.row(entry);
    if (row === null) {
      wish.none(entry);
      const { title, detail } = missingWords(entry, this.#graph, this.#entries);
      this.#empty(title, detail);
      this.#remember();
      return;
    }
    const first = wish.entry === null;
    const same = wish.over(entry, this.#entries.shape(row), plane);
    if (layout) wish.layout = layout;
    if (!first) wish.reading = null;
    if (!same) {
      this.#board.cross.point = null;
      if (!first) this.#board.picture.sight.show(null);
    }
    this.#board.announce(this.#entries, entry, row);
    this.#remember();
    this.#want(null);
  }

  step(step: 1 | -1): void {
    const row = this.#entries.neighbour(this.#wish.entry, step, this.#board.picker.filter);
    if (row !== null) this.pick(this.#entries.entry(row));
    else {
      this.#board.mirror.say(step === 1 ? "This is the last tensor." : "This is the first tensor.");
    }
  }

  search(): void {
    this.#board.picker.focus();
  }

  get board(): Board {
    return this.#board;
  }

  stepIndex(steps: number): void {
    const plane = this.#wish.plane;
    const axis = plane && fixedAxes(plane).find((each) => plane.shape[each]! > 1);
    if (!plane || axis === null || axis === undefined) return;
    this.look(() => withIndex(plane, axis, plane.index[axis]! + steps));
  }

  openChannel(): void {
    if (this.#show === "channels") this.#board.channels.open();
  }

  /** Shows the plane at an index of an axis that has none. */
  open(axis: number, index: number): void {
    this.display(() => "picture");
    this.look((plane) => withIndex(plane, axis, index));
    this.#root.focus({ preventScroll: true });
  }

  /** Shows another plane; the crosshair stays at its value as far as the plane holds it. */
  look(change: (plane: Plane) => Plane): void {
    const before = this.#wish.plane;
    if (!before) return;
    const plane = change(before);
    if (samePlane(before, plane)) return;
    const { cross, picture } = this.#board;
    this.#wish.plane = plane;
    const turned = before.axes[0] === plane.axes[1] && before.axes[1] === plane.axes[0];
    if (before.axes[0] !== plane.axes[0] || before.axes[1] !== plane.axes[1]) {
      const region = picture.sight.region;
      picture.sight.resetTo(turned && region ? [region[1], region[0], region[3], region[2]] : null);
      if (cross.point) {
        const found = locate(plane, indexAt(before, cross.point));
        [this.#wish.plane, cross.point] = [found.plane, found.point];
      }
    }
    this.#board.choose(this.#wish.plane);
    this.#remember();
    this.#want(this.#answer);
  }

  /** Lays the axes out otherwise; the crosshair stays at its value. */
  lay(layout: LayoutWish | null): void {
    const { cross, picture } = this.#board;
    cross.point = this.#wish.lay(layout, cross.point);
    picture.sight.show(null);
    this.#remember();
    this.#want(null);
  }

  read(reading: string | null): void {
    this.#wish.read(reading);
    this.#remember();
    this.#want(null);
  }

  move(rows: number, cols: number): void {
    if (this.#show === "channels") {
      this.#board.channels.move(rows, cols);
      return;
    }
    if (this.#wish.plane && this.#answer?.tile)
      this.#board.cross.move(this.#wish.plane, rows, cols);
  }

  goToExtreme(which: "argmin" | "argmax"): void {
    const index = this.#statistics?.statistics?.[which];
    if (index) this.#go(index, "stored");
  }

  recolor(change: (colors: ColorChoice) => Partial<ColorChoice>): void {
    this.#colors = { ...this.#colors, ...change(this.#colors) };
    this.#draw();
    this.#remember();
  }

  cells(change: (cells: CellChoice) => CellChoice): void {
    this.#cells = change(this.#cells);
    this.#draw();
  }

  value(change: Partial<ValueLook>): void {
    this.#values = { ...this.#values, ...change };
    this.#draw();
    this.#remember();
  }

  display(change: (show: ShowChoice) => ShowChoice): void {
    const show = change(this.#show);
    if (show === this.#show || !SHOWS.includes(show)) return;
    this.#show = show;
    this.#draw();
    this.#remember();
    if (show === "picture" && this.#answer) this.#want(this.#answer);
  }

  zoom(factor: number): void {
    const { picture, cross } = this.#board;
    const layout = picture.sight.layout;
    const at = cross.point && layout && picture.placeOf(cross.point);
    if (picture.sight.zoom(factor, at ?? undefined)) picture.moved();
  }

  whole(): void {
    this.region(null);
    this.#root.focus({ preventScroll: true });
  }

  /** Brings a part of the plane into sight; null brings all of it. */
  region(region: Region | null): void {
    this.#board.picture.sight.show(region);
    this.#board.picture.moved();
  }

  /** Moves what is in sight by shares of itself. */
  pan(right: number, down: number): void {
    const { picture } = this.#board;
    const plot = picture.sight.layout?.plot;
    if (plot && picture.sight.pan(-right * plot.width, -down * plot.height)) picture.moved();
  }

  /** Looks at every value, or stops doing so. */
  count(go: boolean): void {
    if (go) {
      this.#counting.refine();
      if (this.#answer?.tile && !this.#answer.tile.exact) this.#pictures.goOn(this.#wish.view);
    } else {
      this.#pictures.stop();
      this.#counting.stop();
    }
  }

  toggleCount(): void {
    this.count(this.#pictures.stopped || this.#statistics?.state === "cancelled");
  }

  copy(): void {
    this.#codeCopy.copy();
  }

  #empty(title: string, detail: string): void {
    this.#answer = this.#statistics = null;
    this.#counted = "";
    this.#board.empty(this.#wish.entry, title, detail);
    this.#painted();
  }

  #go(index: readonly number[], space: "view" | "stored"): void {
    const [before, answer] = [this.#wish.plane, this.#answer];
    if (!before || !answer) return;
    const place = space === "stored" ? logicalIndex(answer, index) : index;
    if (place.length !== before.shape.length) return;
    if (place.some((each, axis) => each >= before.shape[axis]!)) {
      this.#board.mirror.say("That value is in the padding, which is hidden.");
      return;
    }
    const { plane, point } = locate(before, place);
    this.#root.focus({ preventScroll: true });
    if (this.#show === "channels") this.display(() => "picture");
    if (samePlane(before, plane)) {
      this.#board.cross.mark(point);
      return;
    }
    this.#board.cross.point = point;
    this.look(() => plane);
    this.#board.picture.reveal(point);
  }

  /** Shows what is wanted: from what is kept of a tensor that is known, else by asking. */
  #want(known: TensorAnswer | null): void {
    const { view, plane } = this.#wish;
    if (!view || !plane) return;
    this.#board.picture.measure();
    const tensor = `${view.entry.join()} ${view.reading}`;
    let beside: Promise<unknown> | null = null;
    if (this.#counted !== tensor) {
      this.#counted = tensor;
      this.#statistics = null;
      beside = this.#counting.begin(view.entry, view.reading).then(
        (found) => {
          if (this.#counted === tensor) this.#statistics = found;
        },
        (error) => this.#uncounted(error),
      );
    }
    this.#pictures.want(view, plane, known, beside);
  }

  #answered(answer: TensorAnswer): void {
    const { cross, picture } = this.#board;
    const before = this.#answer;
    this.#answer = answer;
    if (!this.#wish.answered(answer)) {
      cross.point = null;
      this.#board.choose(this.#wish.plane);
    }
    const key = `${answer.entry.join()} ${answer.reading}`;
    if (this.#counted !== key && this.#statistics) this.#counted = key;
    const tile = answer.tile;
    if (tile && tile.planeRows * tile.planeCols === 1) cross.point = { row: 0, col: 0 };
    this.#draw();
    this.#board.mirror.say(this.#words());
    cross.place(cross.point);
    if (!sameTensor(before, answer) && this.#statistics?.state === "sampled") {
      this.#counting.refine();
    }
    const empty = !tile || tile.planeRows * tile.planeCols === 0;
    if (empty || this.#show === "profile") this.#painted();
    else this.#moved();
  }

  #failed(error: unknown): void {
    this.#answer = null;
    const again = () => {
      this.#pictures.forget();
      this.#want(null);
    };
    this.#board.failed(this.#wish.entry, this.#wish.plane, errorText(error), again);
    this.#painted();
  }

  #draw(): void {
    const answer = this.#answer;
    if (!answer) return;
    const shown = { ...this.#shown, answer };
    this.#board.show(shown, this.#wish.plane, this.#plate(shown));
    this.#board.zoomed(this.#show);
  }

  #plate({ answer, scale, cells }: Shown & { answer: TensorAnswer }): Plate | null {
    const tile = answer.tile;
    if (!tile || tile.planeRows * tile.planeCols === 0) return null;
    const [down, across] = answer.axes;
    return {
      planeRows: tile.planeRows,
      planeCols: tile.planeCols,
      names: [axisText(answer.axisNames, down), axisText(answer.axisNames, across)],
      paint: { scale, cells },
      tiles: (layout) => this.#pictures.toDraw(answer, layout),
      whole: () => this.#pictures.whole(answer),
    };
  }

  #progress(refining: boolean): void {
    this.#board.progress({ refining, stopped: this.#pictures.stopped });
  }

  #words(): string {
    const { entry } = this.#wish;
    const note = entry ? this.#context.session.note(entry[0]) : "";
    return `${tensorWords(this.#shown)}${note ? `. Note: ${note}` : ""}`;
  }

  get #shown(): Shown {
    const [answer, statistics, colors] = [this.#answer, this.#statistics, this.#colors];
    return {
      entry: this.#wish.entry ?? [-1, 0],
      answer,
      statistics,
      show: this.#show,
      region: this.#board.picture.sight.region,
      colors,
      scale: colorScale({ statistics, tile: answer?.tile ?? null }, colors),
      cells: this.#cells,
      values: this.#values,
    };
  }

  #found(statistics: StatisticsAnswer): void {
    this.#statistics = statistics;
    this.#draw();
  }

  #uncounted(error: unknown): void {
    if (isAbort(error)) return;
    this.#board.mirror.say(`The values could not be counted: ${errorText(error)}`);
  }

  /** Another part is in sight. */
  #moved(): void {
    this.#board.zoomed(this.#show);
    this.#remember();
    if (this.#answer) this.#want(this.#answer);
  }

  #painted(): void {
    if (this.#answer || this.#board.inTrouble) this.#root.dataset.ready = "true";
    this.#root.dataset.entry = this.#answer ? this.#answer.entry.join(":") : "";
  }

  /** A larger picture may be worth more cells. */
  #resized(): void {
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => {
      if (this.#answer?.tile) this.#moved();
    }, SETTLE_MS);
  }

  #remember(): void {
    const { entry, plane, layout, reading } = this.#wish;
    const { scale, map, range } = this.#colors;
    const region = this.#board.picture.sight.region;
    this.#memory.keep({
      entry: entry && [...entry],
      color_scale: scale,
      color_map: map,
      color_range: typeof range === "string" ? range : [...range],
      data_layout: layout?.layout ?? null,
      reading,
      show: this.#show,
      region: region && [...region],
      value_format: this.#values.format,
      scale: this.#values.scale,
      zero_point: this.#values.zeroPoint,
      ...(plane && { axes: [...plane.axes], index: [...plane.index] }),
    });
  }

  #listen(): void {
    const { signal } = this.#context;
    this.#root.addEventListener(
      "tvmdbg:inspect",
      (event) => {
        const out = (event as CustomEvent<Record<string, unknown>>).detail;
        Object.assign(out, this.#board.inspect());
      },
      { signal },
    );
    signal.addEventListener("abort", () => clearTimeout(this.#settle));
  }
}
