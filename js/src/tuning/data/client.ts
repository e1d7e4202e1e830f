import type { ColumnHeader } from "../../shared/client/columns.ts";
import { columnsOf } from "../../shared/client/columns_of.ts";
import { type AnyModel, NewestWins, request } from "../../shared/client/request.ts";
import type { Columns, WIRE } from "../../shared/client/wire.ts";
import { type ErrorTableInfo, TuningData, type TuningInfo } from "./data.ts";
import type { ErrorsBy, TrialScope } from "./options.ts";
import type { ScheduleChange, ScheduleInfo } from "./schedule.ts";
import { Tiles, type TilesInfo } from "./tiles.ts";

/** What a query found: one byte a trial, and the sentence that tells how many. */
export interface Chosen {
  mask: Uint8Array;
  caption: string;
}

interface Packed<T> {
  columns: ColumnHeader[];
  info: T;
}

/** The questions that the view asks of its log's model. */
export class TuningClient {
  readonly #model: AnyModel;
  readonly #signal: AbortSignal;
  readonly #schedules = new Map<number, Promise<ScheduleInfo>>();
  readonly #newest = new NewestWins();

  constructor(model: AnyModel, signal: AbortSignal) {
    this.#model = model;
    this.#signal = signal;
  }

  /** Tells when the log has grown. */
  onGrown(listener: () => void): void {
    this.#model.on("change:content", listener);
    this.#signal.addEventListener("abort", () => this.#model.off("change:content", listener));
  }

  async data(): Promise<TuningData> {
    this.#schedules.clear();
    const [info, columns] = await this.#packed<"tuning", TuningInfo>("tuning", {});
    return new TuningData(info, columns);
  }

  /** The schedule of a trial; each is asked for once. */
  schedule(trial: number): Promise<ScheduleInfo> {
    const known = this.#schedules.get(trial);
    if (known) return known;
    const asked = this.#newest.ask(() => this.#plain<ScheduleInfo>("schedule", { trial }));
    this.#schedules.set(trial, asked);
    asked.catch(() => this.#schedules.delete(trial));
    return asked;
  }

  change(a: number, b: number): Promise<ScheduleChange> {
    return this.#plain<ScheduleChange>("change", { a, b });
  }

  errors(by: ErrorsBy, scope: TrialScope): Promise<ErrorTableInfo> {
    return this.#plain<ErrorTableInfo>("errors", { by, ...scope });
  }

  async tiles(task: number): Promise<Tiles> {
    const [info, columns] = await this.#packed<"tuningTiles", TilesInfo>("tiles", { task });
    return new Tiles(info, columns);
  }

  async select(query: string): Promise<Chosen> {
    type Told = { caption: string };
    const [{ caption }, { mask }] = await this.#packed<"tuningSelect", Told>("select", { query });
    return { mask, caption };
  }

  async #plain<T>(kind: string, payload: object): Promise<T> {
    return (await request<T>(this.#model, kind, payload, this.#signal)).result;
  }

  async #packed<Answer extends keyof typeof WIRE, Info>(
    kind: string,
    payload: object,
  ): Promise<[Info, Columns<Answer>]> {
    const answer = await request<Packed<Info>>(this.#model, kind, payload, this.#signal);
    return [answer.result.info, columnsOf<Answer>(answer.result.columns, answer.buffers)];
  }
}
