import { errorText, isAbort } from "../shared/client/request.ts";
import { kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted, integer, percent } from "../shared/format.ts";
import { stretches } from "../shared/many.ts";
import type { CodeCopy } from "../shell/code_copy.ts";
import {
  button,
  div,
  download,
  downloadProblem,
  element,
  fileName,
  select,
  span,
} from "../shell/dom.ts";
import { factList } from "../shell/tooltip.ts";
import type { ViewContext } from "../shell/view.ts";
import {
  type Area,
  areaPreview,
  csvParts,
  exactly,
  RANGE_BY,
  type RangeBy,
  RangeWords,
} from "./areas.ts";
import { KeyNames } from "./data/key_names.ts";
import type { Row } from "./data/row.ts";
import type { TimelineOptions, TimeRange } from "./data/state.ts";
import { type SumRow, sumRow } from "./data/sum_table.ts";
import type { TimelineData } from "./descriptions.ts";
import { chip, shareBar } from "./row_table.ts";

/** Number of rows shown at first. */
const MOST = 8;
/** Most lines to copy as text. */
const MOST_COPIED = 200_000;

type AreaListener = (area: Area) => void;

export interface AreaHost {
  readonly data: TimelineData;
  readonly context: ViewContext<TimelineOptions>;
  readonly camera: { fit(): void };
  readonly ranges: { mark(range: null): void };
  readonly selection: { nodes(nodes: readonly number[]): void };
  say(text: string): void;
  copy(): void;
  pick(slice: number): void;
  act(act: () => void): void;
}

/** Contents of the marked range: numbers, its time by node, kind, name or track, and ways to export it. */
export class AreaPanel {
  readonly node = div("tvmdbg-timeline-area");
  readonly #data: TimelineData;
  readonly #called: KeyNames;
  readonly #words: RangeWords;
  readonly #host: AreaHost;
  readonly #copier: CodeCopy;
  readonly #facts = element("div", {});
  readonly #parts = element("div", { class: "tvmdbg-timeline-parts", role: "list" });
  readonly #tools: HTMLElement;
  readonly #scopes: HTMLElement;
  #by: RangeBy = "node";
  #scope = "all";
  /** The row on which the range was dragged. */
  #row: Row | null = null;
  #area: Area | null = null;
  #all = false;
  #shares: Omit<SumRow, "inside">[] = [];
  /** Self time in the range of slices that its ends cut. */
  #cut: ReadonlyMap<number, number> = new Map();
  #theme: Theme;
  #work = new AbortController();

  constructor(host: AreaHost, copier: CodeCopy, theme: Theme) {
    const { data } = host;
    const { signal } = host.context;
    this.#data = data;
    this.#called = new KeyNames(data.slices, data.names, data.graph);
    this.#words = new RangeWords(data.slices, data.words);
    this.#host = host;
    this.#copier = copier;
    this.#theme = theme;
    const needsGraph = (option: RangeBy) =>
      option === "part" || option === "group" || option === "kind";
    const by = RANGE_BY.filter((option) => data.names.known || !needsGraph(option))
      .filter((option) => option !== "module" || data.slices.columns.info.modules)
      .map((option) => [option, `by ${option}`] as const);
    this.#scopes = element("span", {});
    this.#tools = element(
      "div",
      { class: "tvmdbg-timeline-tools", role: "group", "aria-label": "marked range" },
      this.#scopes,
      select("group the time by", by, this.#by, (value) => {
        this.#by = value as RangeBy;
        if (this.#area) void this.#ask(this.#area.range);
      }),
      button("text", "Copy these numbers as text", () => this.#copyText()),
      button("CSV", "Copy the slices of the range as CSV", () => this.#copyCsv()),
      button("save CSV", "Save the slices of the range as a CSV file", () => this.#saveCsv()),
      button("code", "Copy Python for the range", () => host.copy()),
      button("zoom", "Zoom to the range (f)", () => host.act(() => host.camera.fit())),
      button("×", "Clear the range (Esc)", () => host.act(() => host.ranges.mark(null))),
    );
    this.node.append(this.#facts, this.#tools, this.#parts);
    signal.addEventListener("abort", () => this.#work.abort());
  }

  show(
    range: TimeRange,
    {
      drawn = false,
      row,
      told: listener,
    }: { drawn?: boolean; row?: Row | null; told?: AreaListener } = {},
  ): void {
    if (row !== undefined) this.#row = row;
    this.#work.abort();
    this.#tools.hidden = this.#parts.hidden = drawn;
    const { slices } = this.#data;
    const isOther = String(range) !== String(this.#area?.range);
    this.#offerScopes();
    if (slices.complete) this.#take(areaPreview(slices, range, this.#rows));
    else {
      const length = exactly(range[1] - range[0]);
      this.#area = null;
      this.#facts.replaceChildren(
        factList([["range", drawn ? length : `${length}: summing up …`]]),
      );
    }
    this.#tools.classList.toggle("tvmdbg-timeline-far", !slices.complete);
    if (drawn) return;
    // Numbers of another range are not to be copied as those of this one.
    this.#tools.inert = isOther;
    if (isOther) this.#parts.replaceChildren();
    void this.#ask(range, listener);
  }

  #take(area: Area): void {
    this.#area = area;
    this.#facts.replaceChildren(factList(this.#words.ofArea(area)));
  }

  async #ask([from, to]: TimeRange, listener?: AreaListener): Promise<void> {
    this.#work.abort();
    this.#work = new AbortController();
    const { signal } = this.#work;
    this.#parts.setAttribute("aria-busy", "true");
    // Copies before the answer have no sums of another question.
    this.#cut = new Map();
    this.#shares = [];
    try {
      const question = { from, to, by: this.#by, ...this.#among };
      const answer = await this.#host.context.run.ask("area", question, signal);
      if (signal.aborted) return;
      const { count, instants, sum, whole, tracks } = answer.info;
      const area: Area = { range: [from, to], count, instants, sum, whole, tracks };
      this.#take(area);
      const { cutSlice, cutSelf } = answer;
      this.#cut = new Map(Array.from(cutSlice, (slice, i) => [slice, cutSelf[i]!]));
      this.#shares = Array.from(answer.ns, (_, at) => sumRow(answer, at, this.#called));
      this.#all = false;
      this.#paintParts();
      listener?.(area);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.#parts.replaceChildren(errorText(error));
      if (this.#area) listener?.(this.#area);
      else this.#facts.replaceChildren(factList([["range", exactly(to - from)]]));
    }
    this.#tools.inert = false;
    this.#parts.removeAttribute("aria-busy");
  }

  retheme(theme: Theme): void {
    this.#theme = theme;
    this.#paintParts();
  }

  /** Cancels the sums of an old range. */
  stop(): void {
    this.#work.abort();
  }

  /** Slices that count, for Python. */
  get #among(): { row?: number; track?: number } {
    const { rows } = this.#data.slices;
    if (this.#scope === "row" && this.#row) return { row: rows.indexOf(this.#row) };
    return this.#scope === "all" ? {} : { track: Number(this.#scope) };
  }

  get #rows(): readonly Row[] {
    const { slices } = this.#data;
    if (this.#scope === "row" && this.#row) return [this.#row];
    if (this.#scope === "all") return slices.rows;
    return slices.rows.filter(({ track }) => String(track) === this.#scope);
  }

  #offerScopes(): void {
    const { slices } = this.#data;
    const choices: [string, string][] = [["all", "all tracks"]];
    for (const { number, name } of slices.tracks) choices.push([String(number), name]);
    if (this.#row && slices.rows.length > 1) {
      const { track, depth } = this.#row;
      choices.push(["row", `row ${depth + 1} of ${slices.tracks[track]!.name}`]);
    }
    if (!choices.some(([value]) => value === this.#scope)) this.#scope = "all";
    this.#scopes.hidden = slices.rows.length < 2;
    const { activeElement } = document;
    if (activeElement && this.#scopes.contains(activeElement)) return;
    this.#scopes.replaceChildren(
      select("tracks included", choices, this.#scope, (value) => {
        this.#scope = value;
        if (!this.#area) return;
        const announce = (area: Area) => this.#host.say(this.#words.areaSentence(area));
        this.show(this.#area.range, { told: announce });
      }),
    );
  }

  #paintParts(): void {
    const shown = this.#all ? this.#shares : this.#shares.slice(0, MOST);
    const rest = this.#shares.length - shown.length;
    const more = button(`${rest} more`, "Show all rows", () => {
      this.#all = true;
      this.#paintParts();
      this.#parts.querySelectorAll("button")[MOST]?.focus({ preventScroll: true });
    });
    this.#parts.setAttribute("aria-label", `time of the range by ${this.#by}`);
    this.#parts.replaceChildren(...shown.map((part) => this.#line(part)), ...(rest ? [more] : []));
  }

  #line({ label, kind, nodes, slice, count, ns }: Omit<SumRow, "inside">): HTMLElement {
    const short = this.#data.slices.isShort(ns);
    const share = short ? "–" : percent(ns / (this.#area!.sum ?? Number.NaN));
    const title = `${label}: ${counted(count, "slice")}, ${short ? this.#data.slices.timeText(ns) : `${ns} ns`}`;
    const line = button("", `select ${title}`, () =>
      this.#host.act(() => {
        if (nodes.length) this.#host.selection.nodes(nodes);
        else this.#host.pick(slice);
      }),
    );
    line.replaceChildren(
      ...(kind ? [chip(kindFill(this.#theme, kind))] : []),
      span("label tvmdbg-clip tvmdbg-fill", label),
      span("tvmdbg-muted", `${integer(count)}×`),
      span("time", this.#data.slices.timeText(ns)),
      span("share", shareBar(ns / (this.#shares[0]?.ns || 1)), share),
    );
    return element("div", { role: "listitem" }, line);
  }

  #copyText(): void {
    if (!this.#area) return;
    const lines = this.#words.ofArea(this.#area).map((fact) => fact.join(": "));
    const sum = this.#area.sum ?? Number.NaN;
    const table = this.#shares.map(({ label, count, ns }) =>
      [label, `${integer(count)}×`, `${ns} ns`, percent(ns / sum)].join("\t"),
    );
    const head = table.length ? ["", `time by ${this.#by}`] : [];
    this.#copier.copyText([...lines, ...head, ...table].join("\n"), "the numbers of the range");
  }

  #copyCsv(): void {
    if (!this.#area) return;
    const { slices, names } = this.#data;
    const { count, range } = this.#area;
    if (count > MOST_COPIED) {
      this.#copier.tell(`${counted(count, "slice")}: too many to copy, save them as a file.`);
      return;
    }
    const text = [...csvParts(slices, names, range, this.#rows, this.#cut)].join("");
    this.#copier.copyText(text, `${counted(count, "slice")} as CSV`);
  }

  #saveCsv(): void {
    if (!this.#area) return;
    const problem = downloadProblem();
    if (problem) {
      this.#copier.tell(problem);
      return;
    }
    const { slices, names } = this.#data;
    const { range, count } = this.#area;
    const [rows, cut] = [this.#rows, this.#cut];
    function* blob(): Generator<unknown, Blob> {
      const parts: Blob[] = [];
      for (const part of csvParts(slices, names, range, rows, cut)) {
        parts.push(new Blob([part]));
        yield;
      }
      return new Blob(parts, { type: "text/csv" });
    }
    const name = fileName(["slices", `${range[0]}`, `${range[1]}`, "ns"], "csv");
    stretches(
      blob(),
      (file) => {
        download(name, file);
        this.#copier.tell(`${counted(count, "slice")} saved as ${name}`);
      },
      this.#host.context.signal,
    );
  }
}
