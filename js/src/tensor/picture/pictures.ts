import type { TensorQuestions } from "../../shared/client/tensor_client.ts";
import type { PlaneView, TensorAnswer, Tile } from "../../shared/client/tensor_questions.ts";
import { type Plane, planeCols, planeRows } from "../plane.ts";
import { viewOf } from "../state.ts";
import { Ahead } from "./ahead.ts";
import { Asking } from "./asking.ts";
import { type Layout, layoutPlane } from "./layout.ts";
import { Tiles, wantedFor } from "./tiles.ts";
import type { PlaneViewport } from "./viewport.ts";

/** The size of a stage that was not laid out yet. */
const STAGE = { width: 640, height: 280 };
/** Axes beyond which a layout may unfold to others than the stored ones, so that their lengths are no guide. */
const PLAIN = 4;
const ANY = 256;
/** Cells of the whole plane in small. */
const SMALL = 72;

interface Events {
  /** A picture is to be shown, of what was asked or of what was known. */
  answered: (answer: TensorAnswer) => void;
  /** There is more to draw of a plane, which may no longer be the one that is shown. */
  known: () => void;
  failed: (error: unknown) => void;
  busy: (busy: boolean) => void;
  refining: (refining: boolean) => void;
}

/** Pictures of planes: those that were answered are kept, others asked for. */
export class Pictures {
  readonly #run: TensorQuestions;
  readonly #signal: AbortSignal;
  readonly #tiles = new Tiles();
  readonly #wholes = new Set<string>();
  readonly #asking: Asking;
  readonly #viewport: PlaneViewport;
  readonly #events: Events;
  /** Until another tensor is wanted, a sample is enough. */
  #sampled = false;
  readonly #ahead: Ahead;
  /** Looks again for what was asked for ahead and became wanted before it came. */
  #held: (() => void) | null = null;

  constructor(run: TensorQuestions, viewport: PlaneViewport, events: Events, signal: AbortSignal) {
    this.#run = run;
    this.#signal = signal;
    this.#viewport = viewport;
    this.#events = events;
    this.#asking = new Asking(
      run,
      {
        ...events,
        answered: (answer) => {
          if (answer.tile) this.#tiles.add(keyOf(answer), answer.tile);
          events.answered(answer);
        },
      },
      signal,
    );
    this.#ahead = new Ahead(
      { channels: (...asked) => this.#asking.counted(() => run.channels(...asked)) },
      {
        has: (view) => {
          const layout = viewport.layout;
          return layout !== null && this.#tiles.find(keyOf(view), layout)?.exact === true;
        },
        keep: (view, tile) => this.#tiles.add(keyOf(view), tile),
        settled: () => this.#held?.(),
      },
      signal,
    );
  }

  /** Lets go of what was asked of another tensor. */
  forget(): void {
    this.#asking.forget();
    this.#ahead.forget();
    this.#held = null;
    this.#sampled = false;
  }

  get stopped(): boolean {
    return this.#sampled;
  }

  /** Stays with the sample, or goes on to every value. */
  stop(): void {
    this.#sampled = true;
    this.#asking.stop();
  }

  goOn(view: PlaneView | null): void {
    this.#sampled = false;
    const layout = this.#viewport.layout;
    if (view && layout) this.#asking.refine(view, wantedFor(layout));
  }

  /** Shows what is kept of a plane of a tensor that is known, else asks for it. */
  want(
    view: PlaneView,
    plane: Plane,
    known: TensorAnswer | null,
    beside: Promise<unknown> | null,
  ): void {
    this.#held = null;
    const [rows, cols] = [planeRows(plane), planeCols(plane)];
    this.#viewport.over(rows, cols);
    const whole = { zoom: 1, row: 0, col: 0 };
    const layout =
      this.#viewport.layout ?? layoutPlane(Math.max(1, rows), Math.max(1, cols), whole, STAGE, 1);
    const wanted = wantedFor(layout);
    if (!known && !view.layout && view.layout !== "" && plane.shape.length > PLAIN) {
      [wanted.part, wanted.rows, wanted.cols] = [null, ANY, ANY];
    }
    const tile = known && !beside ? this.#tiles.find(keyOf(view), layout) : null;
    if (!known || !tile) {
      if (known && this.#asking.isAsked(view, wanted)) return;
      if (known && !beside && this.#ahead.isComing(view)) {
        this.#held = () => this.want(view, plane, known, beside);
        return;
      }
      this.#asking.ask(view, wanted, beside, !this.#sampled);
      return;
    }
    if (tile === known.tile && keyOf(known) === keyOf(view)) {
      if (wanted.part && tile.exact) this.#askWhole(known);
      else if (tile.exact && this.#asking.idle) this.#ahead.shown(view, known, wanted);
      return;
    }
    this.#asking.settle();
    const { axes, index } = view;
    this.#events.answered({ ...known, axes: [...axes!], index: [...index!], tile });
    if (!tile.exact && !this.#sampled) this.#asking.refine(view, wanted);
  }

  /** What there is to draw of what is in sight, the finest last. */
  toDraw(answer: TensorAnswer, layout: Layout): readonly Tile[] {
    return this.#tiles.toDraw(keyOf(answer), layout);
  }

  /** Asks for the whole plane in small, where one came to a part of it without having seen it. */
  async #askWhole(known: TensorAnswer): Promise<void> {
    const key = keyOf(known);
    if (this.whole(known) || this.#wholes.has(key)) return;
    this.#wholes.add(key);
    const small = { part: null, rows: SMALL, cols: SMALL, exact: false };
    try {
      const { tile } = await this.#run.tensor({ ...viewOf(known), ...small }, this.#signal);
      if (tile) this.#tiles.add(key, tile);
      this.#events.known();
    } catch {
      this.#wholes.delete(key);
    }
  }

  /** Something of the whole plane, where it is kept. */
  whole(answer: TensorAnswer): Tile | null {
    return this.#tiles.whole(keyOf(answer));
  }
}

/** The same for the same values in the same places. */
function keyOf({ entry, reading, layout, sizes, axes, index }: PlaneView): string {
  const fixed = index?.map((each, axis) => (axes?.includes(axis) ? 0 : each));
  return JSON.stringify([entry, reading, layout, sizes, axes, fixed]);
}
