/** Facts of a tensor's header, for the live view, figures and their text. */

import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
import * as icons from "../shared/drawing/icons.ts";
import { bytes, integer, shapeText } from "../shared/format.ts";
import { button, div, element, iconButton, onResize, span } from "../shell/dom.ts";
import { hinted, message, retry } from "../shell/message.ts";
import { HealthPill, type Judgement } from "./distribution/health_pill.ts";
import { isUnsure, trustWords } from "./layout_picker.ts";
import { fitName, muted, part, piece, TensorPart } from "./parts.ts";
import { SHOWS, type ShowChoice, type ShownTensor, type TensorHost } from "./state.ts";

type KnownTensor = Pick<TensorAnswer, "title" | "dtype" | "shape" | "nbytes" | "trust">;

export interface TensorFact {
  text: string;
  /** False marks the fact as doubtful; undefined if it cannot be. */
  isSure?: boolean;
  about?: string;
}

export function tensorFacts({
  dtype,
  shape,
  nbytes,
  trust,
}: Omit<KnownTensor, "title">): TensorFact[] {
  const isSure = trust === "exact";
  return [
    { text: dtype },
    { text: shapeText(shape) },
    { text: bytes(nbytes) },
    {
      text: isSure ? "matched" : `matched ${trust}`,
      isSure,
      about: "How the values were matched to this node",
    },
  ];
}

export class TensorHeader extends TensorPart {
  readonly node = div("tvmdbg-tensor-header");
  readonly #note = element("div", { class: "tvmdbg-noted", hidden: true });
  readonly #name = element("strong", { class: "tvmdbg-tensor-name tvmdbg-clip" });
  readonly #pill = new HealthPill(this.host);
  #node = -1;
  #place = false;
  #answer: TensorAnswer | null = null;

  constructor(host: TensorHost) {
    super(host);
    onResize([this.#name], () => this.#fit(), host.signal);
  }

  judge(judged: Judgement | null): void {
    this.#pill.judge(judged);
  }

  #fit(): void {
    fitName(this.#name, this.#name.title, (text) => {
      this.#name.textContent = text;
    });
  }

  clear(): void {
    this.#answer = null;
    this.node.replaceChildren();
  }

  noted(): void {
    const text = this.host.session.note(this.#node);
    this.#note.textContent = text;
    this.#note.hidden = text === "";
  }

  /** Shows facts from the list of tensors, before any value was read. */
  announce(row: number): void {
    const { entries } = this.host;
    const { columns } = entries;
    this.#answer = null;
    this.#node = entries.entry(row)[0];
    this.noted();
    this.#pill.node.style.visibility = "hidden";
    this.node.replaceChildren(
      facts(
        {
          title: entries.title(row),
          dtype: columns.dtypes.at(row),
          shape: entries.shape(row),
          nbytes: columns.nbytes[row]!,
          trust: entries.trust(row),
        },
        this.#name,
      ),
      this.#pill.node,
      this.#note,
    );
    this.#fit();
  }

  show(shown: ShownTensor & { answer: TensorAnswer }): void {
    const [answer, before] = [shown.answer, this.#answer];
    this.#answer = answer;
    this.#pill.show(shown);
    this.#pill.node.style.visibility = "";
    const same =
      before?.entry.join() === answer.entry.join() && before.notes.join() === answer.notes.join();
    if (!same) this.#rebuild(answer);
  }

  #rebuild(answer: TensorAnswer): void {
    const line = facts(answer, this.#name);
    const place = element(
      "div",
      { class: "tvmdbg-tensor-place tvmdbg-anywhere tvmdbg-muted", hidden: !this.#place },
      `${answer.name}: key ${JSON.stringify(answer.key)} in ${answer.file}, data at byte ${integer(answer.offset)}`,
    );
    const toggle = button("source", "Source: show or hide the file, key and byte offset", () => {
      this.#place = !this.#place;
      place.hidden = !this.#place;
      toggle.setAttribute("aria-expanded", String(this.#place));
      this.host.leave();
    });
    toggle.setAttribute("aria-expanded", String(this.#place));
    line.append(toggle);
    const notes = answer.notes.map((note) =>
      element(
        "li",
        { class: "tvmdbg-warning" },
        element("span", { "aria-hidden": "true" }, "⚠ "),
        note,
      ),
    );
    this.#node = answer.entry[0];
    this.noted();
    this.node.replaceChildren(
      line,
      place,
      this.#pill.node,
      this.#note,
      ...(notes.length ? [element("ul", { class: "tvmdbg-tensor-notes" }, ...notes)] : []),
    );
    this.#fit();
  }
}

function facts(known: KnownTensor, name: HTMLElement): HTMLElement {
  name.title = known.title;
  return part(
    "facts tvmdbg-row tvmdbg-wrap tvmdbg-gap-12",
    name,
    ...tensorFacts(known).map(({ text, isSure, about = "" }) => {
      if (isSure === undefined) return element("span", {}, ...withCount(text));
      const look = isSure ? "tvmdbg-muted" : "tvmdbg-warning";
      const shown = `${isSure ? "✓" : "⚠"} ${text}`;
      return element("span", { class: `tvmdbg-tensor-trust ${look}`, title: about }, shown);
    }),
  );
}

/** The exact count in `16.0 KiB (16,384)` may be left out if there is little room. */
function withCount(text: string): (string | HTMLElement)[] {
  const [size, count] = text.split(" (");
  return count ? [size!, span("tvmdbg-tensor-count", ` (${count}`)] : [text];
}

export interface TensorProgress {
  /** True while all values of the picture are read. */
  refining: boolean;
  stopped: boolean;
}

/** Trust in the picture: time of capture, number of values, assumptions. */
export class TrustLine extends TensorPart {
  readonly #words = span("tvmdbg-tensor-trusted tvmdbg-muted");
  readonly #sampled = element("strong", { class: "tvmdbg-tensor-sampled", hidden: true });
  readonly #bar = element("progress", { "aria-label": "Scanning all values of the heatmap" });
  readonly #text = muted("scanning all values");
  readonly #stop = button("stop", "Stop scanning all values (k)", () =>
    this.host.viewing.count(false),
  );
  readonly #goOn = button("scan all values", "Scan all values (k)", () =>
    this.host.viewing.count(true),
  );
  readonly #progress = piece(
    "progress tvmdbg-inline tvmdbg-wrap",
    this.#bar,
    this.#text,
    this.#stop,
    this.#goOn,
  );
  readonly node = part(
    "trust-line tvmdbg-row tvmdbg-wrap",
    this.#sampled,
    this.#words,
    this.#progress,
  );

  show({ answer }: ShownTensor, { refining, stopped }: TensorProgress): void {
    this.node.hidden = !answer;
    if (!answer) return;
    const sampled = answer.tile !== null && !answer.tile.exact;
    this.#sampled.hidden = !sampled;
    this.#sampled.textContent = "◔ sampled";
    this.#sampled.title = "Drawn from a sample of the values; isolated NaN and Inf may be missing";
    this.#words.replaceChildren(...words(answer, sampled));
    this.#words.title = this.#words.textContent;
    this.#progress.hidden = !sampled || (!refining && !stopped);
    this.#bar.hidden = this.#stop.hidden = this.#text.hidden = !refining;
    this.#goOn.hidden = refining;
  }
}

function words(answer: TensorAnswer, sampled: boolean): (Node | string)[] {
  const [captured, ...more] = trustWords(answer, answer.tile && !sampled);
  const unsure = isUnsure(answer);
  const first = element("span", { class: unsure ? "tvmdbg-warning" : undefined });
  first.textContent = `${unsure ? "⚠ " : ""}${captured}`;
  return [first, ...more.flatMap((part) => [" · ", part])];
}

export class Trouble extends TensorPart {
  readonly node = element("div", { class: "tvmdbg-tensor-trouble", hidden: true });
  #error: unknown = null;

  get shown(): boolean {
    return !this.node.hidden;
  }

  hide(): void {
    this.node.hidden = true;
  }

  empty(title: string, detail: string): void {
    this.#show(message("empty", title, detail));
  }

  /** Keeps an equal message, so that it is not announced twice. */
  failed(title: string, error: unknown, hint: string): void {
    if (this.shown && this.#error === error) return;
    const again = () => this.host.viewing.again();
    const more = retry(error, "Ask for the tensor again", again);
    this.#show(message("error", title, hinted(error, hint)), ...(more ? [more] : []));
    this.#error = error;
  }

  #show(...children: Node[]): void {
    this.#error = null;
    this.node.replaceChildren(...children);
    this.node.hidden = false;
  }
}

const TITLES: Record<ShowChoice, string> = {
  heatmap: "Heatmap of two axes (1)",
  channels: "Channels: one heatmap per index of an axis (2)",
  "line plot": "Line plot of min, mean and max along an axis (3)",
};

export class ViewBar extends TensorPart {
  readonly #tabs = SHOWS.map((show) => button(show, TITLES[show], () => this.host.display(show)));
  readonly #out = iconButton(icons.ZOOM_OUT, "zoom out", "zoom out (-)", () =>
    this.host.steering.zoom(1 / 2),
  );
  readonly #in = iconButton(icons.ZOOM_IN, "zoom in", "zoom in (+)", () =>
    this.host.steering.zoom(2),
  );
  readonly #whole = iconButton(icons.FIT, "fit", "fit the whole heatmap (0)", () =>
    this.host.whole(),
  );
  readonly #zoom = element(
    "span",
    { class: "tvmdbg-tensor-zoom tvmdbg-row tvmdbg-wrap", role: "group", "aria-label": "Zoom" },
    span("tvmdbg-joined", this.#out, this.#in),
    this.#whole,
  );
  readonly node = part(
    "view-bar tvmdbg-row tvmdbg-wrap tvmdbg-gap-10",
    element("span", { class: "tvmdbg-joined", role: "group", "aria-label": "Show" }, ...this.#tabs),
    this.#zoom,
  );

  show(show: ShowChoice, zoomed: boolean, canZoom: boolean): void {
    for (const [at, tab] of this.#tabs.entries()) {
      tab.setAttribute("aria-pressed", String(SHOWS[at] === show));
    }
    this.#zoom.hidden = show !== "heatmap" || (!zoomed && !canZoom);
    this.#whole.hidden = !zoomed;
    this.#out.disabled = !zoomed;
    this.#in.disabled = !canZoom;
  }
}
