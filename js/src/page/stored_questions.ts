/** Questions about a run that a page answers from its own tables. */
import type { AnswerMessage } from "../shared/client/page_model.ts";
import { counted } from "../shared/format.ts";
import { recordedAnswers, type StoredData, type StoredReply, unanswered } from "./stored_data.ts";

/** Fields of a question, checked as in `answers/messages.py`. */
export class Question {
  readonly kind: string;
  readonly #fields: Record<string, unknown>;

  constructor(message: unknown) {
    const fields = message as Record<string, unknown> | null;
    if (typeof fields !== "object" || typeof fields?.kind !== "string") {
      throw new Error("a question must be an object with a kind");
    }
    this.kind = fields.kind;
    this.#fields = fields;
  }

  integer(name: string, low = 0, high = 2 ** 53): number {
    return whole(name, this.#fields[name], low, high);
  }

  integers(name: string, length?: number): number[] {
    const value = this.#fields[name];
    if (!Array.isArray(value) || value.length > 64) {
      throw new Error(`${name} must be a list of at most 64 whole numbers`);
    }
    if (length !== undefined && value.length !== length) {
      throw new Error(`${name} must have ${counted(length, "item")}, found ${value.length}`);
    }
    return value.map((item, i) => whole(`${name}[${i}]`, item, 0, 2 ** 53));
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? null) !== null;
  }

  number(name: string): number {
    const value = this.#fields[name];
    if (!Number.isFinite(value)) throw new Error(`${name} must be a finite number`);
    return value as number;
  }

  numbers(name: string, low: number, high: number, most: number): number[] {
    const value = this.#fields[name];
    if (!Array.isArray(value) || value.length === 0 || value.length > most) {
      throw new Error(`${name} must be a list of 1 to ${most} numbers`);
    }
    if (!value.every((item) => Number.isFinite(item) && item >= low && item <= high)) {
      throw new Error(`${name} must be numbers in ${low} … ${high}`);
    }
    return value as number[];
  }

  /** A text of at most `most` characters, or null. */
  text(name: string, most = 100): string | null {
    const value = this.#fields[name] ?? null;
    if (value === null || (typeof value === "string" && value.length <= most)) return value;
    throw new Error(`${name} must be a text of at most ${most} characters`);
  }

  choice(name: string, choices: readonly string[]): string | null {
    const value = this.#fields[name] ?? null;
    if (value === null || choices.includes(value as string)) return value as string | null;
    throw new Error(`${name} must be one of ${choices.join(", ")}`);
  }

  /** Integers by letter; may be empty. */
  sizes(): Record<string, number> {
    const value = this.#fields.sizes ?? {};
    const entries = typeof value === "object" ? Object.entries(value) : [];
    if (typeof value !== "object" || Array.isArray(value) || entries.length > 32) {
      throw new Error("sizes must be an object of at most 32 sizes");
    }
    return Object.fromEntries(
      entries.map(([letter, size]) => {
        if ([...letter].length !== 1) throw new Error("sizes must be sizes by one letter each");
        return [letter, whole(`sizes.${letter}`, size, 1, 2 ** 53)];
      }),
    );
  }

  /** Null if the question leaves the choice to the answer. */
  axes(): AxisPair | null {
    const value = this.#fields.axes ?? null;
    if (value === null) return null;
    if (!Array.isArray(value) || value.length !== 2) throw new Error("axes must be a pair of axes");
    const [down, across] = value.map((item, i) =>
      item === null || item === undefined ? null : whole(`axes[${i}]`, item, 0, 63),
    );
    return [down!, across!];
  }
}

export type AxisPair = [down: number | null, across: number | null];

function whole(name: string, value: unknown, low: number, high: number): number {
  if (!Number.isInteger(value)) throw new Error(`${name} must be a whole number`);
  if ((value as number) < low || (value as number) > high) {
    throw new Error(`${name} must lie in ${low} … ${high}, found ${value}`);
  }
  return value as number;
}

export type StoredAnswers = Readonly<Record<string, (question: Question) => StoredReply>>;

/** Replies that were recorded, or that `make` reads from the page. */
export function storedAnswers(
  data: ArrayBuffer,
  make: (data: StoredData) => StoredAnswers,
): AnswerMessage {
  return recordedAnswers(data, (stored) => {
    const answers = make(stored);
    return (message) => answered(answers, new Question(message));
  });
}

/** What only Python answers unless it is recorded. */
const ABSENT: Readonly<Record<string, string>> = {
  node: "no details of this node",
  region: "no statistics of regions",
  percentiles: "no other percentiles",
  profile: "no values of this line plot",
};

function answered(answers: StoredAnswers, question: Question): StoredReply {
  const { kind } = question;
  if (Object.hasOwn(answers, kind)) return answers[kind]!(question);
  const what = (Object.hasOwn(ABSENT, kind) && ABSENT[kind]) || "no answer to this";
  return unanswered(what);
}
