import type { TensorQuestions } from "../../shared/client/tensor_client.ts";
import type { PlaneView } from "../../shared/client/tensor_questions.ts";
import { append } from "../../shared/many.ts";
import type { Region, ValueLook } from "../state.ts";
import { itemSize } from "./npy.ts";

/** Values of a window of a plane as they are stored. */
export interface Fetched {
  descr: string;
  note: string;
  bytes: Uint8Array<ArrayBuffer>;
}

type Progress = (done: number, total: number) => void;

const TEXTS = 4096;
const TEXT_COLS = 256;

/**
 * The items of a window, row by row, in as many answers as it takes.
 *
 * Whole rows are asked for, since a part of a row comes alone; of rows longer than an answer only the part that counts.
 */
export async function fetchBytes(
  run: Pick<TensorQuestions, "data">,
  view: PlaneView,
  [row, col, rows, cols]: Region,
  progress: Progress,
  signal: AbortSignal,
): Promise<Fetched> {
  const [end, right] = [row + rows, col + cols];
  let [at, start, from] = [row, 0, 0];
  let bytes = new Uint8Array(0);
  let [descr, note] = ["|u1", ""];
  while (at < end) {
    const answer = await run.data({ ...view, row: at, rows: end - at, col: from }, signal);
    ({ descr, note } = answer);
    const size = itemSize(descr);
    if (at === row && bytes.length === 0) bytes = new Uint8Array(rows * cols * size);
    const past = answer.col + answer.cols;
    const whole = answer.rows > 1 || past >= right;
    if (answer.row !== at || answer.rows < 1 || answer.col !== from || answer.cols < 1) {
      throw new Error("received other values than requested");
    }
    const [first, last] = [Math.max(col, answer.col), Math.min(right, past)];
    const { buffer, byteOffset } = answer.bytes;
    for (let k = 0; k < Math.min(answer.rows, end - at) && last > first; k += 1) {
      const place = byteOffset + (k * answer.cols + first - answer.col) * size;
      const items = new Uint8Array(buffer, place, (last - first) * size);
      bytes.set(items, ((at - row + k) * cols + first - col) * size);
    }
    if (past <= col) start = col;
    at += whole ? answer.rows : 0;
    from = whole ? start : Math.max(past, start);
    progress(Math.min(rows, at - row) * cols, rows * cols);
  }
  return { descr, note, bytes };
}

/** The texts of a window row by row, as the table shows them. */
export async function fetchTexts(
  run: Pick<TensorQuestions, "values">,
  view: PlaneView,
  look: ValueLook,
  [row, col, rows, cols]: Region,
  progress: Progress,
  signal: AbortSignal,
): Promise<string[][]> {
  const lines: string[][] = Array.from({ length: rows }, () => []);
  const wide = Math.min(cols, TEXT_COLS);
  const high = Math.max(1, Math.floor(TEXTS / wide));
  let done = 0;
  for (let top = 0; top < rows; top += high) {
    for (let left = 0; left < cols; left += wide) {
      const [asked, across] = [Math.min(high, rows - top), Math.min(wide, cols - left)];
      const question = {
        ...view,
        ...look,
        row: row + top,
        col: col + left,
        rows: asked,
        cols: across,
      };
      const { text } = await run.values(question, signal);
      if (text.length !== asked * across) throw new Error("received other values than requested");
      for (let k = 0; k < asked; k += 1) {
        append(lines[top + k]!, text.slice(k * across, (k + 1) * across));
      }
      done += text.length;
      progress(done, rows * cols);
    }
  }
  return lines;
}
