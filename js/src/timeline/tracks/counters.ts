import type { Client } from "../../shared/client/client.ts";
import type { CounterColumns } from "../../shared/client/timeline_columns.ts";
import type { ChartBrush } from "../../shared/drawing/brush.ts";
import { bytes, duration, integer } from "../../shared/format.ts";
import { upperBound } from "../../shared/many.ts";
import { Flows } from "../data/marked.ts";
import { type Band, type TimelineScene, TOP } from "./scene.ts";

const HEIGHT = 52;
/** Height on a low stage. */
const LOW = 30;
const TITLE = 16;

/** One counter below the tracks, as steps: the maximum of every pixel column, with a mark at the peak. */
class CounterBand implements Band {
  readonly name: string;
  readonly #scene: TimelineScene;
  readonly #unit: string;
  readonly #note: string;
  readonly #ns: Float64Array;
  readonly #value: Float64Array;
  readonly #peak: number;
  readonly #least: number;

  constructor(scene: TimelineScene, columns: CounterColumns, counter: number) {
    this.#scene = scene;
    this.name = columns.names.at(counter);
    this.#unit = columns.units.at(counter);
    this.#note = columns.said.at(counter);
    const [first, last] = [columns.offsets[counter]!, columns.offsets[counter + 1]!];
    this.#ns = columns.ns.subarray(first, last);
    this.#value = columns.value.subarray(first, last);
    let [peak, least] = [0, 0];
    this.#value.forEach((value, at) => {
      if (value > this.#value[peak]!) peak = at;
      if (value < least) least = value;
    });
    this.#peak = peak;
    this.#least = least;
  }

  get height(): number {
    return this.#scene.isLow ? LOW : HEIGHT;
  }

  get #most(): number {
    return this.#value[this.#peak] ?? 0;
  }

  text(value: number): string {
    if (this.#unit === "B") return bytes(value);
    const number = Number.isInteger(value) ? integer(value) : String(value);
    return `${number} ${this.#unit}`.trim();
  }

  /** Index of the value at a time, -1 before the first. */
  holding(ns: number): number {
    return upperBound(this.#ns, ns) - 1;
  }

  /** `memory in use: 1.2 MiB (1,258,291), 80 % of the peak`. */
  sentence(ns: number): string {
    const at = this.holding(ns);
    if (at < 0) return `${this.name}: no value yet`;
    const note = this.#note && `. ${this.#note}`;
    return `${this.name}: ${this.text(this.#value[at]!)}, peak ${this.text(this.#most)}${note}`;
  }

  at(x: number, _y: number): string[] {
    const ns = this.#scene.at(x);
    const at = this.holding(ns);
    const since = at < 0 ? "" : `, since ${duration(this.#ns[at]!)}`;
    const here = at < 0 ? "no value yet" : this.text(this.#value[at]!);
    const isPeak = at >= 0 && this.#value[at] === this.#most;
    const peak = `peak ${this.text(this.#most)} at ${duration(this.#ns[this.#peak]!)}`;
    return [this.name, here + since, isPeak ? "the peak" : peak];
  }

  paint(brush: ChartBrush, scene: TimelineScene, y: number): void {
    const { accent, background, line, text } = brush.theme;
    const { width } = scene;
    const { height } = this;
    const floor = y + height - 3;
    const tall = height - TITLE - 4;
    const scale = tall / (this.#most - this.#least || 1);
    const top = (value: number) => floor - (value - this.#least) * scale;
    brush.fill(background, 0, y, width, height);
    brush.fill(line, 0, y, width, 1);
    brush.fill(line, 0, floor, width, 1);
    const zero = top(0);
    for (let x = 0; x < width; x++) {
      const from = this.holding(scene.at(x));
      const to = this.holding(scene.at(x + 1));
      let [low, high] = [Infinity, -Infinity];
      for (let at = Math.max(0, from); at <= to; at++) {
        low = Math.min(low, this.#value[at]!);
        high = Math.max(high, this.#value[at]!);
      }
      if (high === -Infinity) continue;
      for (const y of [top(high), top(low)]) {
        brush.fill(accent, x, Math.min(zero, y), 1, Math.max(1, Math.abs(zero - y)), 0.35);
      }
    }
    const middle = y + TITLE / 2 + 0.5;
    const lead = brush.text(this.name, 6, middle, text, width, "600") + 14;
    brush.font();
    const peak = `▲ peak ${this.text(this.#most)}`;
    const room = brush.measure.width(peak);
    const x = scene.x(this.#ns[this.#peak] ?? Number.NaN);
    if (x >= 0 && x <= width && this.#value.length) {
      const at = Math.min(Math.max(lead, x - 5), width - room - 4);
      if (at >= lead && y >= TOP - TITLE) brush.write(peak, at, middle, text);
      brush.fill(text, x - 0.5, top(this.#most) - 2, 1.5, floor - top(this.#most) + 2);
    }
  }
}

/** Loads counters and arrows after the slices are on the screen. */
export function addExtras(
  run: Client,
  scene: TimelineScene,
  changed: () => void,
  signal: AbortSignal,
): void {
  const later = async () => {
    const [counters, flows] = await Promise.allSettled([run.ask("counters"), run.ask("flows")]);
    if (signal.aborted) return;
    if (counters.status === "fulfilled" && counters.value) {
      const { value } = counters;
      scene.bands = Array.from(
        { length: value.names.length },
        (_, counter) => new CounterBand(scene, value, counter),
      );
    }
    if (flows.status === "fulfilled" && flows.value?.flowFrom.length) {
      scene.flows = new Flows(flows.value);
    }
    if (scene.bands.length || scene.flows) changed();
  };
  requestAnimationFrame(() => void later());
}

/** Values of the counters at the start of the current slice, else at the left edge. */
export function counterSentence(scene: TimelineScene): string {
  const { slices, current, viewport, bands } = scene;
  const ns = current >= 0 ? slices.startOf(current) : viewport.start;
  const sentences = bands.map((band) => (band instanceof CounterBand ? band.sentence(ns) : ""));
  return sentences.filter(Boolean).join("; ") || "this run has no counters";
}
