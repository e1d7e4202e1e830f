import { append } from "../many.ts";
import type { Client } from "./client.ts";
import { ARRAYS, StringColumn } from "./columns.ts";
import type {
  BinColumns,
  SliceColumns,
  TimelineColumns,
  TimelineHead,
  TimelineInfo,
  WindowColumns,
} from "./timeline_columns.ts";
import type { Columns } from "./wire.ts";

/** Called after each part with the number of loaded slices. */
export type ProgressListener = (done: number, total: number) => void;

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

export function timelineOf(client: Client): Promise<TimelineColumns | null> {
  return client.once("timeline head", async () => {
    const head = await client.ask("timeline");
    return head && timelineColumns(head, head.info);
  });
}

/** All slices, loaded once a page; null without a timeline, or if there are more than a page may hold. */
export async function slicesOf(
  client: Client,
  progress?: ProgressListener,
): Promise<SliceColumns | null> {
  const head = await timelineOf(client);
  if (!head?.info.whole) return null;
  if (head.slices) return head.slices;
  const loading = await client.once("slices begun", async () =>
    begun(head, await namesOfAll(client, head)),
  );
  if (progress) loading.listeners.add(progress);
  try {
    return await client.once("slices", () => load(client, loading));
  } finally {
    if (progress) loading.listeners.delete(progress);
  }
}

/** Slices that touch a range, or bins if there are too many. */
export async function windowOf(
  client: Client,
  from: number,
  to: number,
  bins: number,
  signal?: AbortSignal,
): Promise<WindowColumns | BinColumns> {
  const head = (await timelineOf(client))!;
  const reply = await client.ask("window", { from, to, bins }, signal);
  return reply.info ? withNames(head, reply) : windowColumns(head, reply);
}

async function namesOfAll(client: Client, head: TimelineColumns): Promise<NameColumns> {
  if (head.names.length === head.info.names) return head;
  const texts = NAMED.map((name) => strings(head[name]));
  while (texts[0]!.length < head.info.names) {
    const more = await client.ask("names", { first: texts[0]!.length });
    for (const [at, name] of NAMED.entries()) append(texts[at]!, strings(more[name]));
  }
  return Object.fromEntries(NAMED.map((name, at) => [name, textColumn(texts[at]!)])) as NameColumns;
}

async function load(client: Client, loading: SliceLoad): Promise<SliceColumns> {
  const ask = async () => {
    for (let part = loading.left.pop(); part; part = loading.left.pop()) {
      await loadPart(client, loading, part).catch((error) => {
        loading.left.push(part!);
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask));
  return loading.columns;
}

async function loadPart(
  client: Client,
  loading: SliceLoad,
  [first, last]: [number, number],
): Promise<void> {
  const reply = await client.ask("slices", { first, last });
  const columns = loading.columns as unknown as Record<string, NumberArray>;
  for (const [name, part] of Object.entries(reply)) {
    if (part) columns[name]!.set(part as NumberArray, first);
  }
  loading.done += last - first;
  for (const tell of loading.listeners) tell(loading.done, loading.total);
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
const NAMED = ["names", "nameKinds", "nameLabels"] as const;
type NameColumns = Columns<"names">;

/** Columns with the names that `name` indexes: their own, or those of the first answer. */
function withNames<T extends Partial<NameColumns>>(
  head: TimelineHead,
  columns: T,
): T & NameColumns {
  const { names, nameKinds, nameLabels } = { ...namesOf(head), ...columns };
  return { ...columns, names, nameKinds, nameLabels };
}

function namesOf({ names, nameKinds, nameLabels }: NameColumns): NameColumns {
  return { names, nameKinds, nameLabels };
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
