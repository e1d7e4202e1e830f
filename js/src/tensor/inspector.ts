import { CodeCopy } from "../shared/code_copy.ts";
import { button } from "../shared/dom.ts";
import { helpButton } from "../shared/keys.ts";
import { errorText } from "../shared/message.ts";
import { Mirror } from "../shared/mirror.ts";
import { isAbort } from "../shared/request.ts";
import type { GraphColumns } from "../shared/run_client.ts";
import type { Entry, StatisticsAnswer, TensorAnswer } from "../shared/tensor_questions.ts";
import type { ViewContext } from "../shared/view.ts";
import { Asking } from "./asking.ts";
import { AxisPickers } from "./axis_pickers.ts";
import { ColorControls } from "./color_controls.ts";
import { type ColorChoice, colorScale } from "./color_scale.ts";
import { Counting } from "./counting.ts";
import { Crosshair } from "./crosshair.ts";
import type { Entries } from "./entries.ts";
import { EntryPicker } from "./entry_picker.ts";
import { follow } from "./follow.ts";
import { frame } from "./frame.ts";
import { Header } from "./header.ts";
import { Histogram } from "./histogram.ts";
import { legend } from "./legend.ts";
import { Memory } from "./memory.ts";
import { DEFAULT_HEIGHT, type TensorOptions } from "./options.ts";
import { Picture } from "./picture.ts";
import {
  fixedAxes,
  indexAt,
  locate,
  type Plane,
  planeOf,
  planeText,
  pythonText,
  samePlane,
  sameShape,
  withIndex,
} from "./plane.ts";
import { ReadingPicker } from "./reading_picker.ts";
import { answeredPlane, cellCaption, Readout } from "./readout.ts";
import type { Shown } from "./state.ts";
import { statisticsTable } from "./statistics.ts";
import { Trouble } from "./trouble.ts";
import { ValuesTable } from "./values_table.ts";
import { missingWords, nothingWords, tensorWords } from "./words.ts";

const SETTLE_MS = 200;

/** One tensor at a time: what is asked for, what was answered, and the parts that show it. */
export class Inspector {
  readonly #root: HTMLElement;
  readonly #context: ViewContext<TensorOptions>;
  readonly #entries: Entries;
  readonly #graph: GraphColumns | null;
  readonly #asking: Asking;
  readonly #counting: Counting;
  readonly #picker: EntryPicker;
  readonly #header: Header;
  readonly #axes: AxisPickers;
  readonly #picture: Picture;
  readonly #histogram: Histogram;
  readonly #controls: ColorControls;
  readonly #readout: Readout;
  readonly #table: ValuesTable;
  readonly #cross: Crosshair;
  readonly #codeCopy: CodeCopy;
  readonly #mirror = new Mirror();
  readonly #reading: ReadingPicker;
  readonly #memory: Memory;
  readonly #trouble = new Trouble();
  readonly #frame: ReturnType<typeof frame>;
  readonly #valuesButton = button("values", "Show or hide the table of values (v)", () =>
    this.toggleTable(),
  );

  #entry: Entry | null = null;
  #plane: Plane | null = null;
  #readAs: string | null = null;
  #answer: TensorAnswer | null = null;
  #statistics: StatisticsAnswer | null = null;
  /** The tensor and reading that the statistics are of. */
  #counted = "";
  /** The entry whose statistics are shown. */
  #stated = "";
  #colors: ColorChoice;
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
    this.#colors = {
      scale: options.get("color_scale") ?? "linear",
      map: options.get("color_map") ?? "auto",
      range: "tensor",
    };
    const focus = () => root.focus({ preventScroll: true });
    this.#picker = new EntryPicker(
      entries,
      { pick: (entry) => this.pick(entry), step: (step) => this.step(step), leave: focus },
      helpButton(root),
      signal,
    );
    this.#header = new Header(root, (node) => context.session.note(node));
    this.#axes = new AxisPickers((plane) => this.#look(plane), focus);
    this.#picture = new Picture(
      root,
      {
        point: () => this.#cross.readAgain(),
        pick: (point) => this.#cross.mark(point),
        wheel: (steps) => this.stepIndex(steps),
        painted: () => this.#painted(),
        resized: () => this.#resized(),
      },
      signal,
    );
    this.#asking = new Asking(
      run,
      this.#picture,
      {
        answered: (answer) => this.#answered(answer),
        failed: (error) => this.#failed(error),
        busy: (busy) => this.#busy(busy),
      },
      signal,
    );
    this.#counting = new Counting(
      run,
      { counted: (found) => this.#found(found), failed: (error) => this.#uncounted(error) },
      signal,
    );
    this.#histogram = new Histogram(
      root,
      { recolor: (change) => this.recolor(() => change), leave: focus },
      signal,
    );
    this.#controls = new ColorControls(this.#colors, (change) => this.recolor(() => change));
    this.#readout = new Readout(() => this.copy());
    this.#table = new ValuesTable(
      run,
      (point) => {
        focus();
        this.#cross.mark(point);
      },
      signal,
    );
    this.#cross = new Crosshair(
      {
        picture: this.#picture,
        table: this.#table,
        readout: this.#readout,
        mirror: this.#mirror,
      },
      run,
      () => this.#words(),
      signal,
    );
    this.#valuesButton.setAttribute("aria-pressed", "false");
    this.#reading = new ReadingPicker((reading) => {
      this.#readAs = reading;
      this.#ask();
    });
    this.#memory = new Memory(options, signal);
    this.#frame = frame({
      axes: this.#axes.node,
      readout: this.#readout.node,
      stage: this.#picture.stage,
      histogram: this.#histogram.node,
      controls: this.#controls.node,
      valuesButton: this.#valuesButton,
    });
    root.append(
      this.#picker.node,
      this.#header.node,
      this.#reading.node,
      this.#trouble.node,
      this.#frame.body,
      this.#table.node,
      this.#mirror.node,
    );
    this.#codeCopy = new CodeCopy(
      root,
      () => this.#code,
      (text) => this.#mirror.say(text),
      context,
    );
    follow(this, context, this.#memory);
    this.#listen();
    this.resize();
  }

  start(): void {
    const { options, session } = this.#context;
    const first = options.get("entry") ?? session.entry ?? this.#entries.first();
    if (first) this.show(first, planeWish(options.get("axes"), options.get("index")));
    else this.#empty("No tensors", "The run was read, but it holds no tensor.");
  }

  resize(): void {
    const height = this.#context.options.get("height") || DEFAULT_HEIGHT;
    this.#root.style.setProperty("--tvmdbg-tensor-height", `${height}px`);
  }

  /** The notes of the session have changed. */
  noted(): void {
    this.#header.noted();
    if (this.#answer) this.#mirror.say(this.#words());
  }

  /** Chooses an entry for all linked views. */
  pick(entry: Entry): void {
    this.#context.session.select(entry[0], "tensor", { output: entry[1] });
    this.show(entry);
  }

  /** Shows an entry in this view alone. */
  show(entry: Entry, wish: PlaneWish | null = null): void {
    if (!wish && this.#entry && entry[0] === this.#entry[0] && entry[1] === this.#entry[1]) return;
    this.#asking.forget();
    this.#entry = entry;
    this.#readAs = null;
    const row = this.#entries.row(entry);
    if (row === null) {
      const { title, detail } = missingWords(entry, this.#graph, this.#entries);
      this.#empty(title, detail);
      this.#remember();
      return;
    }
    const shape = this.#entries.shape(row);
    const same = this.#plane && sameShape(this.#plane.shape, shape);
    if (!same) this.#cross.point = null;
    if (wish) this.#plane = planeOf(shape, wish.axes, wish.index);
    else if (!same) this.#plane = planeOf(shape, null, null);
    this.#picker.show(entry);
    this.#header.announce(this.#entries, row);
    this.#reading.node.hidden = true;
    this.#remember();
    this.#ask();
  }

  step(step: 1 | -1): void {
    const row = this.#entries.neighbour(this.#entry, step, this.#picker.filter);
    if (row !== null) this.pick(this.#entries.entry(row));
    else this.#mirror.say(step === 1 ? "This is the last tensor." : "This is the first tensor.");
  }

  search(): void {
    this.#picker.focus();
  }

  stepIndex(steps: number): void {
    const axis =
      this.#plane && fixedAxes(this.#plane).find((each) => this.#plane!.shape[each]! > 1);
    if (!this.#plane || axis === null || axis === undefined) return;
    this.#look(withIndex(this.#plane, axis, this.#plane.index[axis]! + steps));
  }

  look(change: (plane: Plane) => Plane): void {
    if (this.#plane) this.#look(change(this.#plane));
  }

  move(rows: number, cols: number): void {
    if (this.#plane && this.#answer?.tile) this.#cross.move(this.#plane, rows, cols);
  }

  unmark(): void {
    this.#cross.mark(null);
  }

  goToExtreme(which: "argmin" | "argmax"): void {
    const index = this.#statistics?.statistics?.[which];
    if (index) this.#go(index);
  }

  /** The next cell of the picture that holds a NaN or an infinity. */
  goToNext(): void {
    this.#cross.toNextSpecial();
  }

  recolor(change: (colors: ColorChoice) => Partial<ColorChoice>): void {
    this.#colors = { ...this.#colors, ...change(this.#colors) };
    this.#controls.show(this.#colors);
    this.#draw();
    this.#histogram.show(this.#shown);
    this.#remember();
  }

  toggleCounts(): void {
    this.#histogram.toggleLog();
  }

  toggleTable(): void {
    this.#table.toggle();
    this.#valuesButton.setAttribute("aria-pressed", String(this.#table.open));
  }

  copy(): void {
    this.#codeCopy.copy();
  }

  get #code(): string | null {
    const [answer, point] = [this.#answer, this.#cross.read];
    if (!answer?.tile) return null;
    const plane = answeredPlane(answer);
    return point
      ? pythonText(answer.entry, indexAt(plane, point), answer.reading)
      : planeText(answer.entry, plane, answer.reading);
  }

  #empty(title: string, detail: string): void {
    this.#picker.show(this.#entry, title);
    this.#header.clear();
    this.#trouble.empty(title, detail);
    this.#reading.node.hidden = true;
    this.#hold(null);
    this.#plane = null;
    this.#table.show(null);
    this.#busy(false);
    this.#frame.body.hidden = true;
    this.#mirror.say(`${title}. ${detail}`);
    this.#painted();
  }

  #look(plane: Plane): void {
    const before = this.#plane;
    if (!before || samePlane(before, plane)) return;
    const axesStay = before.axes[0] === plane.axes[0] && before.axes[1] === plane.axes[1];
    if (!axesStay && this.#cross.point) {
      const found = locate(plane, indexAt(before, this.#cross.point));
      this.#plane = found.plane;
      this.#cross.point = found.point;
    } else this.#plane = plane;
    this.#axes.show(this.#plane);
    this.#remember();
    this.#ask();
  }

  #go(index: readonly number[]): void {
    if (!this.#plane || index.length !== this.#plane.shape.length) return;
    const { plane, point } = locate(this.#plane, index);
    const moves = !samePlane(this.#plane, plane);
    this.#plane = plane;
    this.#axes.show(plane);
    this.#root.focus({ preventScroll: true });
    if (!moves) {
      this.#cross.mark(point);
      return;
    }
    this.#cross.point = point;
    this.#remember();
    this.#ask();
  }

  #ask(): void {
    if (!this.#entry || !this.#plane) return;
    const tensor = `${this.#entry.join()} ${this.#readAs}`;
    let beside: Promise<unknown> | null = null;
    if (this.#counted !== tensor) {
      this.#counted = tensor;
      this.#statistics = null;
      beside = this.#counting.begin(this.#entry, this.#readAs).then(
        (found) => {
          if (this.#counted === tensor) this.#statistics = found;
        },
        (error) => this.#uncounted(error),
      );
    }
    this.#asking.ask(this.#entry, this.#plane, this.#readAs, beside);
  }

  #answered(answer: TensorAnswer): void {
    const before = this.#answer;
    const sameTensor =
      before !== null &&
      before.entry.join() === answer.entry.join() &&
      before.reading === answer.reading;
    this.#hold(answer);
    if (this.#plane && !sameShape(this.#plane.shape, answer.viewShape)) {
      this.#plane = planeOf(answer.viewShape, answer.axes, answer.index);
      this.#cross.point = null;
    }
    const tile = answer.tile;
    if (tile && tile.planeRows * tile.planeCols === 1) this.#cross.point = { row: 0, col: 0 };
    if (!sameTensor) {
      const shown = { ...this.#shown, answer };
      this.#header.show(shown);
      this.#reading.show(answer);
      this.#frame.statistics.replaceChildren(
        statisticsTable(shown, { go: (index) => this.#go(index) }),
      );
      this.#histogram.show(shown);
      if (this.#statistics?.state === "sampled") this.#counting.refine();
    }
    const nothing = !tile || tile.planeRows * tile.planeCols === 0;
    this.#trouble.hide();
    // A page without a kernel may hold the statistics of a tensor and nothing else of it.
    this.#frame.body.hidden = nothing && !this.#statistics?.statistics?.size;
    this.#frame.left.hidden = nothing;
    if (nothing) {
      const { title, detail } = nothingWords({ ...this.#shown, answer });
      this.#trouble.empty(title, detail);
    }
    this.#axes.show(this.#plane);
    this.#table.show(answer);
    this.#draw();
    this.#mirror.say(this.#words());
    this.#cross.place(this.#cross.point);
    if (nothing) this.#painted();
  }

  /** What can be chosen stays, so that one can go back to what could be read. */
  #failed(error: unknown): void {
    const title = "The tensor could not be read";
    const words = errorText(error);
    const retry = () => this.#ask();
    this.#trouble.failed(title, `${words}\nChoose another plane, another tensor, or retry.`, retry);
    this.#hold(null);
    this.#axes.show(this.#plane);
    this.#table.show(null);
    this.#mirror.say(`${title}: ${words}`);
    this.#painted();
  }

  /** Keeps what was answered; without an answer, the choice of a plane is shown, and numbers if they are this tensor's. */
  #hold(answer: TensorAnswer | null): void {
    this.#answer = answer;
    this.#cross.over(answer);
    if (answer) this.#stated = answer.entry.join();
    const stated = this.#stated === this.#entry?.join();
    this.#root.classList.toggle("tvmdbg-tensor-unread", answer === null);
    this.#root.classList.toggle("tvmdbg-tensor-unstated", !stated);
    if (answer === null) this.#frame.body.hidden = this.#frame.left.hidden = false;
  }

  #draw(): void {
    const answer = this.#answer;
    if (!answer) return;
    const shown = this.#shown;
    this.#picture.show(answer, shown.scale);
    this.#frame.legend.replaceChildren(legend(shown));
    this.#frame.caption.textContent = cellCaption(answer);
  }

  #words(): string {
    const note = this.#entry ? this.#context.session.note(this.#entry[0]) : "";
    return `${tensorWords(this.#shown)}${note ? `. Note: ${note}` : ""}`;
  }

  get #shown(): Shown {
    const [answer, statistics, colors] = [this.#answer, this.#statistics, this.#colors];
    return {
      entry: this.#entry ?? [-1, 0],
      answer,
      statistics,
      show: "picture",
      region: null,
      colors,
      scale: colorScale({ statistics, tile: answer?.tile ?? null }, colors),
      cells: "mean",
      values: { format: "number", scale: 1, zeroPoint: 0 },
    };
  }

  #found(statistics: StatisticsAnswer): void {
    this.#statistics = statistics;
    if (!this.#answer) return;
    const shown = { ...this.#shown, answer: this.#answer };
    this.#header.show(shown);
    this.#frame.statistics.replaceChildren(
      statisticsTable(shown, { go: (index) => this.#go(index) }),
    );
    this.#histogram.show(shown);
    this.#draw();
  }

  #uncounted(error: unknown): void {
    if (!isAbort(error)) this.#mirror.say(`The values could not be counted: ${errorText(error)}`);
  }

  #busy(busy: boolean): void {
    this.#root.setAttribute("aria-busy", String(busy));
  }

  #painted(): void {
    if (this.#answer || this.#trouble.shown) this.#root.dataset.ready = "true";
    this.#root.dataset.entry = this.#answer ? this.#answer.entry.join(":") : "";
  }

  /** A larger picture may be worth more cells. */
  #resized(): void {
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => {
      const tile = this.#answer?.tile;
      if (!tile || !this.#plane || tile.rowStep * tile.colStep === 1) return;
      if (this.#asking.couldBeFiner(this.#plane)) this.#ask();
    }, SETTLE_MS);
  }

  #remember(): void {
    const { scale, map } = this.#colors;
    this.#memory.keep({
      entry: this.#entry && [...this.#entry],
      color_scale: scale,
      color_map: map,
      ...(this.#plane && { axes: [...this.#plane.axes], index: [...this.#plane.index] }),
    });
  }

  #listen(): void {
    const { signal } = this.#context;
    this.#root.addEventListener(
      "tvmdbg:inspect",
      (event) => {
        const out = (event as CustomEvent<Record<string, unknown>>).detail;
        Object.assign(out, this.#picture.inspect(), { histogram: this.#histogram.inspect() });
      },
      { signal },
    );
    signal.addEventListener("abort", () => clearTimeout(this.#settle));
  }
}

interface PlaneWish {
  axes: TensorOptions["axes"];
  index: TensorOptions["index"];
}

function planeWish(axes: TensorOptions["axes"], index: TensorOptions["index"]): PlaneWish {
  return { axes: axes ?? null, index: index ?? null };
}
