/** Questions about tensors that a page answers from its own tables. */
import { counted } from "../shared/format.ts";

/** Fields of a question, checked as in `answers/messages.py`. */
export class Question {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(message: unknown) {
    this.#fields = message as Record<string, unknown>;
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
