import { type ColumnHeader, fields } from "./columns.ts";
import type { Answer } from "./request.ts";
import type {
  Cells,
  ChannelsAnswer,
  ChannelsRequest,
  DataAnswer,
  DataRequest,
  Distribution,
  HealthAnswer,
  Percentile,
  PercentilesRequest,
  ProfileAnswer,
  ProfileRequest,
  RegionAnswer,
  RegionRequest,
  SpreadAnswer,
  StatisticsAnswer,
  StatisticsRequest,
  TensorAnswer,
  TensorRequest,
  Tile,
  ValuesAnswer,
  ValuesRequest,
} from "./tensor_questions.ts";

/** The questions that are about one tensor, and the health of all. */
export interface TensorQuestions {
  tensor(question: TensorRequest, signal: AbortSignal): Promise<TensorAnswer>;
  statistics(question: StatisticsRequest, signal: AbortSignal): Promise<StatisticsAnswer>;
  /** Exact ones; one more pass over the values. */
  percentiles(question: PercentilesRequest, signal: AbortSignal): Promise<Percentile[]>;
  values(question: ValuesRequest, signal: AbortSignal): Promise<ValuesAnswer>;
  profile(question: ProfileRequest, signal: AbortSignal): Promise<ProfileAnswer>;
  channels(question: ChannelsRequest, signal: AbortSignal): Promise<ChannelsAnswer>;
  data(question: DataRequest, signal: AbortSignal): Promise<DataAnswer>;
  region(question: RegionRequest, signal: AbortSignal): Promise<RegionAnswer>;
  /** The first question begins the scan; `goOn` begins it again where it was stopped. */
  /** `glance` begins no scan that would take long. */
  health(signal: AbortSignal, goOn?: boolean, glance?: boolean): Promise<HealthAnswer>;
  /** Stops the pass over a tensor, and the picture that this client waits for. */
  cancelTensor(
    question: Pick<StatisticsRequest, "entry" | "reading">,
    signal: AbortSignal,
  ): Promise<StatisticsAnswer>;
}

/** Sends one question of a kind. */
export type Ask = <T>(kind: string, question: object, signal: AbortSignal) => Promise<Answer<T>>;

interface Packed {
  columns: ColumnHeader[];
}

/** Columns travel as their headers beside one buffer; here they become arrays. */
export class TensorClient implements TensorQuestions {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async tensor(question: TensorRequest, signal: AbortSignal): Promise<TensorAnswer> {
    type Reply = TensorAnswer & { tile: (Tile & Packed) | null };
    const answer = await this.#ask<Reply>("tensor", question, signal);
    if (answer.result.tile) cellsInto(answer.result.tile, answer.buffers);
    return answer.result;
  }

  async statistics(question: StatisticsRequest, signal: AbortSignal): Promise<StatisticsAnswer> {
    return statistics(await this.#ask<StatisticsAnswer>("statistics", question, signal));
  }

  async percentiles(question: PercentilesRequest, signal: AbortSignal): Promise<Percentile[]> {
    return (await this.#ask<Percentile[]>("percentiles", question, signal)).result;
  }

  async values(question: ValuesRequest, signal: AbortSignal): Promise<ValuesAnswer> {
    return (await this.#ask<ValuesAnswer>("values", question, signal)).result;
  }

  async profile(question: ProfileRequest, signal: AbortSignal): Promise<ProfileAnswer> {
    return withCells(await this.#ask<ProfileAnswer & Packed>("profile", question, signal));
  }

  async channels(question: ChannelsRequest, signal: AbortSignal): Promise<ChannelsAnswer> {
    return withCells(await this.#ask<ChannelsAnswer & Packed>("channels", question, signal));
  }

  async data(question: DataRequest, signal: AbortSignal): Promise<DataAnswer> {
    const { result, buffers } = await this.#ask<DataAnswer>("data", question, signal);
    return { ...result, bytes: buffers[0] ?? new DataView(new ArrayBuffer(0)) };
  }

  async region(question: RegionRequest, signal: AbortSignal): Promise<RegionAnswer> {
    return statistics(await this.#ask<RegionAnswer>("region", question, signal));
  }

  async health(signal: AbortSignal, goOn = false, glance = false): Promise<HealthAnswer> {
    const flags = { ...(goOn && { goOn }), ...(glance && { glance }) };
    return unpacked(await this.#ask<HealthAnswer & Packed>("health", flags, signal));
  }

  async cancelTensor(
    question: Pick<StatisticsRequest, "entry" | "reading">,
    signal: AbortSignal,
  ): Promise<StatisticsAnswer> {
    return statistics(await this.#ask<StatisticsAnswer>("cancelTensor", question, signal));
  }
}

function statistics<T extends SpreadAnswer>({ result, buffers }: Answer<T>): T {
  if (result.distribution) unpackInto(result.distribution as Distribution & Packed, buffers);
  return result;
}

function unpacked<T extends Packed>({ result, buffers }: Answer<T>): T {
  unpackInto(result, buffers);
  return result;
}

function withCells<T extends Cells & Packed>({ result, buffers }: Answer<T>): T {
  cellsInto(result, buffers);
  return result;
}

function cellsInto(cells: Cells & Packed, buffers: DataView[]): void {
  unpackInto(cells, buffers);
  completeCells(cells);
}

/** Bounds that are the mean are not sent, nor are flags where none is set. */
export function completeCells(cells: Cells): void {
  cells.minimum ??= cells.mean;
  cells.maximum ??= cells.mean;
  cells.flags ??= new Uint8Array(cells.mean.length);
}

function unpackInto(packed: Packed, buffers: DataView[]): void {
  Object.assign(packed, fields(packed.columns, buffers));
}
