import { healthScan } from "../../shared/client/health.ts";
import { errorText } from "../../shared/client/message.ts";
import { isUnderWay, type Scan } from "../../shared/client/scan.ts";
import type { HealthAnswer } from "../../shared/client/tensor_questions.ts";
import { NodeHealth } from "../data/health.ts";
import type { GraphParts } from "../parts.ts";

/** What it needs of the view. */
type Judged = Pick<GraphParts, "context" | "model" | "mirror" | "repaint" | "tell"> & {
  placing: { lookAgain(): void };
};

/** Asks for the health of the run's values: what is known, or soon looked at, by itself; all once somebody wants to see it. */
export class HealthLoader {
  readonly #view: Judged;
  readonly #scan: Scan<HealthAnswer>;
  #asked = false;
  #glanced = false;

  constructor(view: Judged) {
    this.#view = view;
    this.#scan = healthScan(
      view.context.run,
      { answer: (answer) => this.#judged(answer), error: (error) => this.#notJudged(error) },
      view.context.signal,
    );
  }

  /** Asks for what is known; begins the scan of a small run alone. */
  glance(): void {
    if (this.#asked || this.#glanced) return;
    this.#glanced = true;
    const { run, signal } = this.#view.context;
    void run.health(signal, false, true).then(
      (answer) => {
        if (answer.state === "none" || this.#asked) return;
        this.#asked = true;
        this.#judged(answer);
        if (isUnderWay(answer)) void this.#scan.start();
      },
      () => {},
    );
  }

  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    void this.#scan.start();
  }

  stop(): void {
    void this.#scan.stop();
  }

  goOn(): void {
    void this.#scan.start(true);
  }

  #judged(answer: HealthAnswer): void {
    const { model, placing } = this.#view;
    const before = model.answer;
    model.describe.health = new NodeHealth(answer, model.graph.kinds.length);
    this.#view.repaint();
    if (model.answer !== before) placing.lookAgain();
    if (!isUnderWay(answer)) this.#view.tell(true);
  }

  #notJudged(error: unknown): void {
    this.#asked = false;
    this.#view.mirror.say(`The health of the run is not known: ${errorText(error)}`);
  }
}
