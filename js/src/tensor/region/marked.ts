import { errorText } from "../../shared/client/message.ts";
import { isAbort, NewestWins } from "../../shared/client/request.ts";
import type { TensorQuestions } from "../../shared/client/tensor_client.ts";
import type { Mirror } from "../../shared/ui/mirror.ts";
import { moved, type Plane, type Point, sameShape } from "../plane.ts";
import { type Region, type Shown, viewOf } from "../state.ts";
import type { RegionPanel } from "./region_panel.ts";
import { regionWords } from "./region_words.ts";

const REST_MS = 60;

interface Parts {
  picture: { outline(region: Region | null): void };
  panel: RegionPanel;
  mirror: Mirror;
}

/** The region of the plane that is marked: drawn, counted by the run, and told of. */
export class Marked {
  readonly #parts: Parts;
  readonly #run: TensorQuestions;
  readonly #changed: () => void;
  readonly #signal: AbortSignal;
  readonly #newest = new NewestWins();
  #region: Region | null = null;
  /** Where marking began. */
  #anchor: Point | null = null;
  #shown: Shown | null = null;
  #asked = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: Parts, run: TensorQuestions, changed: () => void, signal: AbortSignal) {
    this.#parts = parts;
    this.#run = run;
    this.#changed = changed;
    this.#signal = signal;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  get region(): Region | null {
    return this.#region;
  }

  /** What the region is of; null where nothing is shown. */
  over(shown: Shown | null): void {
    this.#shown = shown;
    const tile = shown?.answer?.tile;
    if (this.#region && tile) {
      const kept = within(this.#region, tile.planeRows, tile.planeCols);
      if (!kept || !sameShape(kept, this.#region)) this.#set(kept);
    }
    this.#show();
  }

  /** Marks a region, or none. */
  mark(region: Region | null): void {
    if (region === null) this.#anchor = null;
    this.#set(region);
    this.#show();
  }

  between(from: Point, to: Point): void {
    this.#anchor = from;
    this.mark([
      Math.min(from.row, to.row),
      Math.min(from.col, to.col),
      Math.abs(from.row - to.row) + 1,
      Math.abs(from.col - to.col) + 1,
    ]);
  }

  /** Moves the corner at the crosshair; returns where it is then. */
  extend(plane: Plane, at: Point, rows: number, cols: number): Point {
    const anchor = this.#anchor ?? at;
    const to = moved(plane, at, rows, cols);
    this.between(anchor, to);
    return to;
  }

  /** Whether the region was drawn to a value: what is said of the region is not to be said over. */
  endsAt({ row, col }: Point): boolean {
    if (!this.#region) return false;
    const [top, left, rows, cols] = this.#region;
    return (row === top || row === top + rows - 1) && (col === left || col === left + cols - 1);
  }

  #set(region: Region | null): void {
    if (region?.join() === this.#region?.join()) return;
    this.#region = region;
    this.#changed();
  }

  #show(): void {
    const { picture, panel } = this.#parts;
    const [shown, region] = [this.#shown, this.#region];
    const answer = shown?.show === "picture" && shown.answer?.tile ? shown.answer : null;
    picture.outline(answer ? region : null);
    if (!answer || !region) {
      this.#asked = "";
      clearTimeout(this.#timer);
      panel.hide();
      return;
    }
    const question = { ...viewOf(answer), part: region };
    const key = JSON.stringify(question);
    if (key === this.#asked) return;
    this.#asked = key;
    panel.wait(answer, region);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      try {
        const found = await this.#newest.ask(() => this.#run.region(question, this.#signal));
        if (key !== this.#asked) return;
        panel.show(found);
        this.#parts.mirror.say(regionWords(answer, region, found));
      } catch (error) {
        if (key !== this.#asked || isAbort(error)) return;
        panel.fail(error);
        this.#parts.mirror.say(`The region could not be read: ${errorText(error)}`);
      }
    }, REST_MS);
  }
}

/** The part of a region that a plane has; null where it has none. */
function within([row, col, rows, cols]: Region, planeRows: number, planeCols: number) {
  if (row >= planeRows || col >= planeCols) return null;
  return [row, col, Math.min(rows, planeRows - row), Math.min(cols, planeCols - col)] as const;
}
