import type { SessionClient } from "../shared/client/session_client.ts";
import type { AreaPanel } from "./area_panel.ts";
import { type Area, RangeWords } from "./areas.ts";
import { type Gap, gapStanding, lengthOf, nextGap } from "./data/neighbors.ts";
import type { Row } from "./data/row.ts";
import type { TimelineData } from "./descriptions.ts";
import type { SliceDetails } from "./details.ts";
import type { TimeCamera, TimelineChart } from "./tracks/chart.ts";
import { type Edge, Measure } from "./tracks/measure.ts";

const SOURCE = "timeline";
/** Number of the longest gaps listed. */
const LISTED = 10;

/** Subject of the details beside the selection. */
type Subject = "selection" | "range" | "gap" | "measure";

export interface RangesHost {
  readonly data: TimelineData;
  readonly session: SessionClient;
  readonly camera: TimeCamera;
  readonly details: SliceDetails;
  readonly panel: AreaPanel;
  say(text: string): void;
  readonly chart: Pick<TimelineChart, "touched">;
  /** Selects a slice; -1 selects none. */
  pick(slice: number): void;
  tell(): void;
  sync(): void;
  showPanel(part: "details"): void;
}

/** Marked range, gap and measure. */
export class TimeRanges {
  subject: Subject = "selection";
  readonly #host: RangesHost;
  readonly #words: RangeWords;
  /** Row on which the range was dragged last; null for other origins. */
  #row: Row | null = null;

  constructor(host: RangesHost) {
    this.#host = host;
    this.#words = new RangeWords(host.data.slices, host.data.words);
  }

  /** Reacts to a change of the selection, or of the session's range. */
  changed(what: "selection" | "range"): void {
    const { scene } = this.#host.data;
    if (what === "selection") {
      this.subject = "selection";
      scene.gap = null;
    } else this.subject = scene.range ? "range" : "selection";
  }

  /** Describes the range, gap or measure; false if the selection is to be described. */
  tell(): boolean {
    const { details, panel, data } = this.#host;
    const { scene } = data;
    const { range, gap, measure } = scene;
    if (this.subject !== "range") panel.stop();
    if (this.subject === "measure" && measure) {
      details.showMeasure(this.#words.ofMeasure(measure));
      this.#host.say(this.#words.measureSentence(measure));
    } else if (this.subject === "gap" && gap) {
      const standing = gapStanding(data.slices, LISTED, gap);
      details.showGap(this.#words.ofGap(gap, standing), standing.longest, gap);
      this.#host.say(this.#words.gapSentence(gap, standing));
    } else if (this.subject === "range" && range) {
      const announce = (area: Area) => this.#host.say(this.#words.areaSentence(area));
      panel.show(range, { row: this.#row, told: announce });
      details.showArea(panel.node);
    } else return false;
    return true;
  }

  /** Shows a range during a drag; null ends it. */
  preview(range: readonly [number, number] | null, mark: boolean): void {
    const { data, panel, details } = this.#host;
    data.scene.preview = range;
    if (range && mark && range[0] < range[1]) {
      panel.show(range, { drawn: true });
      details.showArea(panel.node);
    }
    this.#host.chart.touched();
  }

  /** Marks a range, null for none; `row`: row of the drag. */
  mark(range: readonly [number, number] | null, row: Row | null = null): void {
    const { session, data } = this.#host;
    this.#row = row;
    if (range) this.#host.showPanel("details");
    session.write({ time_range: range && [range[0], range[1]] }, SOURCE);
    if (String(range) !== String(data.scene.range)) {
      this.#host.sync();
      return;
    }
    this.changed("range");
    this.#host.tell();
    this.#host.chart.touched();
  }

  /** Begins a measure, at first of the selected slice. */
  measure(): void {
    const { scene, slices } = this.#host.data;
    this.#host.showPanel("details");
    scene.measure = new Measure(slices, scene.current);
    if (scene.current < 0 && scene.snapped) scene.measure.set(scene.snapped);
    this.#measured();
  }

  setEdge(edge: Edge): void {
    this.#host.data.scene.measure?.set(edge);
    this.#measured();
  }

  /** The pointer moves the second mark. */
  follow(): void {
    const { measure } = this.#host.data.scene;
    if (measure?.open && measure.range) {
      this.subject = "measure";
      this.#host.details.showMeasure(this.#words.ofMeasure(measure));
    }
  }

  /** Moves the second mark to the next edge of its row, or of the row above or below. */
  step(by: number, toRow = false): void {
    const { scene } = this.#host.data;
    if (!scene.measure) return;
    if (toRow) scene.measure.stepRow(by);
    else scene.measure.step(by, by > 0 ? scene.viewport.start : scene.viewport.end);
    const { second } = scene.measure;
    if (second) this.#host.camera.reveal(second.ns, second.ns);
    this.#measured();
  }

  /** Sets the second mark; then makes the measure the range. */
  accept(): void {
    const { measure } = this.#host.data.scene;
    if (!measure?.range) return;
    if (measure.open) {
      measure.open = false;
      this.#measured();
    } else if (measure.range[0] < measure.range[1]) {
      this.#host.data.scene.measure = null;
      this.mark(measure.range);
    }
  }

  pickGap(gap: Gap | null): void {
    this.#host.pick(-1);
    if (gap) this.#host.showPanel("details");
    if (gap && !this.#knowsGaps()) return;
    this.#host.data.scene.gap = gap;
    this.subject = gap ? "gap" : "selection";
    if (gap) this.#host.camera.reveal(gap.from, gap.to);
    this.#host.tell();
    this.#host.chart.touched();
  }

  /** The next gap of the track of at least a pixel. */
  nextGap(by: number): void {
    if (!this.#knowsGaps()) return;
    const { scene, slices } = this.#host.data;
    const track = this.#track;
    const pixel = scene.viewport.span / Math.max(1, scene.width);
    const at =
      scene.gap?.from ??
      (scene.current < 0
        ? by > 0
          ? scene.viewport.start - 1
          : scene.viewport.end
        : slices.startOf(scene.current));
    const gap = nextGap(slices, track, at, by, pixel);
    if (gap) this.pickGap(gap);
    else
      this.#host.say(by > 0 ? "no gap after this on the track" : "no gap before this on the track");
  }

  /** The next gap by length; without a current one the longest. */
  gapByLength(by: number): void {
    if (!this.#knowsGaps()) return;
    const { scene, slices } = this.#host.data;
    const { longest } = gapStanding(slices, 1000);
    const { gap } = scene;
    const at = gap
      ? longest.findIndex((other) => other.from === gap.from && other.track === gap.track)
      : -1;
    const next = longest[at < 0 ? 0 : at + by];
    if (next) this.pickGap(next);
  }

  /** Removes the measure, else the range, else the gap; returns false if there was none of them. */
  clear(): boolean {
    const { scene } = this.#host.data;
    if (scene.measure) {
      scene.measure = null;
      this.subject = scene.range ? "range" : scene.gap ? "gap" : "selection";
      this.#host.tell();
      this.#host.chart.touched();
    } else if (scene.range) this.mark(null);
    else if (scene.gap) this.pickGap(null);
    else return false;
    return true;
  }

  inspect(out: Record<string, unknown>): void {
    const { gap, measure, snapped } = this.#host.data.scene;
    Object.assign(out, { gap, snapped: snapped?.slice === -1 ? null : snapped });
    out.measure = measure && { range: measure.range, open: measure.open };
  }

  /** True if gaps are known: for observed times with all slices loaded. Else says why not. */
  #knowsGaps(): boolean {
    const { complete, columns } = this.#host.data.slices;
    const { whole, synthetic } = columns.info;
    if (synthetic) this.#host.say("a synthetic timeline has no gaps");
    else if (!complete || !whole)
      this.#host.say("this page does not have every slice: run.timeline.gaps() lists the gaps");
    return complete && whole && !synthetic;
  }

  /** Track of the current gap or slice, else the first with gaps. */
  get #track(): number {
    const { scene, slices } = this.#host.data;
    if (scene.gap) return scene.gap.track;
    const own = slices.trackOf(scene.current);
    if (own >= 0) return own;
    const some = gapStanding(slices, 1).longest[0];
    return some && lengthOf(some) > 0 ? some.track : 0;
  }

  #measured(): void {
    this.subject = "measure";
    this.#host.tell();
    this.#host.chart.touched();
  }
}
