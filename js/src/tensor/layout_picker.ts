/** Layout choice and trust of a picture: time of capture, number of values, assumptions. */
import { errorText } from "../shared/client/request.ts";
import type { KnownLayout, TensorAnswer } from "../shared/client/tensor_questions.ts";
import { counted } from "../shared/format.ts";
import { element, KEEP_KEYS, select } from "../shell/dom.ts";
import { field, piece, TensorPart } from "./parts.ts";
import type { TensorHost } from "./state.ts";

/** The next choice, cyclic; the first after an unknown one. */
export function following<T>(choices: readonly T[], choice: unknown): T {
  return choices[(choices.indexOf(choice as T) + 1) % choices.length]!;
}

const CAPTURED = {
  node: "captured after the node ran",
  later: "read after the run: its buffer may have been reused",
  file: "a constant of the model's file",
  unknown: "capture time unknown",
} as const;

type PictureTrust = Pick<
  TensorAnswer,
  "captured" | "layout" | "layouts" | "missingLanes" | "reading"
>;

/** True if the values may be those of a later time. */
export function isUnsure({ captured }: PictureTrust): boolean {
  return captured === "later";
}

/** Sentences on trust; `exact` is null if nothing is drawn, `misfit` tells why a layout does not fit. */
export function trustWords(believed: PictureTrust, exact: boolean | null, misfit = ""): string[] {
  const { captured, layout, layouts, missingLanes, reading } = believed;
  const words: string[] = [CAPTURED[captured]];
  const stored = missingLanes ? "all stored values" : "all values";
  if (exact !== null) words.push(exact ? stored : "sampled values");
  if (layout) words.push(`layout ${layout} ${sourceOf(layouts, layout)}`);
  else if (misfit) words.push(`axes as stored: ${misfit}`);
  else if (layouts.length > 0) words.push("axes as stored");
  if (reading !== null) words.push(`read as ${reading.replace(/^as /, "")}`);
  return words;
}

/** "from out_layout of node 4", or a note that it was given by hand. */
function sourceOf(layouts: readonly KnownLayout[], layout: string): string {
  const known = layouts.find((candidate) => candidate.layout === layout);
  if (!known) return "(custom)";
  return `from ${known.source}${known.certainty === "likely" ? " (likely)" : ""}`;
}

const BY_HAND = "custom";

export class LayoutPicker extends TensorPart {
  readonly node = element("span", {
    class: "tvmdbg-tensor-layouts tvmdbg-row tvmdbg-wrap tvmdbg-gap-10",
    hidden: true,
  });
  readonly #problem = element("span", {
    class: "tvmdbg-error",
    role: "alert",
    id: `tvmdbg-layout-${Math.random().toString(36).slice(2)}`,
  });
  readonly #offered = piece("layouts-offered");
  readonly #text = this.#field("Layout", "NCHW8c", 9);
  readonly #sizes = this.#field("Sizes without padding", "C=12", 7);
  readonly #hand = piece(
    "by-hand tvmdbg-row tvmdbg-wrap tvmdbg-gap-10",
    this.#text,
    this.#sizes,
    this.#problem,
  );
  #answer: TensorAnswer | null = null;
  #built = "";
  #laid = "";
  #entry = "";
  #byHand = false;
  #ticket = 0;

  constructor(host: TensorHost) {
    super(host);
    this.node.append(this.#offered, this.#hand);
  }

  #field(label: string, placeholder: string, size: number): HTMLInputElement {
    const look = { placeholder, size, spellcheck: "false", autocomplete: "off" };
    const input = field(
      `${label}, such as ${placeholder}`,
      { ...look, "aria-describedby": this.#problem.id },
      () => this.#apply(),
      this.host,
    );
    input.addEventListener("input", () => this.#asked());
    return input;
  }

  show(answer: TensorAnswer): void {
    this.#answer = answer;
    const { layouts, layout, sizes, storedShape } = answer;
    this.node.hidden = storedShape.length < 2 || (storedShape.length < 3 && layouts.length === 0);
    const entry = answer.entry.join();
    const laid = JSON.stringify([entry, layout, sizes]);
    if (laid !== this.#laid) {
      const suggested = layouts.find((candidate) => candidate.layout === layout);
      const own = sizesText(sizes);
      const known = layout === "" || (suggested && (!own || own === sizesText(suggested.sizes)));
      this.#byHand =
        !known || (this.#byHand && entry === this.#entry && layout === this.#text.value);
      [this.#laid, this.#entry] = [laid, entry];
    }
    const key = JSON.stringify([laid, layouts, this.#byHand, storedShape]);
    if (key === this.#built) return;
    this.#built = key;
    this.#build(answer);
  }

  #build({ layouts, layout, sizes, storedShape }: TensorAnswer): void {
    const focused = document.activeElement;
    const choices = [
      ...layouts.map((layout) => [layout.layout, `${layout.layout} (${layout.source})`] as const),
      ["", `as stored (${counted(storedShape.length, "axis")})`] as const,
      [BY_HAND, "custom …"] as const,
    ];
    const list = select("Layout (a)", choices, this.#byHand ? BY_HAND : layout, (value) =>
      this.#chosen(value),
    );
    if (layout) list.title = `Layout ${layout} ${sourceOf(layouts, layout)} (a)`;
    const full = layouts.find((candidate) => candidate.layout === layout)?.sizes ?? {};
    const padded = Object.keys(full).length > 0 && layout !== "" && !this.#byHand;
    const padding = element("input", { type: "checkbox", ...KEEP_KEYS });
    padding.checked = Object.keys(sizes).length === 0;
    padding.addEventListener("change", () => {
      this.host.lay({ layout, sizes: padding.checked ? {} : null });
    });
    // An answer may come while the user types the next layout.
    if (layout && focused !== this.#text) this.#text.value = layout;
    if (layout && this.#byHand && focused !== this.#sizes) this.#sizes.value = sizesText(sizes);
    const isChoosing = this.#offered.contains(focused);
    this.#offered.replaceChildren(
      element("label", {}, "layout ", list),
      padded ? element("label", { title: sizesText(full) }, padding, "padding") : "",
    );
    this.#hand.hidden = !this.#byHand;
    if (isChoosing) (focused?.tagName === "SELECT" ? list : padding).focus({ preventScroll: true });
    this.#asked();
  }

  /** Opens the field for a layout by hand, or goes on to the next known one. */
  next(): void {
    const answer = this.#answer;
    if (!answer || this.node.hidden) return;
    const all = [...answer.layouts.map(({ layout }) => layout), ""];
    const next = following(all, answer.layout);
    this.#chosen(next === answer.layout ? BY_HAND : next);
  }

  #chosen(value: string): void {
    const answer = this.#answer;
    if (!answer) return;
    this.#byHand = value === BY_HAND;
    this.show(answer);
    if (this.#byHand) {
      this.#text.focus({ preventScroll: true });
      return;
    }
    this.host.lay({ layout: value, sizes: null });
  }

  get #layout(): string {
    return this.#byHand ? this.#text.value.trim() : "";
  }

  /** Asks for the axes of the typed layout; null, with a reason beside the fields, if there are none. */
  async #asked(): Promise<KnownLayout | null> {
    this.#ticket += 1;
    const [ticket, answer, layout] = [this.#ticket, this.#answer, this.#layout];
    const sizes = parseSizes(this.#sizes.value);
    let laid: KnownLayout | string | null = null;
    if (typeof sizes === "string") laid = layout && sizes;
    else if (answer && layout) {
      const { entry, reading } = answer;
      laid = await this.host.run.ask("layout", { entry, reading, layout, sizes }).catch(errorText);
    }
    if (ticket !== this.#ticket) return null;
    const problem = typeof laid === "string" ? laid : "";
    this.#problem.textContent = problem;
    this.#text.setAttribute("aria-invalid", String(problem !== ""));
    return typeof laid === "string" ? null : laid;
  }

  async #apply(): Promise<boolean> {
    const laid = await this.#asked();
    if (laid) {
      const sizes = parseSizes(this.#sizes.value) as Record<string, number>;
      this.host.lay({ layout: laid.layout, sizes }, laid);
    }
    return !!laid || !this.#layout;
  }
}

/** `C=12, W=5` as sizes, or an error. */
function parseSizes(text: string): Record<string, number> | string {
  const sizes: Record<string, number> = {};
  for (const item of text.split(/[\s,;]+/).filter(Boolean)) {
    const match = /^([A-Z])\s*[=:]\s*(\d+)$/.exec(item);
    if (!match) return `"${item}" is not a size: expected, for example, C=12`;
    sizes[match[1]!] = Number(match[2]);
  }
  return sizes;
}

function sizesText(sizes: Readonly<Record<string, number>>): string {
  return Object.entries(sizes)
    .map(([letter, size]) => `${letter}=${size}`)
    .join(", ");
}
