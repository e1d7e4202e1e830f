/** What a page answers in place of a kernel, from the binary that `export/page/stored.py` makes. */
import { errorText } from "../../shared/client/message.ts";
import type { Ask } from "../../shared/client/static_model.ts";
import { StoredData } from "./data.ts";
import { Question } from "./question.ts";

export interface Reply {
  result: unknown;
  buffers: DataView[];
}

/** What answers the questions of each kind. */
export type Answers = Readonly<Record<string, (question: Question) => Reply>>;

/** Answers the questions of `shared/run_client.ts` that `make` knows; whatever goes wrong is an answer too. */
export function storedAnswers(data: ArrayBuffer, make: (data: StoredData) => Answers): Ask {
  let answers: Answers | undefined;
  return async (message) => {
    const id = (message as { id?: unknown } | null)?.id;
    try {
      answers ??= make(new StoredData(data));
      const { result, buffers } = answered(answers, new Question(message));
      return { content: { id, result }, buffers };
    } catch (error) {
      return { content: { id, error: errorText(error) }, buffers: [] };
    }
  };
}

function answered(answers: Answers, question: Question): Reply {
  const { kind } = question;
  if (Object.hasOwn(answers, kind)) return answers[kind]!(question);
  throw new Error(`a page without a kernel cannot answer ${JSON.stringify(kind.slice(0, 200))}`);
}
