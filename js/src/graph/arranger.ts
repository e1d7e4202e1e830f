import { element } from "../shared/dom.ts";
import { counted } from "../shared/format.ts";
import { errorText, message } from "../shared/message.ts";
import { isAbort } from "../shared/request.ts";
import { type Arrangement, arrange } from "./layouts.ts";
import type { GraphModel } from "./model.ts";
import type { Placed } from "./placed.ts";

const BUSY_MS = 300;

/** Asks for layouts one at a time and says over the stage how that goes. */
export class Arranger {
  readonly node = element("div", { class: "tvmdbg-graph-busy", role: "status", hidden: true });
  readonly #model: GraphModel;
  #running: AbortController | null = null;

  constructor(model: GraphModel, signal: AbortSignal) {
    this.#model = model;
    signal.addEventListener("abort", () => this.#running?.abort());
  }

  /** The placed scene; null where a newer one was asked for meanwhile, or it failed. */
  async place(arrangement: Arrangement, problem: string): Promise<Placed | null> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const { signal } = running;
    const started = performance.now();
    let phase = "";
    const busy = setInterval(() => {
      const elapsed = ((performance.now() - started) / 1000).toFixed(1);
      const nodes = counted(this.#model.graph.kinds.length, "node");
      this.#say(`laying out ${nodes} … ${elapsed} s${phase}`);
    }, BUSY_MS);
    const model = this.#model;
    try {
      const placed = await arrange(model, arrangement, signal, (at) => {
        phase = `, ${at.phase}`;
      });
      if (signal.aborted) return null;
      this.#say(problem);
      return placed;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return null;
      this.node.replaceChildren(
        message(
          "error",
          "The graph could not be laid out",
          `${errorText(error)}\nShow a part of it: GraphView(run, focus=…, hops=3).`,
        ),
      );
      this.node.hidden = false;
      return null;
    } finally {
      clearInterval(busy);
    }
  }

  #say(text: string): void {
    this.node.hidden = text === "";
    this.node.textContent = text;
  }
}
