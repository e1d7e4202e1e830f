import { columnsOf, type Packed } from "./answers.ts";
import type { Answer, Ask } from "./request.ts";
import type {
  Cells,
  ChannelsAnswer,
  ChannelsRequest,
  DataAnswer,
  DataRequest,
  Percentile,
  PercentilesRequest,
  ProfileAnswer,
  ProfileRequest,
  RegionAnswer,
  RegionRequest,
  StatisticsAnswer,
  StatisticsRequest,
  TensorAnswer,
  TensorRequest,
  ValuesAnswer,
  ValuesRequest,
} from "./tensor_questions.ts";
import type { Columns } from "./wire.ts";

/** Questions about one tensor; columns of the answers become arrays. */
export class TensorQuestions {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async tensor(question: TensorRequest, signal: AbortSignal): Promise<TensorAnswer> {
    const { result, buffers } = await this.#ask("tensor", question, signal);
    const tile = result.tile && { ...result.tile, ...cellsOf(result.tile, buffers) };
    return { ...result, tile };
  }

  async statistics(question: StatisticsRequest, signal: AbortSignal): Promise<StatisticsAnswer> {
    return spread(await this.#ask("statistics", question, signal));
  }

  /** Exact percentiles, which take one more pass over the values. */
  async percentiles(question: PercentilesRequest, signal: AbortSignal): Promise<Percentile[]> {
    return (await this.#ask("percentiles", question, signal)).result;
  }

  async values(question: ValuesRequest, signal: AbortSignal): Promise<ValuesAnswer> {
    return (await this.#ask("values", question, signal)).result;
  }

  async profile(question: ProfileRequest, signal: AbortSignal): Promise<ProfileAnswer> {
    const { result, buffers } = await this.#ask("profile", question, signal);
    return { ...result, ...cellsOf(result, buffers) };
  }

  async channels(question: ChannelsRequest, signal: AbortSignal): Promise<ChannelsAnswer> {
    const { result, buffers } = await this.#ask("channels", question, signal);
    return { ...result, ...cellsOf(result, buffers) };
  }

  async data(question: DataRequest, signal: AbortSignal): Promise<DataAnswer> {
    const { result, buffers } = await this.#ask("data", question, signal);
    return { ...result, bytes: buffers[0] ?? new DataView(new ArrayBuffer(0)) };
  }

  async region(question: RegionRequest, signal: AbortSignal): Promise<RegionAnswer> {
    return spread(await this.#ask("region", question, signal));
  }

  /** Stops the pass over a tensor, and the picture this client waits for. */
  async cancelTensor(
    question: Pick<StatisticsRequest, "entry" | "reading">,
    signal: AbortSignal,
  ): Promise<StatisticsAnswer> {
    return spread(await this.#ask("cancelTensor", question, signal));
  }
}

function spread<T extends { distribution: Packed | null }>({ result, buffers }: Answer<T>) {
  const { distribution } = result;
  const columns = distribution && columnsOf<"distribution">(distribution.columns, buffers);
  return { ...result, distribution: columns };
}

function cellsOf({ columns }: Packed, buffers: DataView[]): Cells {
  return completeCells(columnsOf<"cells">(columns, buffers));
}

/** Fills in bounds that equal the mean and flags that are all 0: neither is sent. */
export function completeCells({ mean, minimum, maximum, flags }: Columns<"cells">): Cells {
  return {
    mean,
    minimum: minimum ?? mean,
    maximum: maximum ?? mean,
    flags: flags ?? new Uint8Array(mean.length),
  };
}
