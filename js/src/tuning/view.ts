import { integer } from "../shared/format.ts";
import { AxisCamera, type AxisView } from "../shell/axis_camera.ts";
import { CodeCopy } from "../shell/code_copy.ts";
import type { Mirror } from "../shell/dom.ts";
import type { Gesture, PointerHandlers, PointerSpot } from "../shell/pointer.ts";
import { Stage } from "../shell/stage.ts";
import { Tooltip } from "../shell/tooltip.ts";
import type { ViewOptions } from "../shell/view.ts";
import { ErrorLegend, TrialFilter, TuningControls } from "./bar.ts";
import { TrialChart, toldAt } from "./chart.ts";
import { type ScheduleInfo, schedules, type TuningClient } from "./client.ts";
import {
  type Along,
  countTrials,
  type PaneName,
  SORTS,
  type Sort,
  type TrialScope,
  type TuningData,
  type TuningOptions,
} from "./data.ts";
import { chartWords, trialLines, trialsText } from "./descriptions.ts";
import { ErrorsPane, FindingsPane, Panes } from "./panes.ts";
import { nextFailure, nextImprovement, shownTrial, TrialScene, trialAt } from "./scene.ts";
import { SchedulePane } from "./schedule_pane.ts";
import { TaskTable } from "./task_table.ts";
import { TilesPane } from "./tiles_pane.ts";

export interface TuningContext {
  client: TuningClient;
  /** Calls when the log has grown. */
  onGrown: (listener: () => void) => void;
  options: ViewOptions<TuningOptions>;
  signal: AbortSignal;
  /** A saved page: without queries and comparison of schedules. */
  isSaved: boolean;
}

/** One view: connects its parts. */
export class TuningView implements AxisView, PointerHandlers {
  scene: TrialScene;
  readonly stage: Stage;
  readonly camera: AxisCamera;
  readonly bar: TuningControls;
  readonly table: TaskTable;
  readonly panes: Panes;
  readonly legend: ErrorLegend;
  readonly tooltip: Tooltip;
  readonly #schedule: SchedulePane;
  readonly #tiles: TilesPane;
  readonly #errors: ErrorsPane;
  readonly #findings: FindingsPane;
  readonly #filter: TrialFilter;
  readonly #root: HTMLElement;
  readonly client: TuningClient;
  readonly #scheduleOf: (trial: number) => Promise<ScheduleInfo>;
  readonly #options: ViewOptions<TuningOptions>;
  readonly isSaved: boolean;
  readonly #copier: CodeCopy;
  #pinned = -1;
  #tilesOf = -2;
  #due = false;

  constructor(
    root: HTMLElement,
    { client, options, signal, isSaved }: TuningContext,
    data: TuningData,
    readonly mirror: Mirror,
  ) {
    this.#root = root;
    this.client = client;
    this.#scheduleOf = schedules(client);
    this.#options = options;
    this.isSaved = isSaved;
    this.scene = new TrialScene(data);
    const title = Promise.resolve(data.info.title);
    const say = (text: string) => mirror.say(text);
    this.#copier = new CodeCopy(root, () => this.#code, say, title, signal);
    this.tooltip = new Tooltip(signal);
    this.stage = new Stage(root, "tvmdbg-tuning-base", () => new TrialChart(this), signal);
    this.camera = new AxisCamera(this, signal);
    this.bar = new TuningControls(this);
    this.table = new TaskTable(this);
    this.bar.field.hidden = !!isSaved;
    this.legend = new ErrorLegend(root, this);
    this.#filter = new TrialFilter(this);
    this.#schedule = new SchedulePane(root, this);
    this.#tiles = new TilesPane(root, this, signal);
    this.#errors = new ErrorsPane(root, this);
    this.#findings = new FindingsPane(this);
    this.panes = new Panes(
      {
        schedule: this.#schedule.node,
        tiles: this.#tiles.node,
        errors: this.#errors.node,
        findings: this.#findings.node,
      },
      this,
    );
  }

  get data(): TuningData {
    return this.scene.data;
  }

  /** Takes over the log, which may have grown; the current trial stays. */
  showLog(data: TuningData): void {
    const { viewport } = this.scene;
    const view = viewport.all ? null : ([viewport.start, viewport.end] as const);
    this.scene = new TrialScene(data);
    this.scene.along = this.#options.get("along");
    if (view) this.scene.viewport.show(...view);
    this.#tilesOf = -2;
    this.bar.showLog(data);
    this.legend.show(data, this.#filter.query);
    this.#errors.show(data);
    this.#findings.show(data);
    const failed = data.info.tasks.reduce((sum, task) => sum + task.trials - task.valid, 0);
    this.panes.count("errors", failed ? integer(failed) : "");
    this.panes.count(
      "findings",
      data.info.findings.length ? String(data.info.findings.length) : "",
    );
    this.stage.changed();
    if (this.#filter.query) void this.#filter.find(this.#filter.query);
    this.look();
  }

  showTheme(): void {
    this.showLog(this.data);
    this.#schedule.refresh();
  }

  focus(): void {
    this.#root.focus({ preventScroll: true });
  }

  /** Takes over the traits, once for all that change together. */
  look(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      this.#look();
    });
  }

  #look(): void {
    const scene = this.scene;
    const { data } = scene;
    const task = this.#options.get("task");
    scene.task = task !== null && task < data.info.tasks.length ? task : -1;
    const along = this.#options.get("along");
    scene.turn(data.info.timed ? along : "trial");
    scene.range = this.#options.get("trial_range");
    scene.trial = this.#trialShown;
    scene.changed();
    this.bar.show();
    this.#showTasks();
    this.panes.show(this.#options.get("pane"));
    this.#fillPane();
    const query = this.#options.get("query");
    if (query !== this.#filter.query) void this.#filter.find(query);
    this.stage.changed();
    this.mirror.say(this.#spoken);
  }

  get #trialShown(): number {
    const { data, task } = this.scene;
    return shownTrial(data, task, this.#options.get("trial"));
  }

  get #spoken(): string {
    const { data, task, trial } = this.scene;
    const words = [chartWords(data, task)];
    if (trial >= 0) words.push(trialLines(data, trial).join(", "));
    return words.join(". ");
  }

  #showTasks(): void {
    const { data, range, chosen } = this.scene;
    const counts = countTrials(data, range, chosen);
    const where = range ? ` (${trialsText(range)})` : "";
    this.table.show(data, this.#options.get("sort"), counts, where);
    this.table.mark(this.scene.task < 0 ? null : this.scene.task);
  }

  #fillPane(): void {
    const pane = this.#options.get("pane");
    const { trial, task, data } = this.scene;
    if (pane === "schedule") {
      if (this.#pinned >= 0 && trial >= 0 && trial !== this.#pinned) {
        void this.#schedule.showChange(this.client.ask("change", { a: this.#pinned, b: trial }));
      } else if (this.#schedule.asked !== trial || trial < 0) {
        void this.#schedule.show(trial, trial < 0 ? null : this.#scheduleOf(trial), !data.count);
      }
    }
    if (pane === "errors") this.#errors.look(this.#scope);
    if (pane !== "tiles") return;
    const of = task >= 0 ? task : data.info.tasks.length === 1 ? 0 : (data.task[trial] ?? -1);
    if (of !== this.#tilesOf) {
      this.#tilesOf = of;
      const request = of < 0 ? null : this.client.ask("tiles", { task: of });
      void this.#tiles.show(request, data);
    }
    this.#tiles.mark(trial);
  }

  get #scope(): TrialScope {
    const { task, range, chosen } = this.scene;
    if (this.isSaved) return { task: null, trials: null, query: "" };
    return { task: task < 0 ? null : task, trials: range, query: chosen ? this.#filter.query : "" };
  }

  pickTask(task: number | null): void {
    this.#options.set("trial", null);
    this.#options.set("task", task);
    this.focus();
  }

  pickTrial(trial: number): void {
    const { data } = this.scene;
    if (trial < 0 || trial >= data.count) return;
    if (this.scene.task >= 0) this.#options.set("task", data.task[trial]!);
    this.#options.set("trial", trial);
    this.#reveal(trial);
  }

  #reveal(trial: number): void {
    const { viewport } = this.scene;
    const value = this.scene.value(trial);
    if (Number.isNaN(value) || (value >= viewport.start && value <= viewport.end)) return;
    this.camera.move(() => viewport.reveal(value, value));
  }

  /** Moves by this many trials in the foreground. */
  step(by: number): void {
    this.#goTo(trialAt(this.scene, by));
  }

  otherTask(by: number): void {
    const { order } = this.table;
    const at = this.scene.task < 0 ? (by > 0 ? -1 : order.length) : order.indexOf(this.scene.task);
    const next = order[Math.min(order.length - 1, Math.max(0, at + by))];
    if (next !== undefined) this.pickTask(next);
  }

  best(): void {
    this.#options.set("trial", null);
    const trial = this.#trialShown;
    if (trial >= 0) this.pickTrial(trial);
    this.focus();
  }

  nextImprovement(): void {
    this.#goTo(nextImprovement(this.scene));
  }

  nextFailure(): void {
    const row = nextFailure(this.scene);
    if (row === undefined) this.mirror.say("none of these trials failed");
    this.#goTo(row);
  }

  #goTo(trial: number | undefined): void {
    if (trial !== undefined) this.pickTrial(trial);
  }

  showAlong(along: Along): void {
    this.#options.set("along", along);
    this.focus();
  }

  turnAxis(): void {
    if (!this.data.info.timed) {
      this.#copier.tell("This log has no times.");
      return;
    }
    this.showAlong(this.scene.along === "trial" ? "time" : "trial");
  }

  nextSort(): void {
    const sorts: readonly Sort[] = SORTS;
    const next = sorts[(sorts.indexOf(this.#options.get("sort")) + 1) % sorts.length]!;
    this.sortBy(next);
    this.mirror.say(`tasks sorted by ${next}`);
  }

  sortBy(sort: Sort): void {
    this.#options.set("sort", sort);
  }

  showPane(pane: PaneName): void {
    this.#options.set("pane", pane);
    this.focus();
  }

  /** Keeps the schedule to compare the next one with it; a second call releases it. */
  pin(): void {
    const { trial } = this.scene;
    this.#pinned = this.#pinned >= 0 ? -1 : trial;
    this.#schedule.keep(this.#pinned >= 0);
    if (this.#pinned >= 0) {
      this.#copier.tell(`Trial ${integer(trial)} is kept: select another to compare it.`);
    } else this.#fillPane();
    this.showPane("schedule");
  }

  zoom(factor: number): void {
    const { trial } = this.scene;
    this.camera.zoom(factor, trial < 0 ? Number.NaN : this.scene.value(trial));
  }

  moved(): void {
    this.bar.show();
    this.tooltip.hide();
    this.stage.changed();
  }

  countInView(): void {
    const { viewport } = this.scene;
    this.#options.set(
      "trial_range",
      viewport.all ? null : this.scene.between(viewport.start, viewport.end),
    );
  }

  drag({ x }: PointerSpot, { start, last, pans }: Gesture): void {
    this.leave();
    if (pans) this.camera.panBy(last.x - x);
    else {
      this.scene.dragged = [this.scene.at(start.x), this.scene.at(x)];
      this.stage.touched();
    }
  }

  /** Ends a drag: the trials in the range are counted from now on. */
  drop(at: PointerSpot | null, { start, pans }: Gesture): void {
    this.scene.dragged = null;
    this.stage.touched();
    if (!at || pans) return;
    const [from, to] = [Math.min(start.x, at.x), Math.max(start.x, at.x)];
    this.#options.set("trial_range", this.scene.between(this.scene.at(from), this.scene.at(to)));
  }

  doubleClick(): void {
    this.camera.all();
  }

  pinch(factor: number, { x }: PointerSpot): void {
    this.camera.zoom(1 / factor, this.scene.at(x));
  }

  hover({ x, y }: PointerSpot): void {
    this.#mark(this.scene.hit(x, y));
    const told = toldAt(this.scene, x, y);
    this.tooltip.tell(told?.lines ?? null, this.stage.node, x, y, told?.target);
  }

  leave(): void {
    this.tooltip.hide();
    this.#mark(-1);
  }

  #mark(trial: number): void {
    if (trial === this.scene.hovered) return;
    this.scene.hovered = trial;
    this.stage.touched();
  }

  click({ x, y }: PointerSpot): void {
    const row = this.scene.hit(x, y);
    const bin = row < 0 ? this.scene.binAt(x, y) : null;
    if (row >= 0) this.pickTrial(row);
    else if (bin) this.#options.set("trial_range", this.scene.between(bin.from, bin.to));
    else if (this.scene.range) this.#options.set("trial_range", null);
  }

  filter(query: string): void {
    if (query.trim() !== this.#options.get("query")) this.#options.set("query", query.trim());
  }

  showMatches(mask: Uint8Array | null): void {
    this.scene.chosen = mask?.length === this.data.count ? mask : null;
    this.scene.changed();
    this.#showTasks();
    this.#fillPane();
    this.stage.changed();
  }

  get #code(): string | null {
    const { trial } = this.scene;
    if (trial < 0) return "log";
    return this.#schedule.shown?.trial === trial
      ? this.#schedule.shown.python
      : `log.schedule(${trial})`;
  }

  copyText(code: string): void {
    this.#copier.copyText(code, "code");
  }

  copy(): void {
    const { trial } = this.scene;
    const { shown } = this.#schedule;
    if (shown?.trial === trial && shown.python) this.#copier.copyText(shown.python, "Python code");
    else this.#copier.copy();
  }

  clear(): void {
    if (this.#pinned >= 0) this.pin();
    else if (this.#options.get("trial_range")) this.#options.set("trial_range", null);
    else if (this.#options.get("trial") !== null) this.#options.set("trial", null);
    else if (this.#options.get("task") !== null) this.#options.set("task", null);
    else if (this.#options.get("query")) this.#options.set("query", "");
  }
}
