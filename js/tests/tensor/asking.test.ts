import { expect, it } from "vitest";
import type { Client } from "../../src/shared/client/client.ts";
import type { PlaneView, TensorAnswer } from "../../src/shared/client/tensor_questions.ts";
import { PictureRequests } from "../../src/tensor/picture/tiles.ts";
import { answer } from "./answer.ts";

const wanted = { part: null, rows: 2, cols: 2, rowStep: 1, colStep: 1 };
const at = (index: number): PlaneView => ({
  ...{ entry: [3, 0], reading: null, layout: "", sizes: {} },
  ...{ axes: [1, 2], index: [index, 0, 0] },
});

/** Questions wait until a test gives their answers, in any order. */
function world() {
  const told: string[] = [];
  const flying = new Map<number, { give(found: TensorAnswer): void; refuse(why: Error): void }>();
  const run = {
    ask: (_kind: string, { index }: PlaneView) =>
      new Promise<TensorAnswer>((give, refuse) => flying.set(index![0]!, { give, refuse })),
  } as unknown as Client;
  const asking = new PictureRequests(
    run,
    {
      answered: ({ index }) => told.push(`answer ${index[0]}`),
      failed: (error) => told.push((error as Error).message),
      busy: () => {},
      refining: () => {},
    },
    new AbortController().signal,
  );
  return {
    told,
    ask: (index: number) => asking.ask(at(index), wanted, null, false),
    answers: (index: number) => flying.get(index)!.give({ ...answer({}), index: [index, 0, 0] }),
    fails: (index: number) => flying.get(index)!.refuse(new Error(`no ${index}`)),
  };
}

it("shows an older answer until the newest arrives, never after it", async () => {
  const { told, ask, answers } = world();
  const [first, second] = [ask(1), ask(2)];
  answers(1);
  await first;
  answers(2);
  await second;
  const [third, fourth] = [ask(3), ask(4)];
  answers(4);
  await fourth;
  answers(3);
  await third;
  expect(told).toEqual(["answer 1", "answer 2", "answer 4"]);
});

it("does not replace the newest question's error by an older answer", async () => {
  const { told, ask, answers, fails } = world();
  const [first, second] = [ask(1), ask(2)];
  fails(2);
  await second;
  answers(1);
  await first;
  expect(told).toEqual(["no 2"]);
});

it("ignores the error of an older question", async () => {
  const { told, ask, answers, fails } = world();
  const [first, second] = [ask(1), ask(2)];
  fails(1);
  await first;
  answers(2);
  await second;
  expect(told).toEqual(["answer 2"]);
});
