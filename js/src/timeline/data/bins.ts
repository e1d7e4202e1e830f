import type { StringColumn } from "../../shared/client/columns.ts";
import type { LodColumns } from "../../shared/client/run_client.ts";
import type { Columns, Row } from "./row.ts";
import { RowKind } from "./slices.ts";

type Binned = LodColumns & {
  names: StringColumn;
  nameKinds: StringColumn;
  nameLabels: StringColumn;
};

/** Rows of equal bins of time: what is drawn where the slices themselves are not here. */
export class Bins {
  readonly from: number;
  readonly width: number;
  readonly #lod: Binned;
  readonly #count: number;

  /** @param count  bins of each row, from `from` on, each `width` nanoseconds. */
  constructor(lod: Binned, from: number, width: number, count: number) {
    this.#lod = lod;
    this.from = from;
    this.width = width;
    this.#count = count;
  }

  get end(): number {
    return this.from + this.width * this.#count;
  }

  /**
   * Tells columns `first` to `last - 1` as `Row.tell` does, as exactly as the bins allow, and the bin that fills
   * each, `mark` added to it; columns beside the bins are left as they are.
   */
  tell(
    row: Row,
    columns: Columns,
    bin: Int32Array,
    mark: number,
    from: number,
    step: number,
    first: number,
    last: number,
  ): void {
    const { lodBusy, lodSlice } = this.#lod;
    const zero = row.number * this.#count;
    const isInstant = row.kind === RowKind.INSTANT;
    const scale = step / this.width;
    const offset = (from - this.from) / this.width;
    const low = Math.max(first, Math.ceil(-offset / scale - 0.5));
    const high = Math.min(last, Math.floor((this.#count - offset) / scale + 0.5));
    for (let column = low; column < high; column++) {
      const begin = Math.max(0, offset + column * scale);
      const end = Math.min(this.#count, offset + (column + 1) * scale);
      let [best, most, busy] = [-1, 0, 0];
      for (let at = Math.floor(begin); at < end; at++) {
        const inside = Math.min(end, at + 1) - Math.max(begin, at);
        const isThere = isInstant && lodSlice[zero + at]! >= 0;
        const time = isThere ? inside : inside * lodBusy[zero + at]!;
        busy += time;
        if (time > most) {
          most = time;
          best = zero + at;
        }
      }
      const share = end > begin ? busy / (end - begin) : 0;
      columns.share[column] = isInstant ? Math.sign(share) : Math.min(1, share);
      columns.slice[column] = best < 0 ? -1 : lodSlice[best]!;
      bin[column] = best < 0 ? -1 : best + mark;
    }
  }

  /** Node and name of what fills a bin. */
  nodeOf(bin: number): number {
    return this.#lod.lodNode[bin] ?? -1;
  }

  nameCodeOf(bin: number): number {
    return this.#lod.lodName[bin] ?? -1;
  }

  nameOf(bin: number): string {
    return this.#lod.names.at(this.#lod.lodName[bin] ?? -1);
  }

  /** What that name reads. */
  labelOf(bin: number): string {
    return this.#lod.nameLabels.at(this.#lod.lodName[bin] ?? -1) || this.nameOf(bin);
  }

  /** Op kind of the name of what fills a bin. */
  kindOf(bin: number): string {
    return this.#lod.nameKinds.at(this.#lod.lodName[bin] ?? -1) || "other";
  }
}
