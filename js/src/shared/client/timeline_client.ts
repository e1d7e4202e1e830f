import { append } from "../many.ts";
import { columnsOf, type RunAnswers } from "./answers.ts";
import { ARRAYS, fields, StringColumn } from "./columns.ts";
import type { Answer, Ask } from "./request.ts";
import type {
  AreaAnswer,
  AreaQuestion,
  BinColumns,
  FindAnswer,
  FindQuestion,
  FlowColumns,
  SliceColumns,
  SliceResult,
  TimelineColumns,
  TimelineHead,
  TimelineInfo,
  WindowColumns,
} from "./timeline_columns.ts";
import type { Columns } from "./wire.ts";

/** Called after each part with the number of loaded slices. */
export type ProgressListener = (done: number, total: number) => void;

export type Once = <T>(key: string, ask: () => Promise<T>) => Promise<T>;
type NumberArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

const PART_BYTES = 1 << 20;
const IN_FLIGHT = 2;

/** Slices of a run while they load; all views of the page share them. */
interface SliceLoad {
  columns: SliceColumns;
  total: number;
  done: number;
  /** Parts not yet requested, the next one last. */
  left: [first: number, last: number][];
  listeners: Set<ProgressListener>;
}

/** Questions about time. A newer `window`, `find`, `area` or `sums` aborts the previous one of its kind. */
export class TimelineQuestions {
  readonly #newest = new Map<string, AbortController>();

  constructor(
    readonly ask: Ask,
    readonly once: Once,
  ) {}

  timeline(): Promise<TimelineColumns | null> {
    return this.once("timeline", async () => {
      const { result, buffers } = await this.ask("timeline", {});
      if (result === null) return null;
      return timelineColumns(columnsOf<"timeline">(result.columns, buffers), result.info);
    });
  }

  /** All slices, loaded once a page; null without a timeline, or if there are more than a page may hold. */
  async slices(progress?: ProgressListener): Promise<SliceColumns | null> {
    const head = await this.timeline();
    if (!head?.info.whole) return null;
    if (head.slices) return head.slices;
    const loading = await this.once("slices:begun", async () =>
      begun(head, await this.#names(head)),
    );
    if (progress) loading.listeners.add(progress);
    try {
      return await this.once("slices", () => this.#load(loading));
    } finally {
      if (progress) loading.listeners.delete(progress);
    }
  }

  /** Slices that touch a range, or bins if there are too many. */
  async window(
    from: number,
    to: number,
    bins: number,
    signal: AbortSignal,
  ): Promise<WindowColumns | BinColumns> {
    const head = await this.timeline();
    const { result, buffers } = await this.#newer("window", { from, to, bins }, signal);
    return result.info
      ? withNames(head!, columnsOf<"bins">(result.columns, buffers))
      : windowColumns(head!, columnsOf<"window">(result.columns, buffers));
  }

  async area(
    question: AreaQuestion,
    signal: AbortSignal,
    kind: "area" | "sums" = "area",
  ): Promise<AreaAnswer> {
    return (await this.#newer(kind, question, signal)).result;
  }

  async find(question: FindQuestion, signal: AbortSignal): Promise<FindAnswer> {
    const { result, buffers } = await this.#newer("find", question, signal);
    const { columns, ...info } = result;
    return { ...info, ...columnsOf<"find">(columns, buffers) };
  }

  /** Null if the slice is not drawn. */
  async slice(source: number, signal: AbortSignal): Promise<SliceResult | null> {
    return (await this.ask("slice", { source }, signal)).result;
  }

  flows(): Promise<FlowColumns | null> {
    return this.once("flows", async () => {
      const { result, buffers } = await this.ask("flows", {});
      if (result === null) return null;
      return { ...columnsOf<"flows">(result.columns, buffers), info: result.info };
    });
  }

  /** Asks, and aborts the previous question of the same kind. */
  async #newer<Kind extends keyof RunAnswers>(
    kind: Kind,
    question: object,
    signal: AbortSignal,
  ): Promise<Answer<RunAnswers[Kind]>> {
    this.#newest.get(kind)?.abort();
    const mine = new AbortController();
    this.#newest.set(kind, mine);
    try {
      return await this.ask(kind, question, AbortSignal.any([signal, mine.signal]));
    } finally {
      if (this.#newest.get(kind) === mine) this.#newest.delete(kind);
    }
  }

  async #names(head: TimelineColumns): Promise<NameColumns> {
    if (head.names.length === head.info.names) return head;
    const texts = NAMED.map((name) => strings(head[name]));
    while (texts[0]!.length < head.info.names) {
      const { result, buffers } = await this.ask("names", { first: texts[0]!.length });
      const more = columnsOf<"names">(result.columns, buffers);
      for (const [at, name] of NAMED.entries()) append(texts[at]!, strings(more[name]));
    }
    return Object.fromEntries(
      NAMED.map((name, at) => [name, textColumn(texts[at]!)]),
    ) as NameColumns;
  }

  async #load(loading: SliceLoad): Promise<SliceColumns> {
    const ask = async () => {
      for (let part = loading.left.pop(); part; part = loading.left.pop()) {
        await this.#part(loading, part).catch((error) => {
          loading.left.push(part!);
          throw error;
        });
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, ask));
    return loading.columns;
  }

  async #part(loading: SliceLoad, [first, last]: [number, number]): Promise<void> {
    const { result, buffers } = await this.ask("slices", { first, last });
    const columns = loading.columns as unknown as Record<string, NumberArray>;
    for (const [name, part] of Object.entries(fields(result.columns, buffers))) {
      columns[name]!.set(part as NumberArray, first);
    }
    loading.done += last - first;
    for (const tell of loading.listeners) tell(loading.done, loading.total);
  }
}

/** Columns of the first answer, with the slices if it has them. */
export function timelineColumns(head: Columns<"timeline">, info: TimelineInfo): TimelineColumns {
  const { start, duration, name } = head;
  const came = info.whole && info.bins === 0 && start && duration && name;
  return { ...head, info, slices: came ? sliceColumns({ ...head, start, duration, name }) : null };
}

/** Slices of a time range, as sent by the kernel. */
export function windowColumns(head: TimelineHead, columns: Columns<"window">): WindowColumns {
  const { occurrence = null } = columns;
  return { ...columns, occurrence, ...sliceColumns(withNames(head, columns)) };
}

/** Columns with one row per distinct name. */
const NAMED = ["names", "nameKinds", "nameParts", "nameLabels"] as const;
type NameColumns = Columns<"names">;

/** Columns with the names that `name` indexes: their own, or those of the first answer. */
function withNames<T extends Partial<NameColumns>>(
  head: TimelineHead,
  columns: T,
): T & NameColumns {
  const { names, nameKinds, nameParts, nameLabels } = { ...namesOf(head), ...columns };
  return { ...columns, names, nameKinds, nameParts, nameLabels };
}

function namesOf({ names, nameKinds, nameParts, nameLabels }: NameColumns): NameColumns {
  return { names, nameKinds, nameParts, nameLabels };
}

function strings(column: StringColumn): string[] {
  return Array.from({ length: column.length }, (_, row) => column.at(row));
}

function textColumn(texts: string[]): StringColumn {
  const unique = [...new Set(texts)];
  const codes = new Map(unique.map((text, code) => [text, code]));
  return new StringColumn(
    Int32Array.from(texts, (text) => codes.get(text)!),
    unique,
  );
}

const OTHERS = ["self", "node", "set", "about", "source", "trust", "role"] as const;
function sliceColumns(columns: Columns<"slices"> & NameColumns): SliceColumns {
  const { start, duration, name } = columns;
  const others = Object.fromEntries(OTHERS.map((name) => [name, columns[name] ?? null]));
  return {
    start,
    duration,
    name,
    ...(others as Pick<SliceColumns, (typeof OTHERS)[number]>),
    ...namesOf(columns),
  };
}

function begun({ info }: TimelineColumns, names: NameColumns): SliceLoad {
  const total = info.slices;
  const kinds = Object.entries(info.columns);
  const made = kinds.map(([name, kind]) => [name, new ARRAYS[kind](total)] as const);
  const width = kinds.reduce((sum, [, kind]) => sum + ARRAYS[kind].BYTES_PER_ELEMENT, 0);
  const step = Math.floor(PART_BYTES / Math.max(1, width));
  const left: [number, number][] = [];
  for (let first = 0; first < total; first += step)
    left.unshift([first, Math.min(total, first + step)]);
  const arrays = Object.fromEntries(made) as unknown as Columns<"slices">;
  const columns = sliceColumns({ ...arrays, ...names });
  return { columns, total, done: 0, left, listeners: new Set() };
}
