import type { Client } from "../shared/client/client.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import type { Entry, KnownLayout, TensorAnswer } from "../shared/client/tensor_questions.ts";
import { logicalIndex } from "../shared/unfold.ts";
import { CodeCopy, titleOf } from "../shell/code_copy.ts";
import type { KeyAction } from "../shell/keys.ts";
import type { ViewContext, ViewOptions } from "../shell/view.ts";
import { missingWords } from "./descriptions.ts";
import type { Entries } from "./entries.ts";
import { InspectorLayout } from "./inspector_layout.ts";
import { following } from "./layout_picker.ts";
import type { CellChoice, ColorChoice } from "./picture/color_scale.ts";
import { axesAlong, indexAt, locate, type Plane, samePlane, withIndex } from "./plane.ts";
import { type Opening, opening, RequestedView } from "./requested_view.ts";
import {
  type KeptOptions,
  type LayoutWish,
  SHOWS,
  type ShowChoice,
  type TensorHost,
  type TensorOptions,
  type ValueLook,
} from "./state.ts";
import { codeText, typedIndex } from "./values/code_text.ts";
import { TensorLoader, TensorNavigation } from "./viewing.ts";

const SETTLE_MS = 200;
/** Time the view must rest before Python gets its options. */
const KEEP_MS = 250;
const REST_MS = 120;

/** Shows one tensor at a time: connects the requested view, the loaded data and the panels. */
export class Inspector implements TensorHost {
  readonly run: Client;
  readonly session: SessionClient;
  readonly signal: AbortSignal;
  readonly panels: InspectorLayout;
  readonly viewing: TensorLoader;
  readonly steering: TensorNavigation;
  readonly #options: ViewOptions<TensorOptions>;
  readonly #codeCopy: CodeCopy;
  readonly wish: RequestedView;
  /** Entry that the view opened with by default. */
  #opened: string | undefined;
  #settle: ReturnType<typeof setTimeout> | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #keep: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly root: HTMLElement,
    { run, session, options, signal }: ViewContext<TensorOptions>,
    readonly entries: Entries,
  ) {
    this.run = run;
    this.session = session;
    this.signal = signal;
    this.#options = options;
    this.wish = new RequestedView(options);
    this.panels = new InspectorLayout(this);
    this.panels.picture.viewport.show(options.get("region") ?? null);
    this.steering = new TensorNavigation(this, this.panels, this.wish);
    this.viewing = new TensorLoader(this, this.panels, this.wish);
    this.#codeCopy = new CodeCopy(
      root,
      () => codeText(this.viewing.shown, this.panels.cross.read, this.panels.marked.region),
      (text) => this.panels.mirror.say(text),
      titleOf(run),
      signal,
    );
    this.panels.marked.mark(options.get("marked_region") ?? null);
    signal.addEventListener("abort", () => {
      for (const timer of [this.#settle, this.#rest, this.#keep]) clearTimeout(timer);
    });
  }

  start(): void {
    const chosen = this.#options.get("entry") ?? this.session.entry;
    const first = chosen ?? this.entries.first();
    if (!chosen) this.#opened = first?.join();
    if (!first) {
      this.#empty("No tensors", "This run has no tensors.");
      return;
    }
    this.show(first, opening(this.#options));
  }

  /** Replaces the default entry, unless the user has chosen one. */
  openAt(entry: Entry): void {
    if (this.session.entry || this.wish.entry?.join() !== this.#opened) return;
    this.show(entry);
    this.#opened = entry.join();
  }

  noted(): void {
    this.panels.noted();
    if (this.viewing.answer) this.panels.mirror.tell(this.viewing.words());
  }

  pick(entry: Entry): void {
    this.session.select(entry[0], "tensor", { output: entry[1] });
    this.show(entry);
  }

  shows(entry: Entry): boolean {
    return this.wish.entry?.join() === entry.join();
  }

  show(entry: Entry, opening: Opening | null = null): void {
    const wish = this.wish;
    if (!opening && this.shows(entry)) return;
    this.viewing.forget();
    const row = this.entries.row(entry);
    if (row === null) {
      wish.none(entry);
      const { title, detail } = missingWords(entry, this.entries);
      this.#empty(title, detail);
      this.remember();
      return;
    }
    const first = wish.entry === null;
    const same = wish.over(entry, this.entries.shape(row), opening);
    if (!same) {
      this.panels.cross.point = null;
      if (!first) {
        this.panels.picture.viewport.resetTo(null);
        this.panels.marked.mark(null);
      }
    }
    this.panels.announce(entry, row);
    this.remember();
    this.viewing.want(null);
  }

  step(step: 1 | -1): void {
    const row = this.entries.neighbor(this.wish.entry, step, this.panels.picker.filter);
    if (row !== null) this.pick(this.entries.entry(row));
    else this.panels.mirror.say(`This is the ${step === 1 ? "last" : "first"} tensor.`);
  }

  /** Shows the plane at an index of a free axis. */
  open(axis: number, index: number): void {
    this.display("heatmap");
    this.look((plane) => withIndex(plane, axis, index));
    this.leave();
  }

  /** Shows another plane; the crosshair stays at its value if the plane contains it. */
  look(change: (plane: Plane) => Plane): void {
    const before = this.wish.plane;
    if (!before) return;
    const plane = change(before);
    if (samePlane(before, plane)) return;
    const { cross, marked, picture } = this.panels;
    this.wish.plane = plane;
    const turned = before.axes[0] === plane.axes[1] && before.axes[1] === plane.axes[0];
    if (before.axes[0] !== plane.axes[0] || before.axes[1] !== plane.axes[1]) {
      const region = picture.viewport.region;
      picture.viewport.resetTo(
        turned && region ? [region[1], region[0], region[3], region[2]] : null,
      );
      marked.mark(null);
      if (cross.point) {
        const located = locate(plane, indexAt(before, cross.point));
        [this.wish.plane, cross.point] = [located.plane, located.point];
      }
    }
    this.panels.choose(this.wish);
    this.#ask(this.viewing.answer);
  }

  /** Changes the layout of the axes; the crosshair stays at its value if the new axes are known. */
  lay(layout: LayoutWish, known?: KnownLayout, wish: Opening | null = null): void {
    if (JSON.stringify(layout) === JSON.stringify(this.wish.layout)) return;
    if (wish && this.wish.entry && layout.layout && !this.wish.laid(layout)) {
      this.show(this.wish.entry, wish);
      return;
    }
    const { cross, marked, picture } = this.panels;
    cross.point = this.wish.lay(layout, cross.point, known);
    picture.viewport.resetTo(null);
    marked.mark(null);
    this.#ask(null);
  }

  read(reading: string | null): void {
    if (reading === this.wish.reading) return;
    this.wish.read(reading);
    this.#ask(null);
  }

  goToExtreme(which: "argmin" | "argmax"): void {
    const index = this.viewing.statistics?.statistics?.[which];
    if (index) this.go(index, "stored");
  }

  recolor(change: Partial<ColorChoice>): void {
    this.wish.colors = { ...this.wish.colors, ...change };
    this.#redraw();
  }

  cells(cells: CellChoice): void {
    this.wish.cells = cells;
    this.#redraw();
  }

  /** Null lets the view choose the axis. */
  along(axis: number | null): void {
    this.wish.along = axis;
    this.#redraw();
  }

  nextAlong(): void {
    const { answer, show, along } = this.viewing.shown;
    if (!answer || along === null) return;
    const axes = axesAlong(answer.viewShape, show === "channels" ? answer.axes : []);
    this.along(following(axes, along));
  }

  value(change: Partial<ValueLook>): void {
    this.wish.values = { ...this.wish.values, ...change };
    this.#redraw();
  }

  display(show: ShowChoice): void {
    if (show === this.wish.show || !SHOWS.includes(show)) return;
    this.wish.show = show;
    this.#redraw();
    if (show === "heatmap" && this.viewing.answer) this.viewing.want(this.viewing.answer);
  }

  whole(): void {
    this.steering.region(null);
    this.leave();
  }

  /** Returns the keyboard focus to the view. */
  leave(): void {
    this.root.focus({ preventScroll: true });
  }

  copy(): void {
    this.#codeCopy.copy();
  }

  #empty(title: string, detail: string): void {
    this.viewing.clear();
    this.panels.empty(this.wish.entry, title, detail);
    this.painted();
  }

  /** Goes to a typed index; returns an error, or "". */
  typed(text: string): string {
    const plane = this.wish.plane;
    if (!plane || !this.viewing.answer) return "there are no values to go to";
    const index = typedIndex(text, plane.shape);
    if (typeof index === "string") return index;
    this.go(index, "view");
    return "";
  }

  /** Offers to go to a typed index, `[0, 3, 2, 1]`. */
  offer(typed: string): ReturnType<NonNullable<KeyAction["offer"]>> {
    const { entry, plane } = this.wish;
    const index = plane && /[[,]/.test(typed) && typedIndex(typed, plane.shape);
    if (!index || typeof index === "string" || !entry) return null;
    const label = `value at [${index.join(", ")}] of #${entry[0]}`;
    return { label, run: () => this.go(index, "view") };
  }

  go(index: readonly number[], space: "view" | "stored"): void {
    const [before, answer] = [this.wish.plane, this.viewing.answer];
    if (!before || !answer) return;
    const place = space === "stored" ? logicalIndex(answer, index) : index;
    if (place.length !== before.shape.length) return;
    if (place.some((index, axis) => index >= before.shape[axis]!)) {
      this.panels.mirror.say("That value is in the padding, which is hidden.");
      return;
    }
    const { plane, point } = locate(before, place);
    this.leave();
    if (this.wish.show === "channels") this.display("heatmap");
    if (samePlane(before, plane)) {
      this.panels.cross.mark(point);
      return;
    }
    this.panels.cross.point = point;
    this.look(() => plane);
    this.panels.picture.reveal(point);
  }

  moved(): void {
    this.panels.zoomed(this.wish.show);
    this.remember();
    if (this.viewing.answer) this.viewing.want(this.viewing.answer);
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.viewing.draw(), REST_MS);
  }

  painted(): void {
    if (this.viewing.answer || this.panels.inTrouble) this.root.dataset.ready = "true";
    this.root.dataset.entry = this.viewing.answer ? this.viewing.answer.entry.join(":") : "";
  }

  /** A larger picture may be worth more cells. */
  resized(): void {
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => {
      if (this.viewing.answer?.tile) this.moved();
    }, SETTLE_MS);
  }

  #ask(known: TensorAnswer | null): void {
    this.remember();
    this.panels.mirror.ask();
    this.viewing.want(known);
  }

  #redraw(): void {
    this.viewing.draw();
    this.remember();
  }

  remember(): void {
    clearTimeout(this.#keep);
    this.#keep = setTimeout(() => {
      const region = this.panels.picture.viewport.region;
      const marked = this.panels.marked.region;
      const kept: Partial<KeptOptions> = {
        ...this.wish.kept,
        region: region && [...region],
        marked_region: marked && [...marked],
      };
      for (const [name, value] of Object.entries(kept)) {
        this.#options.set(name as keyof KeptOptions, value as never);
      }
    }, KEEP_MS);
  }
}
