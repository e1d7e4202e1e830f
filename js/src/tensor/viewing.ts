import { errorText } from "../shared/client/message.ts";
import { isAbort } from "../shared/client/request.ts";
import { TensorClient } from "../shared/client/tensor_client.ts";
import type { StatisticsAnswer, TensorAnswer } from "../shared/client/tensor_questions.ts";
import type { ViewContext } from "../shared/ui/view.ts";
import { type ColorScale, colorScale, sameScale } from "./colors/color_scale.ts";
import { Counting } from "./counting.ts";
import { tensorWords } from "./descriptions.ts";
import type { DisplaySettings } from "./display_settings.ts";
import type { InspectorLayout } from "./inspector_layout.ts";
import type { TensorOptions } from "./options.ts";
import type { Plate } from "./picture/picture.ts";
import { Pictures } from "./picture/pictures.ts";
import { answeredPlane, axisAlong, axisText } from "./plane.ts";
import type { RequestedView } from "./requested_view.ts";
import { sameTensor, withPicture } from "./same_tensor.ts";
import { hasValues, type Shown } from "./state.ts";

interface Events {
  painted(): void;
  /** What is in sight may have to be asked for. */
  moved(): void;
}

/** What is known of the tensor that is wanted: its plane and its numbers, asked for and shown in the panels. */
export class Viewing {
  readonly #panels: InspectorLayout;
  readonly #wish: RequestedView;
  readonly #settings: DisplaySettings;
  readonly #noteOf: (node: number) => string;
  readonly #events: Events;
  readonly #pictures: Pictures;
  readonly #counting: Counting;
  #answer: TensorAnswer | null = null;
  #statistics: StatisticsAnswer | null = null;
  /** Those of the tensor that is wanted, until its picture comes. */
  #found: StatisticsAnswer | null = null;
  /** The tensor and reading that the statistics are of. */
  #counted = "";
  /** Stays the same object as long as it means the same, so that what is painted with it stays. */
  #scale: ColorScale | null = null;

  constructor(
    { run, session, signal }: ViewContext<TensorOptions>,
    panels: InspectorLayout,
    wish: RequestedView,
    settings: DisplaySettings,
    events: Events,
  ) {
    const asked = new TensorClient(run.ask);
    this.#panels = panels;
    this.#wish = wish;
    this.#settings = settings;
    this.#noteOf = (node) => session.note(node);
    this.#events = events;
    this.#pictures = new Pictures(
      asked,
      panels.picture.viewport,
      {
        answered: (answer) => this.#answered(answer),
        known: () => this.draw(),
        failed: (error) => this.#failed(error),
        busy: (busy) => panels.busy(busy),
        refining: (refining) => this.#progress(refining),
      },
      signal,
    );
    this.#counting = new Counting(
      asked,
      { counted: (found) => this.#recounted(found), failed: (error) => this.#uncounted(error) },
      signal,
    );
  }

  get answer(): TensorAnswer | null {
    return this.#answer;
  }

  get statistics(): StatisticsAnswer | null {
    return this.#statistics;
  }

  /** Lets go of what was asked of another tensor. */
  forget(): void {
    this.#pictures.forget();
    this.#counting.forget();
  }

  /** There is nothing to know. */
  clear(): void {
    this.#answer = this.#statistics = this.#found = null;
    this.#counted = "";
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

  /** Shows what is wanted: from what is kept of a tensor that is known, else by asking. */
  want(known: TensorAnswer | null): void {
    const { view, plane } = this.#wish;
    if (!view || !plane) return;
    if (!known) this.#panels.picture.measure();
    const tensor = `${view.entry.join()} ${view.reading}`;
    let beside: Promise<unknown> | null = null;
    if (this.#counted !== tensor) {
      this.#counted = tensor;
      this.#found = null;
      beside = this.#counting.begin(view.entry, view.reading).then(
        (found) => {
          if (this.#counted === tensor) this.#found = found;
        },
        (error) => this.#uncounted(error),
      );
    }
    this.#pictures.want(view, plane, known, beside);
  }

  #answered(found: TensorAnswer): void {
    const { cross } = this.#panels;
    const before = this.#answer;
    const answer = withPicture(found, before);
    this.#answer = answer;
    this.#statistics = this.#found;
    if (!this.#wish.answered(answer)) {
      cross.point = null;
      this.#panels.choose(this.#wish);
    }
    const key = `${answer.entry.join()} ${answer.reading}`;
    if (this.#counted !== key && this.#statistics) this.#counted = key;
    const tile = answer.tile;
    const { shape, axes } = answeredPlane(answer);
    const isLone = axes.every((axis) => axis === null || shape[axis] === 1);
    if (hasValues(answer) && isLone) cross.point = { row: 0, col: 0 };
    this.draw();
    this.#panels.mirror.tell(this.words(), sameTensor(before, answer));
    cross.place(cross.point);
    if (!sameTensor(before, answer) && this.#statistics?.state === "sampled") {
      this.#counting.refine();
    }
    const empty = !tile || tile.planeRows * tile.planeCols === 0;
    if (empty || this.#settings.show === "profile") this.#events.painted();
    else this.#events.moved();
  }

  #failed(error: unknown): void {
    this.#answer = null;
    this.#panels.failed(this.#wish, error, () => this.#again());
    this.#events.painted();
  }

  #again(): void {
    this.#pictures.forget();
    if (!this.#found) this.#counted = "";
    this.want(null);
  }

  draw(): void {
    const answer = this.#answer;
    if (!answer) return;
    const shown = { ...this.shown, answer };
    this.#panels.show(shown, this.#wish.plane, this.#plate(shown), () => this.#again());
    this.#panels.zoomed(this.#settings.show);
  }

  #plate({ answer, scale, cells }: Shown & { answer: TensorAnswer }): Plate | null {
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

  #progress(refining: boolean): void {
    this.#panels.progress({ refining, stopped: this.#pictures.stopped });
  }

  words(): string {
    const { entry } = this.#wish;
    const note = entry ? this.#noteOf(entry[0]) : "";
    return `${tensorWords(this.shown)}${note ? `. Note: ${note}` : ""}`;
  }

  get shown(): Shown {
    const [answer, statistics] = [this.#answer, this.#statistics];
    const { colors, cells, values } = this.#settings;
    const show = answer?.unordered ? "picture" : this.#settings.show;
    const scale = colorScale({ statistics, tile: answer?.tile ?? null }, colors);
    if (!sameScale(scale, this.#scale)) this.#scale = scale;
    const pictured = answer && show === "channels" ? answer.axes : [];
    return {
      entry: answer?.entry ?? this.#wish.entry ?? [-1, 0],
      answer,
      statistics,
      show,
      along:
        answer && show !== "picture"
          ? axisAlong(answer.viewShape, answer.axisNames, pictured, this.#wish.along)
          : null,
      region: this.#panels.picture.viewport.region,
      colors,
      scale: this.#scale,
      cells,
      values,
    };
  }

  #recounted(statistics: StatisticsAnswer): void {
    this.#found = this.#statistics = statistics;
    this.draw();
  }

  #uncounted(error: unknown): void {
    if (isAbort(error)) return;
    this.#panels.mirror.say(`The values could not be counted: ${errorText(error)}`);
  }
}
