import type { CodeCopy } from "../shared/client/code_copy.ts";
import { errorText, isAbort } from "../shared/client/request.ts";
import type { AreaAnswer, AreaQuestion } from "../shared/client/timeline_columns.ts";
import { kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted, integer, percent } from "../shared/format.ts";
import { stretches } from "../shared/many.ts";
import {
  button,
  div,
  download,
  downloadProblem,
  element,
  fileName,
  select,
  span,
} from "../shared/ui/dom.ts";
import { factList } from "../shell/tooltip.ts";
import {
  type AreaPart,
  areaBy,
  csvParts,
  exactly,
  RANGE_BY,
  type RangeBy,
  RangeWords,
} from "./areas.ts";
import { type Area, areaSums, ranking, type TimeRange } from "./data/aggregate.ts";
import { KeyNames } from "./data/key_names.ts";
import type { Row } from "./data/row.ts";
import type { TimelineData } from "./descriptions.ts";

/** Number of rows shown at first. */
const MOST = 8;
/** Number of slices from which sums are shown before durations are ranked. */
const MANY = 50_000;
/** Most lines to copy as text. */
const MOST_COPIED = 200_000;

type AreaListener = (area: Area) => void;

export interface AreaEvents {
  ask(question: AreaQuestion, signal: AbortSignal): Promise<AreaAnswer>;
  pick(nodes: readonly number[], slice: number): void;
  code(): void;
  say(text: string): void;
  fit(): void;
  clear(): void;
}

/** Contents of the marked range: numbers, its time by node, kind, name or track, and ways to export it. */
export class AreaPanel {
  readonly node = div("tvmdbg-timeline-area");
  readonly #data: TimelineData;
  readonly #called: KeyNames;
  readonly #words: RangeWords;
  readonly #events: AreaEvents;
  readonly #copier: CodeCopy;
  readonly #signal: AbortSignal;
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
  #shares: AreaPart[] = [];
  #theme: Theme;
  #work = new AbortController();
  #far = false;

  constructor(
    data: TimelineData,
    copier: CodeCopy,
    theme: Theme,
    events: AreaEvents,
    signal: AbortSignal,
  ) {
    this.#data = data;
    this.#called = new KeyNames(data.slices, data.names, data.graph);
    this.#words = new RangeWords(data.slices, data.words);
    this.#events = events;
    this.#copier = copier;
    this.#theme = theme;
    this.#signal = signal;
    const needsGraph = (option: RangeBy) =>
      option === "part" || option === "group" || option === "kind";
    const by = RANGE_BY.filter((option) => data.names.known || !needsGraph(option))
      .filter((option) => option !== "module" || data.slices.columns.nodeModules)
      .map((option) => [option, `by ${option}`] as const);
    this.#scopes = element("span", {});
    this.#tools = element(
      "div",
      { class: "tvmdbg-timeline-tools", role: "group", "aria-label": "marked range" },
      this.#scopes,
      select("group the time by", by, this.#by, (value) => {
        this.#by = value as RangeBy;
        this.#share();
      }),
      button("text", "Copy these numbers as text", () => this.#copyText()),
      button("CSV", "Copy the slices of the range as CSV", () => this.#copyCsv()),
      button("save CSV", "Save the slices of the range as a CSV file", () => this.#saveCsv()),
      button("code", "Copy Python for the range", () => events.code()),
      button("zoom", "Zoom to the range (f)", () => events.fit()),
      button("×", "Clear the range (Esc)", () => events.clear()),
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
    this.#work = new AbortController();
    this.#tools.hidden = this.#parts.hidden = drawn;
    const { slices } = this.#data;
    const { whole, binsOnly } = slices.columns.info;
    if (whole && !slices.complete) {
      this.#tools.hidden = this.#parts.hidden = true;
      const why = binsOnly ? "not in this page: it was saved without single slices" : "loading …";
      this.#facts.replaceChildren(factList([["slices", why]]));
      this.#area = null;
      return;
    }
    if (whole) {
      this.#offerScopes();
      const sums = areaSums(slices, range, this.#rows);
      const { signal } = this.#work;
      const rank = () => {
        const ranked = (area: Area) => {
          this.#take(area, listener);
          if (!drawn) this.#share();
        };
        stretches(ranking(slices, sums), ranked, signal);
      };
      if (sums.area.count < MANY) rank();
      else {
        this.#take(sums.area);
        setTimeout(rank);
      }
      return;
    }
    this.#far = true;
    const length = exactly(range[1] - range[0]);
    this.#facts.replaceChildren(factList([["range", drawn ? length : `${length}: summing up …`]]));
    this.#area = null;
    this.#parts.replaceChildren();
    if (!drawn) void this.#ask(range, listener);
  }

  #take(area: Area, listener?: AreaListener): void {
    this.#area = area;
    this.#facts.replaceChildren(factList(this.#words.ofArea(area)));
    listener?.(area);
  }

  async #ask(range: TimeRange, listener?: AreaListener): Promise<void> {
    const { signal } = this.#work;
    this.#tools.classList.add("tvmdbg-timeline-far");
    try {
      const by = this.#by === "track" ? "device" : this.#by;
      const [from, to] = range;
      const area = await this.#events.ask({ from, to, by }, signal);
      if (signal.aborted) return;
      this.#take(ofAnswer(range, area), listener);
      this.#shares = area.by.map(({ label, nodes, count, sum }) => {
        return { label, kind: "", nodes, slice: -1, count, self: sum };
      });
      this.#all = false;
      this.#paintParts();
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) this.#facts.replaceChildren(errorText(error));
    }
  }

  retheme(theme: Theme): void {
    this.#theme = theme;
    this.#paintParts();
  }

  /** Cancels the sums of an old range. */
  stop(): void {
    this.#work.abort();
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
        const announce = (area: Area) => this.#events.say(this.#words.areaSentence(area));
        this.show(this.#area.range, { told: announce });
      }),
    );
  }

  #share(): void {
    if (!this.#area) return;
    const { range } = this.#area;
    this.#work.abort();
    this.#work = new AbortController();
    if (this.#far) {
      void this.#ask(range);
      return;
    }
    this.#parts.setAttribute("aria-busy", "true");
    const { slices } = this.#data;
    const work = areaBy(this.#by, slices, this.#called, range, this.#rows);
    stretches(
      work,
      (area) => {
        this.#shares = area;
        this.#all = false;
        this.#parts.removeAttribute("aria-busy");
        this.#paintParts();
      },
      this.#work.signal,
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

  #line({ label, kind, nodes, slice, count, self }: AreaPart): HTMLElement {
    const sum = this.#area!.sum;
    const short = this.#data.slices.isShort(self);
    const share = short ? "–" : percent(self / sum);
    const chip = element("i", { class: "tvmdbg-timeline-chip" });
    chip.style.backgroundColor = kindFill(this.#theme, kind);
    const bar = element("i", { class: "tvmdbg-timeline-share" });
    bar.style.width = `${100 * (self / (this.#shares[0]?.self || 1))}%`;
    const title = `${label}: ${counted(count, "slice")}, ${short ? this.#data.slices.timeText(self) : `${self} ns`}`;
    const line = button("", `select ${title}`, () => this.#events.pick(nodes, slice));
    line.replaceChildren(
      ...(kind ? [chip] : []),
      span("label", label),
      span("tvmdbg-muted", `${integer(count)}×`),
      span("time", this.#data.slices.timeText(self)),
      span("share", bar, share),
    );
    return element("div", { role: "listitem" }, line);
  }

  #copyText(): void {
    if (!this.#area) return;
    const lines = this.#words.ofArea(this.#area).map((fact) => fact.join(": "));
    const table = this.#shares.map(({ label, count, self }) =>
      [label, `${integer(count)}×`, `${self} ns`, percent(self / this.#area!.sum)].join("\t"),
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
    const text = [...csvParts(slices, names, range, this.#rows)].join("");
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
    const rows = this.#rows;
    function* blob(): Generator<unknown, Blob> {
      const parts: Blob[] = [];
      for (const part of csvParts(slices, names, range, rows)) {
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
      this.#signal,
    );
  }
}

/** Sums of a kernel's answer, in the form of the page's own. */
function ofAnswer(range: TimeRange, { count, instants, sum, whole, tracks }: AreaAnswer): Area {
  const { count: number, min, mean, p50, p90, max } = whole;
  const known = (ns: number | null) => ns ?? Number.NaN;
  const spread = {
    min: known(min),
    mean: known(mean),
    p50: known(p50),
    p90: known(p90),
    max: known(max),
  };
  return { range, count, instants, sum, whole: { count: number, ...spread }, tracks };
}
