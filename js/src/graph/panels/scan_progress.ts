import { integer } from "../../shared/format.ts";
import { button, element, relabel } from "../../shared/ui/dom.ts";

/**
 * How far something is, and a button that stops it or goes on.
 * The button stays while answers come, since it may just be pressed.
 */
export class ScanProgress {
  readonly node = element("span");
  readonly #said = element("span");
  readonly #act: HTMLButtonElement;
  readonly #doing: string;
  #stopped = false;

  /** `doing` is what its button stops: "computing". */
  constructor(kind: string, doing: string, stop: () => void, goOn: () => void) {
    this.#doing = doing;
    this.#act = button("", "", () => (this.#stopped ? goOn() : stop()));
    this.#act.dataset.kind = kind;
    this.node.append(this.#said, this.#act);
  }

  show({ done, total }: { done: number; total: number }, things: string, stopped: boolean): void {
    this.#stopped = stopped;
    this.#said.textContent = ` ${integer(done)} of ${integer(total)} ${things}`;
    const act = stopped ? "resume" : "stop";
    relabel(this.#act, act, `${act} ${this.#doing}`);
  }
}
