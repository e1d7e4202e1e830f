import type { TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Names } from "../data/names.ts";
import { firstOf, fitTitle, type Title, titleText } from "../data/titles.ts";

/** Room from which a long label is shortened rather than replaced by the node id, or left out. */
const SHORTENED_FROM = 80;
const NAME_FROM = 34;
/** Least room that an id leaves on both sides together. */
const ID_PADDING = 3;
/** Rooms whose difference is less get the same shortened text. */
const STEP = 8;

/** What can be written on the slices of one operator. */
interface Label {
  title: Title;
  /** `#66`; "" without a node. */
  id: string;
  full: string;
  /** The first operator of a fusion with the id. */
  first: string;
  idWidth: number;
  fullWidth: number;
  firstWidth: number;
  /** Shortened texts by room. */
  short: Map<number, string>;
}

/** Texts of slices, made and measured once for each node or name. */
export class Labels {
  readonly #names: Names;
  readonly #measure: TextMeasure;
  /** By node, or by name where there is none. */
  readonly #known = new Map<string | number, Label>();
  #font = "";

  constructor(names: Names, measure: TextMeasure) {
    this.#names = names;
    this.#measure = measure;
  }

  /** To be called with the context's font set; other fonts have other widths. */
  begin(font: string): void {
    if (font !== this.#font) this.#known.clear();
    this.#font = font;
  }

  of(node: number, name: string): Label {
    const key = node < 0 ? name : node;
    const known = this.#known.get(key);
    if (known) return known;
    const title = this.#names.titleOf(node, name);
    const { id, label: text } = title;
    const [full, first] = [titleText(title), `${firstOf(text)} ${id}`.trim()];
    const width = (each: string) => this.#measure.width(each);
    const label = {
      title,
      id,
      full,
      first,
      idWidth: width(id),
      fullWidth: width(full),
      firstWidth: width(first),
      short: new Map<number, string>(),
    };
    this.#known.set(key, label);
    return label;
  }

  /** What fits into a box of this width; "" where nothing does. */
  fit(label: Label, width: number): string {
    const room = width - 6;
    if (label.fullWidth <= room) return label.full;
    if (label.firstWidth > room && room < (label.id ? SHORTENED_FROM : NAME_FROM)) {
      return label.id && width - label.idWidth >= ID_PADDING ? label.id : "";
    }
    const step = Math.floor(room / STEP);
    let short = label.short.get(step);
    if (short === undefined) {
      const least = label.firstWidth <= room ? label.firstWidth : 0;
      short = fitTitle(this.#measure, label.title, Math.max(least, step * STEP));
      label.short.set(step, short);
    }
    return short;
  }
}
