import type { GraphColumns } from "../../shared/client/run_client.ts";
import type { Slices } from "./slices.ts";

const NO_DEVICE = "unknown device";

/** Where slices run: on the device that the graph says of the first output of their node, else on that of their track. */
export class Devices {
  readonly words: readonly string[];
  readonly #ofNode: Int32Array;
  readonly #ofTrack: Int32Array;
  readonly #unknown: number;

  constructor(slices: Slices, graph: GraphColumns | null) {
    const words: string[] = [];
    const numbers = new Map<string, number>();
    const number = (word: string) => {
      if (!numbers.has(word)) numbers.set(word, words.push(word) - 1);
      return numbers.get(word)!;
    };
    this.#ofTrack = Int32Array.from(slices.tracks, (track) =>
      number(slices.columns.trackDevice.at(track.number) || track.name),
    );
    const types = new Map<number, number>();
    const ofType = (type: number) => {
      if (!types.has(type))
        types.set(type, number(graph!.info?.devices[type] ?? `device type ${type}`));
      return types.get(type)!;
    };
    this.#ofNode = new Int32Array(graph?.deviceTypes.length ? graph.kinds.length : 0).fill(-1);
    this.#ofNode.forEach((_, node) => {
      const [first, last] = [graph!.entryOffsets[node]!, graph!.entryOffsets[node + 1]!];
      if (first < last) this.#ofNode[node] = ofType(graph!.deviceTypes[first]!);
    });
    this.#unknown = number(NO_DEVICE);
    this.words = words;
  }

  /** The number of the word for a node (-1: not known) on a track (-1: none). */
  of(node: number, track: number): number {
    const placed = this.#ofNode[node] ?? -1;
    return placed >= 0 ? placed : (this.#ofTrack[track] ?? this.#unknown);
  }
}
