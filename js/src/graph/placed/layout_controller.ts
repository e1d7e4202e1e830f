import { errorText, message } from "../../shared/client/message.ts";
import { isAbort } from "../../shared/client/request.ts";
import { counted } from "../../shared/format.ts";
import { button, element } from "../../shared/ui/dom.ts";
import type { GraphModel } from "../data/model.ts";
import { type Arrangement, arrange, type Beginning } from "./layouts.ts";
import type { PlacedScene } from "./placed_scene.ts";

const BUSY_MS = 300;
const CANCELLED = new DOMException("cancelled by the user", "AbortError");

/** Asks for layouts one at a time and says over the stage how that goes. */
export class LayoutController {
  readonly node = element("div", { class: "tvmdbg-graph-busy", role: "status", hidden: true });
  readonly #model: GraphModel;
  readonly #again: () => void;
  #running: AbortController | null = null;

  constructor(model: GraphModel, again: () => void, signal: AbortSignal) {
    this.#model = model;
    this.#again = again;
    signal.addEventListener("abort", () => this.#running?.abort());
  }

  /** The placed scene; null where a newer one was asked for meanwhile, it was cancelled, or it failed. */
  async place(
    arrangement: Arrangement,
    problem: string,
    beginning: Beginning,
  ): Promise<PlacedScene | null> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const { signal } = running;
    const started = performance.now();
    const cancel = button("cancel", "stop laying out the graph (Escape)", () => this.cancel());
    const words = element("span");
    let phase = "";
    const busy = setInterval(() => {
      const elapsed = ((performance.now() - started) / 1000).toFixed(1);
      const nodes = counted(this.#model.graph.kinds.length, "node");
      words.textContent = `laying out ${nodes} … ${elapsed} s${phase} `;
      if (!cancel.isConnected) this.#say(words, cancel);
    }, BUSY_MS);
    try {
      const placed = await arrange(this.#model, arrangement, beginning, signal, (at) => {
        phase = `, ${at.phase} ${Math.round(100 * at.fraction)} %`;
      });
      if (signal.aborted) return null;
      this.#say(problem);
      return placed;
    } catch (error) {
      if (signal.reason === CANCELLED)
        this.#say("stopped: the graph is not shown in full ", this.#goOn());
      if (signal.aborted || isAbort(error)) return null;
      this.#say(
        message(
          "error",
          "The graph could not be laid out",
          `${errorText(error)}\nShow a part of it: GraphView(run, focus=…, hops=3).`,
        ),
      );
      return null;
    } finally {
      clearInterval(busy);
      if (this.#running === running) this.#running = null;
    }
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Stops what is under way; false where nothing is. */
  cancel(): boolean {
    this.#running?.abort(CANCELLED);
    return this.isRunning;
  }

  #goOn(): HTMLElement {
    return button("lay out", "lay out the whole graph", this.#again);
  }

  #say(...parts: (string | HTMLElement)[]): void {
    this.node.hidden = parts[0] === "";
    this.node.replaceChildren(...parts);
  }
}
