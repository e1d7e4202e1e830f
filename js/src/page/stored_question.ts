/** Fields of a question, checked as `widgets/messages.py` checks them. */
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
      throw new Error(`${name} must have ${length} items, found ${value.length}`);
    }
    return value.map((each, i) => whole(`${name}[${i}]`, each, 0, 2 ** 53));
  }

  axes(): Axes {
    const value = this.#fields.axes;
    if (!Array.isArray(value) || value.length !== 2) throw new Error("axes must be a pair of axes");
    const [down, across] = value.map((each, i) =>
      each === null || each === undefined ? null : whole(`axes[${i}]`, each, 0, 63),
    );
    return [down!, across!];
  }

  reading(): string | null {
    const value = this.#fields.reading ?? null;
    if (value === null || value === "packed" || value === "bytes") return value;
    throw new Error("reading must be one of packed, bytes");
  }
}

export type Axes = [down: number | null, across: number | null];

function whole(name: string, value: unknown, low: number, high: number): number {
  if (!Number.isInteger(value)) throw new Error(`${name} must be a whole number`);
  if ((value as number) < low || (value as number) > high) {
    throw new Error(`${name} must lie in ${low} … ${high}, found ${value}`);
  }
  return value as number;
}
