/** Replies that a page recorded, as `record` of `export/page/pack.py` stores them. */
import type { Packed } from "../shared/client/answers.ts";
import type { AnswerMessage } from "../shared/client/page_model.ts";
import { restored, StoredData } from "./stored_data.ts";

interface AskedMessage {
  id?: string;
  /** What only carries the question. */
  client?: string;
  near?: boolean;
}

/** Answers the questions that were recorded. */
export function replay(data: ArrayBuffer): AnswerMessage {
  const stored = new StoredData(data);
  const rows = Object.entries(stored.head.replies ?? {});
  const replies = new Map(rows.map(([question, reply]) => [keyOf(JSON.parse(question)), reply]));
  return async (message) => {
    const { id, client: _, near: __, ...question } = message as AskedMessage;
    const found = replies.get(keyOf(question));
    if (!found) {
      throw new Error(
        "This page has no kernel, and no answer to this: open the log in a notebook.",
      );
    }
    const [result, ...places] = found;
    const { columns = [] } = (result ?? {}) as Partial<Packed>;
    const buffers = places.map(([at, size], place) => {
      const bytes = stored.blob(at, size).slice();
      return new DataView((place ? bytes : restored(bytes, columns)).buffer);
    });
    return { content: { id, result }, buffers };
  };
}

/** A question as text, whatever the order of its fields. */
function keyOf(question: object): string {
  return JSON.stringify(question, (_, value: unknown) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
