import type { AnyModel } from "@anywidget/types";
import type { Client } from "../src/shared/client/client.ts";
import { type AnswerMessage, modelOfView, StaticModel } from "../src/shared/client/page_model.ts";

/** A model whose messages are kept, and answered by hand or by `ask`. */
export function fakeModel(state: Record<string, unknown> = {}, ask?: AnswerMessage) {
  const sent: { id: string; kind: string; [field: string]: unknown }[] = [];
  const waiting: ((content: object, buffers?: DataView[]) => void)[] = [];
  const inner = new StaticModel(state, (message) => {
    sent.push(message as (typeof sent)[number]);
    if (ask) return ask(message);
    return new Promise((resolve) => {
      waiting.push((content, buffers = []) => resolve({ content, buffers }));
    });
  });
  const model: AnyModel = modelOfView(inner, new AbortController().signal);
  return { model, inner, sent, waiting };
}

/** Lets everything that is ready happen. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A client whose answers are already open, by kind of question. */
export function fakeClient(answers: Record<string, (question: never) => unknown>): Client {
  return {
    ask: async (kind: string, question = {}) => answers[kind]!(question as never),
    once: (_key: string, ask: () => unknown) => ask(),
  } as unknown as Client;
}
