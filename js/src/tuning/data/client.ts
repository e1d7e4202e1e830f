import { columnsOf } from "../../shared/client/columns_of.ts";
import { type Answer, type AnyModel, NewestWins, request } from "../../shared/client/request.ts";
import type { TuningAnswers } from "./answers.ts";
import { type ErrorTableInfo, TuningData } from "./data.ts";
import type { ErrorsBy, TrialScope } from "./options.ts";
import type { ScheduleChange, ScheduleInfo } from "./schedule.ts";
import { Tiles } from "./tiles.ts";

/** What a query found: one byte a trial, and the sentence that tells how many. */
export interface Chosen {
  mask: Uint8Array;
  caption: string;
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
    const { result, buffers } = await this.#ask("tuning", {});
    return new TuningData(result.info, columnsOf<"tuning">(result.columns, buffers));
  }

  /** The schedule of a trial; each is asked for once. */
  schedule(trial: number): Promise<ScheduleInfo> {
    const known = this.#schedules.get(trial);
    if (known) return known;
    const asked = this.#newest
      .ask(() => this.#ask("schedule", { trial }))
      .then(({ result }) => result);
    this.#schedules.set(trial, asked);
    asked.catch(() => this.#schedules.delete(trial));
    return asked;
  }

  async change(a: number, b: number): Promise<ScheduleChange> {
    return (await this.#ask("change", { a, b })).result;
  }

  async errors(by: ErrorsBy, scope: TrialScope): Promise<ErrorTableInfo> {
    return (await this.#ask("errors", { by, ...scope })).result;
  }

  async tiles(task: number): Promise<Tiles> {
    const { result, buffers } = await this.#ask("tiles", { task });
    return new Tiles(result.info, columnsOf<"tuningTiles">(result.columns, buffers));
  }

  async select(query: string): Promise<Chosen> {
    const { result, buffers } = await this.#ask("select", { query });
    const { mask } = columnsOf<"tuningSelect">(result.columns, buffers);
    return { mask, caption: result.info.caption };
  }

  #ask<Kind extends keyof TuningAnswers>(
    kind: Kind,
    payload: object,
  ): Promise<Answer<TuningAnswers[Kind]>> {
    return request(this.#model, kind, payload, this.#signal);
  }
}
