import type { TensorAnswer } from "../shared/client/tensor_questions.ts";

/** Whether two answers are of the same values, however they are laid out. */
export function sameTensor(a: TensorAnswer | null, b: TensorAnswer | null): boolean {
  return !!a && !!b && a.entry.join() === b.entry.join() && a.reading === b.reading;
}

/** The answer to be shown: what cannot be read any more takes no picture away of the plane that is shown. */
export function withPicture(answer: TensorAnswer, before: TensorAnswer | null): TensorAnswer {
  if (!answer.trouble || !before?.tile || !sameTensor(before, answer)) return answer;
  const plane = ({ layout, axes, index }: TensorAnswer) => JSON.stringify([layout, axes, index]);
  return plane(before) === plane(answer) ? { ...before, trouble: answer.trouble } : answer;
}
