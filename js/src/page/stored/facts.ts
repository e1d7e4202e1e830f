/** What a page knows of each tensor apart from its values. */

import {
  type GraphColumns,
  type TensorColumns,
  TRUST_LABELS,
} from "../../shared/client/run_client.ts";
import type { Entry, KnownLayout } from "../../shared/client/tensor_questions.ts";
import type { Columns } from "../../shared/client/wire.ts";
import { tensorTitle } from "../../shared/node_title.ts";
import type { StoredData } from "./data.ts";
import { laneAxes } from "./lanes.ts";
import type { Question } from "./question.ts";

/** A tensor under one reading. */
export interface Found {
  row: number;
  variant: number;
  reading: string | null;
  shape: number[];
  dtype: string;
  /** Whether there is anything to draw. */
  drawn: boolean;
  /** Whether there are complex values, which have no order. */
  unordered: boolean;
}

export class StoredFacts {
  readonly #list: TensorColumns;
  readonly #facts: Columns<"page facts">;
  readonly #variants: Columns<"page variants">;
  readonly #graph: GraphColumns | null;

  constructor(data: StoredData) {
    if (!data.has("tensors")) throw new Error("this run has no tensors");
    this.#list = data.columns<"tensors">("tensors");
    this.#facts = data.columns<"page facts">("facts");
    this.#variants = data.columns<"page variants">("variants");
    this.#graph = data.has("graph") ? data.columns<"graph">("graph") : null;
  }

  find(question: Question): Found {
    const [node, output] = question.integers("entry", 2) as unknown as Entry;
    const row = this.#list.node.findIndex(
      (each, at) => each === node && this.#list.output[at] === output,
    );
    if (row < 0) throw new Error(`no tensor for node ${node}, output ${output}`);
    const known = this.readings(row);
    const asked = known.length ? question.choice("reading", known) : null;
    if (!known.length) question.text("reading");
    const { tensor, reading, shapeOffsets, shapeDims, applicable, dtype } = this.#variants;
    const first = tensor.indexOf(row);
    if (first < 0) throw new Error("the data of this page is damaged");
    let variant = asked === null ? first : -1;
    for (let at = first; variant < 0 && tensor[at] === row; at++) {
      if (reading.at(at) === asked) variant = at;
    }
    const shape = Array.from(
      shapeDims.subarray(shapeOffsets[variant]!, shapeOffsets[variant + 1]!),
    );
    const drawn = applicable[variant] === 1 && !shape.includes(0);
    const read = reading.at(variant) || null;
    const unordered = read === "complex" && !shape.includes(0);
    return { row, variant, reading: read, shape, dtype: dtype.at(variant), drawn, unordered };
  }

  readings(row: number): string[] {
    const { tensor, reading } = this.#variants;
    const found: string[] = [];
    for (let at = tensor.indexOf(row); tensor[at] === row; at++) found.push(reading.at(at));
    return found.filter((each) => each);
  }

  /** The variants of the real and imaginary parts of a variant of complex numbers. */
  parts(variant: number): number[] {
    const { tensor, reading } = this.#variants;
    const of = (name: string) =>
      tensor.findIndex((row, at) => row === tensor[variant] && reading.at(at) === name);
    return [of("real"), of("imag")];
  }

  layouts(row: number): KnownLayout[] {
    return JSON.parse(this.#facts.layouts.at(row) || "[]") as KnownLayout[];
  }

  /** Why something of the values cannot be told, and what would tell it. */
  missing({ row }: Found, what: string): string {
    const why = this.#facts.pageNotes.at(row) || "its values were not saved";
    return `not in this page: ${what} (${why}); open the dump, or ${this.#facts.remedies.at(row)}`;
  }

  /** Names of the axes as they are stored; empty where none has one. */
  axisNames({ row, shape }: Found): string[] {
    const list = this.#list;
    const dims = list.shapeDims.subarray(list.shapeOffsets[row]!, list.shapeOffsets[row + 1]!);
    return laneAxes(list.dtypes.at(row), Array.from(dims), shape).names;
  }

  header({ row, reading, shape, dtype, unordered }: Found): object {
    const [list, facts] = [this.#list, this.#facts];
    const dims = list.shapeDims.subarray(list.shapeOffsets[row]!, list.shapeOffsets[row + 1]!);
    const notes: string[] = [];
    for (let at = facts.noteOffsets[row]!; at < facts.noteOffsets[row + 1]!; at++) {
      notes.push(facts.notes.at(at));
    }
    const own = facts.pageNotes.at(row);
    return {
      entry: [list.node[row], list.output[row]],
      name: list.names.at(row),
      title: tensorTitle(this.#graph, list.names.at(row), list.node[row]!, list.output[row]!),
      key: facts.keys.at(row),
      dtype: list.dtypes.at(row),
      valueDtype: dtype,
      shape: Array.from(dims),
      nbytes: list.nbytes[row],
      offset: facts.offsets[row],
      file: facts.files.at(row),
      trust: TRUST_LABELS[list.trust[row]!],
      notes: own ? [...notes, own] : notes,
      missingLanes: laneAxes(list.dtypes.at(row), Array.from(dims), shape).missing,
      captured: facts.captured.at(row),
      readings: this.readings(row),
      reading,
      layouts: this.layouts(row),
      unordered,
      storedShape: shape,
    };
  }
}
