import { errorText } from "../shared/client/message.ts";
import type { RunClient } from "../shared/client/run_client.ts";
import { goToStep, SessionClient, type SessionState } from "../shared/client/session_client.ts";
import type { StaticModel } from "../shared/client/static_model.ts";
import { type LinkTarget, linkText, parseLink } from "./link_target.ts";
import { resolve } from "./selection.ts";
import { say } from "./status.ts";

/** Browsers refuse more than some hundred new addresses in half a minute. */
const PAUSE_MS = 200;

interface Focus {
  /** Names of the page's views. */
  names: readonly string[];
  /** The one the reader is in, if any. */
  current: () => string | null;
  /** Brings one into view. */
  show: (view: string) => void;
}

/** Keeps the page's address and the session's selection the same. */
export class Address {
  readonly #session: StaticModel;
  readonly #run: RunClient;
  readonly #focus: Focus;
  #written = location.hash;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(session: StaticModel, run: RunClient, focus: Focus) {
    this.#session = session;
    this.#run = run;
    this.#focus = focus;
    session.on("change", () => this.#later());
    addEventListener("focusin", () => this.#later());
    addEventListener("hashchange", () => {
      if (location.hash !== this.#written) this.follow().catch((error) => say(errorText(error)));
    });
  }

  /** Goes where the address leads; what of it the run does not have is said and ignored. */
  async follow(): Promise<void> {
    const { place, problems } = parseLink(location.hash);
    this.#written = location.hash;
    const steps = (this.#session.get("tour") as unknown[] | undefined)?.length ?? 0;
    const found = await resolve(place, this.#run, this.#focus.names, steps);
    const all = [...problems, ...found.problems];
    say(all.length ? `Part of the link was ignored: ${all.join("; ")}.` : "");
    const { tour_step: step, ...state } = found.state;
    if (step !== undefined) goToStep(new SessionClient(this.#session as never), step);
    for (const [name, value] of Object.entries(state)) this.#session.set(name, value);
    if (Object.keys(state).length > 0) this.#session.set("source", "link");
    if (found.view) this.#focus.show(found.view);
  }

  /** The address that leads to what is shown now. */
  get link(): string {
    const text = linkText(this.#place());
    return pageAddress(location.href) + (text && `#${text}`);
  }

  #place(): LinkTarget {
    const get = <K extends keyof SessionState>(name: K) =>
      this.#session.get(name) as SessionState[K];
    const nodes = get("selected") ?? [];
    const [entry, slice] = [get("entry"), get("slice")];
    const telling = entry && (entry[1] !== 0 || entry[0] !== nodes.at(-1));
    const step = this.#session.get("tour_step");
    return {
      nodes: nodes.map(String),
      entry: telling ? entry : null,
      slice: slice && nodes.includes(slice[0]) ? slice : null,
      time: get("time_range") ?? null,
      step: typeof step === "number" ? step : null,
      view: this.#focus.current(),
    };
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(), PAUSE_MS);
  }

  #write(): void {
    const text = linkText(this.#place());
    if (text === this.#written.replace(/^#/, "")) return;
    try {
      history.replaceState(history.state, "", `#${text}`);
      this.#written = location.hash;
    } catch {
      // A sandbox, or a document without an address of its own, keeps the one it has.
    }
  }
}

/** The page's address as others can use it: of a file its name, for its folders are somebody's own. */
export function pageAddress(href: string): string {
  const page = href.replace(/#.*$/s, "");
  return page.startsWith("file:") ? page.replace(/^.*\//, "") : page;
}
