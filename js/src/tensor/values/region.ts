import { errorText } from "../../shared/client/request.ts";
import type {
  ExactNumber,
  RegionAnswer,
  RegionNumbers,
  TensorAnswer,
} from "../../shared/client/tensor_questions.ts";
import * as icons from "../../shared/drawing/icons.ts";
import { counted, integer } from "../../shared/format.ts";
import { aboutText, numberText, screenText } from "../../shared/number_text.ts";
import { div, element, iconButton, type Mirror } from "../../shell/dom.ts";
import { SmallHistogram } from "../distribution/histogram_painter.ts";
import { Inquiry, muted, number, part, piece, TensorPart } from "../parts.ts";
import { beyondText } from "../picture/color_controls.ts";
import { SPECIAL_TEXT, SPECIALS } from "../picture/color_scale.ts";
import { moved, type Plane, type Point, sameShape } from "../plane.ts";
import { type Region, type ShownTensor, type TensorHost, viewOf } from "../state.ts";
import { placeText } from "./code_text.ts";

/** `7 × 8 = 56 values`. */
function sizeWords([, , rows, cols]: Region): string {
  const values = counted(rows * cols, "value");
  return rows > 1 && cols > 1 ? `${integer(rows)} × ${integer(cols)} = ${values}` : values;
}

/** NaN and infinities that occur, or that there are none. */
function specialWords(counts: RegionNumbers): string {
  const there = SPECIALS.filter((special) => counts[special] !== 0).map(
    (special) => `${integer(counts[special])} ${SPECIAL_TEXT[special]}`,
  );
  return there.join(", ") || "all finite";
}

function regionWords(answer: TensorAnswer, region: Region, numbers: RegionNumbers): string {
  const [low, high, mean] = [numbers.minimum, numbers.maximum, numbers.mean].map(({ text }) =>
    screenText(text),
  );
  return [
    `region ${placeText(answer, region)}, ${sizeWords(region)}`,
    `min ${low}, max ${high}, mean ${mean}`,
    specialWords(numbers),
  ].join("; ");
}

/** Contents of the marked region: counts, bounds, mean and a small histogram. */
export class RegionPanel extends TensorPart {
  readonly node = element("section", {
    class: "tvmdbg-tensor-region",
    "aria-label": "Marked region",
    hidden: true,
  });
  readonly #place = element("code", { class: "tvmdbg-anywhere" });
  readonly #size = muted();
  readonly #facts = part("region-facts");
  readonly #bars = new SmallHistogram(this.host);
  #dtype = "";

  constructor(host: TensorHost) {
    super(host);
    this.node.append(
      part(
        "region-bar tvmdbg-row tvmdbg-gap-4",
        element("strong", {}, "Region"),
        this.#size,
        iconButton(icons.CODE, "copy", "Copy Python code for the region (y)", () => host.copy()),
        iconButton(icons.FIT, "zoom to", "Zoom to the region", () => {
          host.steering.region(host.panels.marked.region);
          host.leave();
        }),
        iconButton(icons.CLOSE, "clear", "Clear the region (Esc)", () => {
          host.panels.marked.mark(null);
          host.leave();
        }),
      ),
      this.#place,
      this.#facts,
    );
  }

  inspected() {
    return this.#bars.inspected();
  }

  hide(): void {
    this.node.hidden = true;
  }

  /** Dims the old numbers until the new ones come. */
  wait(answer: TensorAnswer, region: Region): void {
    this.node.hidden = false;
    this.node.dataset.ready = "false";
    this.#dtype = answer.valueDtype;
    this.#place.textContent = placeText(answer, region);
    this.#size.textContent = sizeWords(region);
  }

  show(answer: RegionAnswer): void {
    this.node.dataset.ready = "true";
    const numbers = answer.statistics;
    const special = specialWords(numbers);
    const beyond = beyondText(answer, AUTO);
    const isBool = this.#dtype === "bool";
    this.#bars.show(answer, this.#dtype);
    this.#facts.replaceChildren(
      part(
        "region-numbers tvmdbg-row tvmdbg-wrap tvmdbg-gap-12",
        fact("min", numbers.minimum, this.#dtype),
        fact("max", numbers.maximum, this.#dtype),
        element("span", {}, muted("mean"), computed(numbers.mean)),
        special === "all finite" ? muted(special) : piece("loud", special),
        numbers.zero ? muted(`${integer(numbers.zero)} ${isBool ? "False" : "zero"}`) : null,
      ),
      beyond && muted(beyond),
      this.#bars.node,
    );
  }

  fail(error: unknown): void {
    this.node.dataset.ready = "true";
    this.#facts.replaceChildren(
      div("tvmdbg-error", `The region could not be read: ${errorText(error)}`),
    );
  }
}

const AUTO = { scale: "auto", map: "auto", range: "auto" } as const;

/** A number in its own dtype, short. */
function fact(name: string, { text, value }: ExactNumber, dtype: string): HTMLElement {
  const shown = value === null ? text : aboutText(value, dtype);
  return element("span", {}, muted(name), number(shown, text));
}

/** A computed number, with six digits. */
function computed({ text, value }: ExactNumber): HTMLElement {
  return number(text, value === null ? text : numberText(value));
}

const REST_MS = 60;

interface RegionParts {
  picture: { outline(region: Region | null): void };
  panel: RegionPanel;
  mirror: Mirror;
}

/** Marked region of the plane: its outline, counts and description. */
export class MarkedRegion extends TensorPart<RegionParts> {
  readonly #counts = new Inquiry(this.host, "region", REST_MS);
  #region: Region | null = null;
  #anchor: Point | null = null;
  #shown: ShownTensor | null = null;
  #request = "";

  get region(): Region | null {
    return this.#region;
  }

  /** Tensor of the region; null if nothing is shown. */
  over(shown: ShownTensor | null): void {
    this.#shown = shown;
    const tile = shown?.answer?.tile;
    if (this.#region && tile) {
      const kept = within(this.#region, tile.planeRows, tile.planeCols);
      if (!kept || !sameShape(kept, this.#region)) this.#set(kept);
    }
    this.#show();
  }

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

  /** Moves the corner at the crosshair; returns its new position. */
  extend(plane: Plane, at: Point, rows: number, cols: number): Point {
    const anchor = this.#anchor ?? at;
    const to = moved(plane, at, rows, cols);
    this.between(anchor, to);
    return to;
  }

  /** True if the region was drawn to a value: its description must not be replaced by the value's. */
  endsAt({ row, col }: Point): boolean {
    if (!this.#region) return false;
    const [top, left, rows, cols] = this.#region;
    return (row === top || row === top + rows - 1) && (col === left || col === left + cols - 1);
  }

  #set(region: Region | null): void {
    if (region?.join() === this.#region?.join()) return;
    this.#region = region;
    this.host.remember();
  }

  #show(): void {
    const { picture, panel, mirror } = this.beside;
    const [shown, region] = [this.#shown, this.#region];
    const answer = shown?.show === "heatmap" && shown.answer?.tile ? shown.answer : null;
    picture.outline(answer ? region : null);
    if (!answer || !region) {
      this.#request = "";
      this.#counts.forget();
      panel.hide();
      return;
    }
    const question = { ...viewOf(answer), part: region };
    const key = JSON.stringify(question);
    if (key === this.#request) return;
    this.#request = key;
    panel.wait(answer, region);
    this.#counts.forget();
    this.#counts.ask(
      question,
      (counts) => {
        panel.show(counts);
        mirror.say(regionWords(answer, region, counts.statistics));
      },
      (error) => {
        panel.fail(error);
        mirror.say(`The region could not be read: ${errorText(error)}`);
      },
    );
  }
}

/** A region clipped to a plane, or null. */
function within([row, col, rows, cols]: Region, planeRows: number, planeCols: number) {
  if (row >= planeRows || col >= planeCols) return null;
  return [row, col, Math.min(rows, planeRows - row), Math.min(cols, planeCols - col)] as const;
}
