import { group, opKinds } from "../../../../tvmdbg_widgets/figures/tokens.json";
import {
  blockFill,
  channels,
  heatFill,
  inkOn,
  kindFill,
  type Theme,
} from "../../shared/drawing/theme.ts";
import type { TimeBins } from "../data/bins.ts";
import { changeFills, fillOfChange } from "../data/change.ts";
import type { Names } from "../data/names.ts";
import type { Slices } from "../data/slices.ts";

/** Number of shades for slices without a known op kind, so that neighbors differ. */
const SHADES = 4;
const BLOCKS = group.kinds.light.length;
const STEPS = 20;

/** Fills of slices: by the `SliceColors` of their node, else of their name. */
export class Fills {
  css: readonly string[] = [];
  /** Text colors on them. */
  ink: readonly string[] = [];
  /** The colors as pixels without opacity. */
  pixels = new Uint32Array(0);
  readonly #slices: Slices;
  readonly #names: Names;
  readonly #kinds = Object.keys(opKinds.light);
  readonly #blocks = this.#kinds.length + SHADES;
  readonly #shares = this.#blocks + BLOCKS;
  readonly #changes = this.#shares + STEPS + 1;
  /** Each but one more; 0 if it is not known yet. */
  #ofNode = new Uint8Array(0);
  #ofName = new Uint8Array(0);

  constructor(slices: Slices, names: Names) {
    this.#slices = slices;
    this.#names = names;
    this.recolor();
  }

  /** To be called after a change of the coloring. */
  recolor(): void {
    this.#ofNode = new Uint8Array(this.#slices.columns.nodeNs.length);
    this.#ofName = new Uint8Array(0);
  }

  #fillOf(node: number): number {
    this.#ofNode[node] ||= 1 + this.#numberOf(node);
    return this.#ofNode[node]! - 1;
  }

  #numberOf(node: number): number {
    const { colors } = this.#names;
    const kind = this.#names.opKind(node);
    if (colors.byShare(kind)) return this.#shared(colors.shareOf(node));
    const block = colors.by === "block" ? colors.block(node) : -1;
    return block < 0 ? this.#number(kind) : this.#blocks + (block % BLOCKS);
  }

  #shared(share: number): number {
    return this.#shares + Math.round(STEPS * Math.min(1, share));
  }

  retheme(theme: Theme): void {
    const base = channels(kindFill(theme, "other"));
    const towards = channels(theme.background);
    const shade = (by: number) =>
      `rgb(${base.map((value, i) => Math.round(value + (towards[i]! - value) * by)).join(", ")})`;
    this.css = [
      ...this.#kinds.map((kind) => kindFill(theme, kind)),
      ...Array.from({ length: SHADES }, (_, i) => shade(i * 0.16)),
      ...Array.from({ length: BLOCKS }, (_, kind) => blockFill(theme, kind)),
      ...Array.from({ length: STEPS + 1 }, (_, step) => heatFill(theme, step / STEPS)),
      ...(this.#names.change ? changeFills(theme) : []),
    ];
    this.ink = this.css.map(inkOn);
    this.pixels = Uint32Array.from(this.css, (color) => {
      const [red, green, blue] = channels(color);
      return (blue << 16) | (green << 8) | red;
    });
  }

  of(slice: number): number {
    const node = this.#slices.nodeOf(slice);
    const { change } = this.#names;
    if (change?.colored) {
      const row = node < 0 ? change.rowOfSlice(this.#slices.sourceOf(slice)) : change.rowOf(node);
      return this.#changes + fillOfChange(change, row);
    }
    if (this.#names.isOther(slice)) return this.#number(this.#names.kindOf(slice));
    if (node >= 0) return this.#fillOf(node);
    const { colors } = this.#names;
    // Events of a call: its own time is in none of their names.
    if (this.#slices.callOf(slice) >= 0) {
      const kind = this.#names.kindOf(slice);
      if (!colors.byShare(kind)) return this.#number(kind);
      return this.#shared(colors.shareOfTime(this.#slices.durationOf(slice)));
    }
    if (this.#ofName.length !== this.#slices.names.length) this.#sortNames();
    return this.#ofName[this.#slices.nameCodeOf(slice)] ?? 0;
  }

  ofBin(bins: TimeBins, bin: number): number {
    const node = bins.nodeOf(bin);
    const { change } = this.#names;
    if (change?.colored) return this.#changes + fillOfChange(change, change.rowOf(node));
    if (node >= 0) return this.#fillOf(node);
    return this.#named(bins.kindOf(bin), bins.nameOf(bin), bins.nameCodeOf(bin));
  }

  #sortNames(): void {
    const { names, nameKinds } = this.#slices;
    this.#ofName = Uint8Array.from({ length: names.length }, (_, name) =>
      this.#named(nameKinds.at(name) || "other", names.at(name), name),
    );
  }

  /** Fill by op kind; if unknown, a shade by name. */
  #named(kind: string, name: string, code: number): number {
    const { colors } = this.#names;
    if (colors.byShare(kind)) return this.#shared(colors.shareOfName(code));
    if (kind !== "other") return this.#number(kind);
    let mixed = 0;
    for (let at = 0; at < name.length; at++) mixed = (mixed * 31 + name.charCodeAt(at)) | 0;
    return this.#kinds.length + (((mixed ^ (mixed >>> 7)) >>> 0) % SHADES);
  }

  #number(kind: string): number {
    const at = this.#kinds.indexOf(kind);
    return at < 0 ? this.#kinds.indexOf("other") : at;
  }
}
