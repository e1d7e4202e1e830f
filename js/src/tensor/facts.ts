/** What the header of a tensor tells beside its name: in the live view, in figures and in their text. */
import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
import { bytes, shapeText } from "../shared/format.ts";

/** What is known of a tensor before any value was read. */
export type Known = Pick<TensorAnswer, "title" | "dtype" | "shape" | "nbytes" | "trust">;

export interface Fact {
  text: string;
  /** Whether it is to be doubted; undefined where that is no question. */
  isSure?: boolean;
  /** What it means. */
  about?: string;
}

export function tensorFacts({ dtype, shape, nbytes, trust }: Omit<Known, "title">): Fact[] {
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
