import type { ProfileAnswer, TensorAnswer } from "../../shared/client/tensor_questions.ts";
import type { Layer } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { counted } from "../../shared/format.ts";
import { element, KEEP_KEYS, listening } from "../../shell/dom.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import { AlongPicker } from "../axis_pickers.ts";
import { Failure, Inquiry, muted, part, TensorPart } from "../parts.ts";
import { answeredPlane, axesAlong, axisText, indexAt, type Point } from "../plane.ts";
import type { ShownTensor, TensorHost } from "../state.ts";
import { scaleKind } from "./color_scale.ts";
import type { PlacedLabel } from "./plane_layout.ts";
import {
  type AxisRange,
  cellWords,
  holding,
  indexAtPlace,
  type ProfileScene,
  paintAlong,
  paintPlace,
  profileScene,
  zoomed,
} from "./profile_scene.ts";

const POINTS = 4096;
const BUSY_MS = 150;
const STRIDE = 10;

/** Minimum, mean and maximum by index of one axis, over all others; a click goes to an index. */
export class ProfileView extends TensorPart implements StagePainters {
  readonly #values = new Inquiry(this.host, "profile");
  #busy: ReturnType<typeof setTimeout> | undefined;
  readonly #picker = new AlongPicker(this.host, "along ", "Axis of the line plot (t)");
  readonly #about = muted();
  readonly #caption = part("along-text");
  readonly #failure = new Failure();
  readonly stage = element("div", {
    class: "tvmdbg-stage tvmdbg-tensor-along tvmdbg-fill",
    role: "slider",
    tabindex: 0,
    "aria-label": "Index along the line plot. Arrow keys move it, plus and minus zoom, 0 shows all",
    "aria-valuemin": 0,
    ...KEEP_KEYS,
  });
  readonly node = part(
    "profile tvmdbg-column tvmdbg-gap-4",
    part("profile-bar tvmdbg-row tvmdbg-wrap tvmdbg-gap-10", this.#picker.node, this.#about),
    this.#failure.node,
    this.stage,
    this.#caption,
  );
  readonly #plot = new Stage(
    this.host.root,
    "tvmdbg-base",
    () => this,
    this.host.signal,
    this.stage,
  );
  #shown: ShownTensor | null = null;
  #profile: ProfileAnswer | null = null;
  #scene: ProfileScene | null = null;
  #labels: PlacedLabel[] = [];
  #axis = 0;
  #key = "";
  #stretch: AxisRange = { first: 0, length: 1 };
  #point: Point | null = null;
  #hover: number | null = null;

  constructor(host: TensorHost) {
    super(host);
    this.#listen();
  }

  get profile(): ProfileAnswer | null {
    return this.#profile;
  }

  show(shown: ShownTensor): void {
    const before = this.#shown;
    this.#shown = shown;
    const { answer } = shown;
    this.node.hidden = shown.show !== "line plot";
    if (!answer || this.node.hidden) return;
    const { viewShape } = answer;
    this.#axis = shown.along ?? 0;
    const rest = [answer.entry, answer.reading, answer.layout, answer.sizes, viewShape, this.#axis];
    const key = JSON.stringify(rest);
    if (key !== this.#key) {
      this.#key = key;
      this.#profile = null;
      this.node.dataset.ready = "false";
      this.#hover = null;
      this.#stretch = { first: 0, length: viewShape[this.#axis] ?? 1 };
      this.#pick(shown, answer);
      this.#ask(answer);
    }
    if (before?.scale !== shown.scale || before.answer !== answer) this.#plot.changed();
    this.#say();
  }

  mark(point: Point | null): void {
    this.#point = point;
    if (this.#index !== null) this.#stretch = holding(this.#stretch, this.#index);
    this.#plot.changed();
    this.#say();
  }

  inspected() {
    const { plot = null, bars = [] } = this.#scene ?? {};
    return { labels: this.#labels, plot, bars, axis: this.#axis };
  }

  #pick(shown: ShownTensor, answer: TensorAnswer): void {
    this.#picker.show(shown, axesAlong(answer.viewShape, []));
    const others = answer.viewShape.reduce((all, length) => all * length, 1);
    const length = answer.viewShape[this.#axis] ?? 1;
    const repeats = length > 0 ? others / length : 0;
    this.#about.textContent = `min, mean and max over ${counted(repeats, "value")} at each index`;
    this.stage.setAttribute("aria-valuemax", String(Math.max(0, length - 1)));
  }

  #ask({ entry, reading, layout, sizes }: TensorAnswer): void {
    clearTimeout(this.#busy);
    this.#busy = setTimeout(() => {
      this.#caption.textContent = "reading all values…";
    }, BUSY_MS);
    const done = () => {
      clearTimeout(this.#busy);
      this.#plot.changed();
      this.#say();
    };
    this.#values.forget();
    this.#values.ask(
      { entry, reading, layout, sizes, axis: this.#axis, points: POINTS },
      (profile) => {
        this.#profile = profile;
        this.#failure.clear();
        done();
      },
      (error) => {
        this.#failure.tell("line plot", error);
        done();
      },
    );
  }

  get #index(): number | null {
    const answer = this.#shown?.answer;
    if (!answer) return null;
    if (answer.axes.includes(this.#axis) && !this.#point) return null;
    return indexAt(answeredPlane(answer), this.#point ?? { row: 0, col: 0 })[this.#axis] ?? null;
  }

  #go(to: number): void {
    const answer = this.#shown?.answer;
    if (!answer) return;
    const length = answer.viewShape[this.#axis] ?? 1;
    const index = indexAt(answeredPlane(answer), this.#point ?? { row: 0, col: 0 });
    index[this.#axis] = Math.max(0, Math.min(length - 1, to));
    this.#stretch = holding(this.#stretch, index[this.#axis]!);
    this.host.go(index, "view");
    this.stage.focus({ preventScroll: true });
  }

  #zoom(factor: number, about: number): void {
    const whole = this.#profile?.length ?? 0;
    if (whole === 0) return;
    this.#stretch =
      factor === 0 ? { first: 0, length: whole } : zoomed(this.#stretch, whole, factor, about);
    this.#plot.changed();
  }

  over(theme: Theme, _width: number, _height: number, { context }: Layer): void {
    paintPlace(context, this.#scene, this.#stretch, this.#index, this.#hover, theme);
  }

  base(theme: Theme, width: number, height: number, { context }: Layer): void {
    const [profile, answer] = [this.#profile, this.#shown?.answer];
    const { statistics = null, colors } = this.#shown ?? {};
    const kind = scaleKind(statistics, colors?.scale ?? "auto");
    this.#scene = profile && profileScene(profile, this.#stretch, kind, width, height);
    const name = answer ? axisText(answer.axisNames, this.#axis) : "";
    this.#labels = paintAlong(
      context,
      width,
      height,
      this.#scene,
      this.#stretch,
      name,
      answer?.valueDtype ?? "",
      theme,
    );
    this.node.dataset.ready = String(profile !== null);
  }

  #say(): void {
    const at = this.#hover ?? this.#index;
    const words =
      this.#profile && at !== null
        ? cellWords(this.#profile, at, this.#shown?.answer?.valueDtype ?? "")
        : "";
    this.#caption.textContent =
      words || (this.#profile ? "Point at an index, or click to go there." : "");
    this.stage.setAttribute("aria-valuenow", String(this.#index ?? 0));
    this.stage.setAttribute("aria-valuetext", words || "no index selected");
    this.#plot.touched();
  }

  #listen(): void {
    const stage = this.stage;
    const { root, signal } = this.host;
    const listen = listening(stage, signal);
    const at = (event: MouseEvent) =>
      this.#scene &&
      indexAtPlace(this.#scene, this.#stretch, event.clientX - stage.getBoundingClientRect().x);
    listen("pointermove", (event) => {
      this.#hover = at(event);
      this.#say();
    });
    listen("pointerleave", () => {
      this.#hover = null;
      this.#say();
    });
    listen("click", (event) => {
      const index = at(event);
      if (index !== null) this.#go(index);
    });
    listen("wheel", (event) => {
      if (!root.contains(document.activeElement) || (!event.ctrlKey && !event.metaKey)) return;
      event.preventDefault();
      const about = at(event);
      if (about !== null) this.#zoom(event.deltaY < 0 ? 1.5 : 1 / 1.5, about);
    });
    listen("keydown", (event) => this.#press(event));
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const index = this.#index ?? -1;
    const { first, length } = this.#stretch;
    const by = event.shiftKey ? STRIDE : 1;
    const to = {
      ArrowLeft: Math.max(0, index - by),
      ArrowRight: index + by,
      PageUp: index - length,
      PageDown: index + length,
      Home: 0,
      End: Number.MAX_SAFE_INTEGER,
    }[event.key];
    const factor = { "+": 2, "=": 2, "-": 0.5, "0": 0 }[event.key];
    if (to !== undefined) this.#go(to);
    else if (factor !== undefined) {
      this.#zoom(factor, index >= first && index < first + length ? index : first + length / 2);
    } else if (event.key === "t") this.host.nextAlong();
    else if (event.key === "Escape") this.host.leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
