import { expect, it } from "vitest";
import type { Client } from "../../src/shared/client/client.ts";
import type {
  PlaneView,
  TensorAnswer,
  TensorRequest,
} from "../../src/shared/client/tensor_questions.ts";
import { Pictures } from "../../src/tensor/picture/pictures.ts";
import { PlaneViewport } from "../../src/tensor/picture/viewport.ts";
import { answer } from "./answer.ts";

const at = (index: number): TensorRequest => ({
  ...{ entry: [3, 0], reading: null, layout: "", sizes: {} },
  ...{ axes: [1, 2], index: [index, 0, 0] },
  ...{ part: null, rows: 2, cols: 2, exact: false },
});

/** Lets all that has been answered arrive. */
const arrival = () => new Promise((resolve) => setTimeout(resolve));

/** Questions wait until a test gives their answers, in any order. */
function world() {
  const told: string[] = [];
  const flying = new Map<number, { give(found: TensorAnswer): void; refuse(why: Error): void }>();
  const run = {
    ask: (_kind: string, { index }: PlaneView) =>
      new Promise<TensorAnswer>((give, refuse) => flying.set(index![0]!, { give, refuse })),
  } as unknown as Client;
  let wanted = at(0);
  const plane = { shape: [5, 2, 3], axes: [1, 2] as const, index: [0, 0, 0] };
  const pictures = new Pictures(
    run,
    { plane, question: () => wanted },
    new PlaneViewport(),
    {
      answered: ({ index }) => told.push(`answer ${index[0]}`),
      failed: (error) => told.push((error as Error).message),
      busy: () => {},
      refining: () => {},
      draw: () => {},
    },
    new AbortController().signal,
  );
  return {
    told,
    ask: (index: number) => {
      wanted = at(index);
      pictures.want(null, null);
    },
    answers: (index: number) => flying.get(index)!.give({ ...answer({}), index: [index, 0, 0] }),
    fails: (index: number) => flying.get(index)!.refuse(new Error(`no ${index}`)),
  };
}

it("shows an older answer until the newest arrives, never after it", async () => {
  const { told, ask, answers } = world();
  ask(1);
  ask(2);
  answers(1);
  await arrival();
  answers(2);
  await arrival();
  ask(3);
  ask(4);
  answers(4);
  await arrival();
  answers(3);
  await arrival();
  expect(told).toEqual(["answer 1", "answer 2", "answer 4"]);
});

it("does not replace the newest question's error by an older answer", async () => {
  const { told, ask, answers, fails } = world();
  ask(1);
  ask(2);
  fails(2);
  await arrival();
  answers(1);
  await arrival();
  expect(told).toEqual(["no 2"]);
});

it("ignores the error of an older question", async () => {
  const { told, ask, answers, fails } = world();
  ask(1);
  ask(2);
  fails(1);
  await arrival();
  answers(2);
  await arrival();
  expect(told).toEqual(["answer 2"]);
});
