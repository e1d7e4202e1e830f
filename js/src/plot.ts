import "./shell/theme.css";
import "./plot.css";
import type { AnyModel, RenderProps } from "@anywidget/types";
import { pageModule, unzipped } from "./shared/client/page_model.ts";
import { type Answer, isAbort, request } from "./shared/client/request.ts";
import { SessionClient, type SessionState } from "./shared/client/session_client.ts";
import { onThemeChange, readTheme } from "./shared/drawing/theme.ts";
import { append } from "./shared/many.ts";
import { element, Mirror } from "./shell/dom.ts";
import { bindKeys, type KeyAction } from "./shell/keys.ts";
import { hinted, message } from "./shell/message.ts";
import { viewRoot } from "./shell/view.ts";

/** The used part of BokehJS; see https://docs.bokeh.org/en/latest/docs/reference/embed.html. */
interface Bokeh {
  documents: unknown[];
  embed: {
    embed_item(
      item: BokehItem,
      target: HTMLElement,
    ): Promise<{ roots: { model: Model }[]; clear(): void }>;
  };
}

/** A figure as written by `bokeh.embed.json_item`. */
interface BokehItem {
  root_id: string;
  doc: unknown;
}

interface Model {
  document: unknown;
  references(): Iterable<object>;
}

interface DataSource {
  selected: { indices: number[]; properties: { indices: { change: Signal } } };
  columns(): string[];
  get_column(name: string): ArrayLike<unknown> | null;
}

interface Range {
  id: string;
  start: unknown;
  end: unknown;
}

interface Signal {
  connect(slot: () => void): unknown;
}

export async function draw(
  bokeh: Bokeh,
  item: BokehItem,
  target: HTMLElement,
): Promise<{ sources: DataSource[]; ranges: Range[]; close(): void }> {
  const views = await bokeh.embed.embed_item(item, target);
  const models = views.roots.map((view) => view.model);
  const [document] = models.map((model) => model.document);
  const parts = [...new Set(models.flatMap((model) => [...model.references()]))];
  return {
    sources: parts.filter(isSource),
    ranges: parts.filter((part): part is Range => "start" in part && "end" in part),
    close: () => {
      views.clear();
      const at = bokeh.documents.indexOf(document);
      if (at >= 0) bokeh.documents.splice(at, 1);
    },
  };
}

function isSource(model: object): model is DataSource {
  return "get_column" in model && "columns" in model && "selected" in model;
}

const SOURCE = "plot";
const DESCRIBED = 5;

class Link {
  readonly #all: Rows[];
  readonly #session: SessionClient;
  readonly #say: (text: string) => void;
  /** True while this view selects rows, not the user. */
  #lighting = false;

  constructor(
    sources: readonly DataSource[],
    column: string,
    session: SessionClient,
    say: (text: string) => void,
    signal: AbortSignal,
  ) {
    this.#session = session;
    this.#say = say;
    this.#all = sources
      .filter((source) => source.columns().includes(column))
      .map((source) => new Rows(source, column));
    for (const rows of this.#all) {
      rows.source.selected.properties.indices.change.connect(() => {
        if (!this.#lighting && !signal.aborted) this.#take(rows);
      });
    }
    session.onChange(() => this.#light(), signal, ["selected"]);
    this.#light();
  }

  clear(): void {
    this.#session.selectMany([], SOURCE);
  }

  #take(rows: Rows): void {
    const { indices } = rows.source.selected;
    const nodes = rows.nodesOf(indices);
    if (indices.length && !nodes.length) return; // rows without a node
    this.#session.selectMany(nodes, SOURCE);
    this.#light();
  }

  #light(): void {
    const selected = new Set(this.#session.selected);
    const names: string[] = [];
    this.#lighting = true;
    for (const rows of this.#all) {
      const indices = rows.rowsOf(selected);
      const { selected: own } = rows.source;
      if (own.indices.join() !== indices.join()) own.indices = indices;
      append(
        names,
        indices.slice(0, DESCRIBED).map((row) => rows.text(row)),
      );
    }
    this.#lighting = false;
    this.#say(names.slice(0, DESCRIBED).join("; "));
  }

  step(by: number): void {
    const rows = this.#all[0];
    if (!rows) return;
    const steps = rows.steps();
    const selected = new Set(this.#session.selected);
    const here = steps.findIndex((row) => rows.nodes[row]!.some((node) => selected.has(node)));
    if (here < 0) this.go(by > 0 ? 0 : -1);
    else this.go(Math.min(Math.max(0, here + by), steps.length - 1));
  }

  go(at: number): void {
    const rows = this.#all[0];
    const row = rows?.steps().at(at);
    if (rows && row !== undefined) this.#session.selectMany(rows.nodes[row]!, SOURCE);
  }
}

/** The rows of one data source, with their nodes. */
class Rows {
  /** Ids by row; may be empty. */
  readonly nodes: readonly (readonly number[])[];

  constructor(
    readonly source: DataSource,
    column: string,
  ) {
    this.nodes = Array.from(source.get_column(column) ?? [], ids);
  }

  nodesOf(rows: readonly number[]): number[] {
    return [...new Set(rows.flatMap((row) => this.nodes[row] ?? []))];
  }

  rowsOf(nodes: ReadonlySet<number>): number[] {
    return this.nodes.flatMap((own, row) => (own.some((node) => nodes.has(node)) ? [row] : []));
  }

  /** One row per distinct set of nodes, in row order. */
  steps(): number[] {
    const first = new Map<string, number>();
    this.nodes.forEach((own, row) => {
      const key = own.join();
      if (own.length && !first.has(key)) first.set(key, row);
    });
    return [...first.values()];
  }

  /** Description of a row: its name, and the texts of its tooltip. */
  text(row: number): string {
    const read = (column: string) => String(this.source.get_column(column)?.[row] ?? "");
    const columns = this.source.columns();
    const name = columns.includes("operator")
      ? read("operator")
      : `#${this.nodes[row]!.join(", #")}`;
    const texts = columns
      .filter((column) => column.endsWith("_text"))
      .map(read)
      .filter(Boolean);
    return texts.length ? `${name}: ${texts.join(", ")}` : name;
  }
}

function ids(cell: unknown): number[] {
  const listed = typeof cell === "number" ? [cell] : Array.from((cell ?? []) as ArrayLike<number>);
  return listed.filter((id) => Number.isInteger(id) && id >= 0);
}

const BUSY_AFTER_MS = 150;

interface PlotState {
  session: string;
  nodes: string;
  /** Release and build of BokehJS. */
  _library: string;
  _figure_id?: string;
}

export default {
  async render({ model, el, host, signal }: RenderProps<PlotState>): Promise<void> {
    const session = await host.getModel<SessionState>(model.get("session"));
    if (signal.aborted) return;
    const root = viewRoot(el, model.get("_figure_id"), signal);
    root.classList.add("tvmdbg-plot");
    root.setAttribute("role", "application");
    root.setAttribute("aria-roledescription", "plot");
    const busy = setTimeout(
      () => root.replaceChildren(message("busy", "Loading the plot …")),
      BUSY_AFTER_MS,
    );
    signal.addEventListener("abort", () => clearTimeout(busy));
    try {
      await show(root, model, new SessionClient(session as AnyModel<SessionState>), signal, busy);
    } catch (error) {
      clearTimeout(busy);
      if (signal.aborted || isAbort(error)) return;
      const hint = "Run the cell again.";
      root.replaceChildren(message("error", "The plot could not be shown", hinted(error, hint)));
    }
    root.dataset.ready = "true";
  },
};

async function show(
  root: HTMLElement,
  model: RenderProps<PlotState>["model"],
  session: SessionClient,
  signal: AbortSignal,
  busy: ReturnType<typeof setTimeout>,
): Promise<void> {
  const ask = (
    kind: "bokeh" | "figure",
    limit: AbortSignal,
    dark?: boolean,
  ): Promise<Answer<null>> => request(model as unknown as AnyModel, kind, { dark }, limit);
  let dark = readTheme(root).dark;
  const [{ default: bokeh }, answer] = await Promise.all([
    pageModule<{ default: Bokeh }>(
      `bokeh ${model.get("_library")}`,
      (limit) => ask("bokeh", limit),
      signal,
    ),
    ask("figure", signal, dark),
    inThePage(root, signal),
  ]);
  const target = element("div");
  const mirror = new Mirror();
  const say = (text: string) => mirror.say(text);
  let last = new AbortController();
  let link: Link | undefined;
  let ranges: Range[] = [];
  const place = async ({ buffers }: Answer<null>): Promise<void> => {
    const item: BokehItem = JSON.parse(await unzipped(buffers[0]!));
    if (signal.aborted) return;
    const own = new AbortController();
    const fresh = element("div");
    target.append(fresh);
    const drawn = await draw(bokeh, item, fresh);
    const close = () => {
      drawn.close();
      fresh.remove();
    };
    if (signal.aborted) return close();
    // The other theme's figure has the same parts; it keeps the zoom.
    for (const range of drawn.ranges) {
      const { start, end } = ranges.find(({ id }) => id === range.id) ?? range;
      Object.assign(range, { start, end });
    }
    ranges = drawn.ranges;
    last.abort();
    last = own;
    own.signal.addEventListener("abort", close);
    link = new Link(drawn.sources, model.get("nodes"), session, say, own.signal);
  };
  clearTimeout(busy);
  root.replaceChildren(target, mirror.node);
  await place(answer);
  if (signal.aborted) return;
  signal.addEventListener("abort", () => last.abort());
  // The figure has the colors of one theme; the kernel sends it in those of the other.
  const retheme = () => {
    if (readTheme(root).dark === dark) return;
    dark = !dark;
    ask("figure", signal, dark)
      .then(place)
      .catch(() => {}); // without a kernel it stays as it is
  };
  onThemeChange(() => requestAnimationFrame(retheme), signal);
  bindKeys(
    root,
    actions(() => link!),
    signal,
  );
  target.addEventListener("click", () => root.focus({ preventScroll: true }));
  root.setAttribute("aria-label", "Plot; arrow keys select its bars or dots");
}

function actions(link: () => Link): KeyAction[] {
  return [
    { keys: ["ArrowDown", "ArrowRight"], does: "select the next", run: () => link().step(1) },
    { keys: ["ArrowUp", "ArrowLeft"], does: "select the previous", run: () => link().step(-1) },
    { keys: ["Home"], does: "select the first", run: () => link().go(0) },
    { keys: ["End"], does: "select the last", run: () => link().go(-1) },
    { keys: ["Escape"], does: "select nothing", run: () => link().clear() },
  ];
}

/** Waits until the element is in the page: a host may attach it later, and BokehJS draws nowhere else. */
function inThePage(root: HTMLElement, signal: AbortSignal): Promise<void> {
  if (root.isConnected) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const observer = new ResizeObserver(() => {
      if (!root.isConnected) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(root);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      reject(signal.reason);
    });
  });
}
