import { errorText, isAbort } from "../shared/client/request.ts";
import { readTheme } from "../shared/drawing/theme.ts";
import { counted, integer, percent } from "../shared/format.ts";
import { button, div, element, KEEP_KEYS, span } from "../shell/dom.ts";
import { table } from "../shell/table.ts";
import type { FilteredView } from "./bar.ts";
import type { TuningClient } from "./client.ts";
import {
  type ErrorRow,
  type ErrorsBy,
  type ErrorTableInfo,
  errorFill,
  type FindingInfo,
  PANES,
  type PaneName,
  type TrialScope,
  type TuningData,
} from "./data.ts";
import { remedyParts, scopeText } from "./descriptions.ts";

export const PANE_LABELS: Record<PaneName, string> = {
  schedule: "Schedule",
  tiles: "Tile sizes",
  errors: "Errors",
  findings: "Findings",
};

/** Direction of an arrow key among tabs. */
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
const ENDS: Record<string, number> = { Home: 0, End: PANES.length - 1 };

interface PanesHost {
  showPane(pane: PaneName): void;
}

/** Tabs of the lower part of the view; Tab leads to the selected one, arrows to the others. */
export class Panes {
  readonly node: HTMLElement;
  readonly #tabs = new Map<PaneName, HTMLButtonElement>();
  readonly #bodies: Record<PaneName, HTMLElement>;
  readonly #host: PanesHost;

  constructor(bodies: Record<PaneName, HTMLElement>, host: PanesHost) {
    this.#bodies = bodies;
    this.#host = host;
    const tabs = PANES.map((pane, at) => {
      const tab = element(
        "button",
        { type: "button", role: "tab", title: `${PANE_LABELS[pane]} (${at + 1})`, ...KEEP_KEYS },
        PANE_LABELS[pane],
      );
      tab.addEventListener("click", () => host.showPane(pane));
      this.#tabs.set(pane, tab);
      bodies[pane].setAttribute("role", "tabpanel");
      return tab;
    });
    const list = element("div", { class: "tvmdbg-tuning-tabs", role: "tablist" }, ...tabs);
    list.addEventListener("keydown", (event) => this.#key(event));
    this.node = div(
      "tvmdbg-tuning-panes tvmdbg-column tvmdbg-fill",
      list,
      ...PANES.map((pane) => bodies[pane]),
    );
  }

  #key(event: KeyboardEvent): void {
    const at = PANES.findIndex((pane) => this.#tabs.get(pane) === event.target);
    const step = STEPS[event.key];
    const to = step ? (at + step + PANES.length) % PANES.length : ENDS[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    this.#host.showPane(PANES[to]!);
    this.#tabs.get(PANES[to]!)!.focus();
  }

  show(shown: PaneName): void {
    for (const [pane, tab] of this.#tabs) {
      tab.setAttribute("aria-selected", String(pane === shown));
      tab.tabIndex = pane === shown ? 0 : -1;
      this.#bodies[pane].hidden = pane !== shown;
    }
  }

  count(pane: PaneName, text: string): void {
    this.#tabs.get(pane)!.textContent = text ? `${PANE_LABELS[pane]} (${text})` : PANE_LABELS[pane];
  }
}

const CHIPS = 6;

interface FindingsHost {
  pickTask(task: number): void;
  pickTrial(trial: number): void;
  copyText(text: string): void;
}

/** Findings of a log, the gravest first, with evidence and remedies. */
export class FindingsPane {
  readonly node = element("div", {
    class: "tvmdbg-tuning-findings",
    tabindex: 0,
    "aria-label": "findings",
    ...KEEP_KEYS,
  });
  readonly #host: FindingsHost;

  constructor(host: FindingsHost) {
    this.#host = host;
  }

  show({ info }: TuningData): void {
    const isShort = info.findings.length <= 2;
    const items = info.findings.map((finding, at) => this.#item(finding, !at || isShort));
    const refused = info.refused
      ? [element("p", { class: "tvmdbg-error" }, refusedText(info.refused), list(info.refusedWhy))]
      : [];
    const none =
      items.length || refused.length ? [] : [element("p", {}, "No findings need attention.")];
    this.node.replaceChildren(...refused, ...items, ...none);
  }

  #item(finding: FindingInfo, open: boolean): HTMLElement {
    const chips = [
      ...finding.tasks
        .slice(0, CHIPS)
        .map((task) =>
          button(`task ${task}`, `show task ${task}`, () => this.#host.pickTask(task)),
        ),
      ...finding.trials
        .slice(0, CHIPS)
        .map((trial) =>
          button(`trial ${trial}`, `show trial ${trial}`, () => this.#host.pickTrial(trial)),
        ),
    ];
    return element(
      "details",
      { open, class: `tvmdbg-finding-${finding.severity}` },
      element(
        "summary",
        { ...KEEP_KEYS },
        element("i", {
          class: `tvmdbg-icon tvmdbg-icon-${finding.severity}`,
          "aria-hidden": "true",
        }),
        element("b", {}, `${SEVERITIES[finding.severity]}: `),
        finding.title,
      ),
      ...remedyParts(finding.nextStep).map((part) =>
        part.isCode ? this.#code(part.text) : element("p", {}, part.text),
      ),
      element(
        "details",
        {},
        element(
          "summary",
          { class: "tvmdbg-muted", ...KEEP_KEYS },
          `evidence, ${finding.confidence} confidence`,
        ),
        list(finding.evidence),
        element("p", { class: "tvmdbg-muted" }, finding.why),
        chips.length ? element("p", {}, ...chips) : null,
      ),
    );
  }

  #code(text: string): HTMLElement {
    const copy = button("copy", "copy this code", () => this.#host.copyText(text));
    return div("tvmdbg-tuning-step tvmdbg-row tvmdbg-gap-8", element("pre", {}, text), copy);
  }
}

const SEVERITIES = {
  error: "Error",
  warning: "Warning",
  hotspot: "Hotspot",
  info: "Info",
} as const;

export function refusedText(count: number): string {
  return `${counted(count, "line")} of the log could not be read`;
}

function list(texts: readonly string[]): HTMLElement {
  return element("ul", {}, ...texts.map((text) => element("li", {}, text)));
}

interface ErrorsView extends FilteredView {
  readonly client: TuningClient;
}

/** Failed trials by a common property: unroll setting, round, threads. */
export class ErrorsPane {
  readonly node = element("div", {
    class: "tvmdbg-tuning-errors",
    tabindex: 0,
    "aria-label": "errors",
    ...KEEP_KEYS,
  });
  readonly #root: HTMLElement;
  readonly #view: ErrorsView;
  #places = new Map<ErrorsBy, HTMLElement>();
  #requests = new Map<ErrorsBy, { scope: string }>();
  #query = "";

  constructor(root: HTMLElement, view: ErrorsView) {
    this.#root = root;
    this.#view = view;
  }

  /** Takes over a log; the old table stays until the new one is counted. */
  show({ info }: TuningData): void {
    this.#requests.clear();
    const place = (by: ErrorsBy) =>
      this.#places.get(by) ??
      element("div", {}, element("p", { class: "tvmdbg-muted" }, `by ${by}: counting …`));
    this.#places = new Map(info.errorsBy.map((by) => [by, place(by)]));
    if (this.node.childElementCount !== this.#places.size) {
      this.node.replaceChildren(...this.#places.values());
    }
  }

  /** Counts the errors of these trials, unless they were counted last. */
  look(scope: TrialScope): void {
    this.#query = scope.query;
    for (const [by, place] of this.#places) void this.#fill(by, place, scope);
  }

  /** Ignores a query for one of the table's own rows, so that another can be chosen. */
  async #fill(by: ErrorsBy, place: HTMLElement, scope: TrialScope): Promise<void> {
    const isOwn = scope.query.startsWith(`${by}=`) && !/\s/.test(scope.query);
    const own = isOwn ? { ...scope, query: "" } : scope;
    const request = { scope: JSON.stringify(own) };
    if (this.#requests.get(by)?.scope !== request.scope) {
      this.#requests.set(by, request);
      place.setAttribute("aria-busy", "true");
      const table = await this.#counted(by, own);
      if (this.#requests.get(by) !== request) return;
      const { query } = (document.activeElement as HTMLElement | null)?.dataset ?? {};
      const isHeld = place.contains(document.activeElement);
      place.replaceChildren(table);
      place.removeAttribute("aria-busy");
      if (isHeld && query) place.querySelector<HTMLElement>(`[data-query="${query}"]`)?.focus();
    }
    for (const link of place.querySelectorAll<HTMLElement>("[data-query]")) {
      link.setAttribute("aria-pressed", String(link.dataset.query === this.#query));
    }
  }

  async #counted(by: ErrorsBy, scope: TrialScope): Promise<HTMLElement> {
    try {
      return this.#table(by, scope, await this.#view.client.ask("errors", { by, ...scope }));
    } catch (error) {
      const problem = isAbort(error) ? "" : `by ${by}: ${errorText(error)}`;
      return element("p", { class: "tvmdbg-muted" }, problem);
    }
  }

  #table(by: ErrorsBy, scope: TrialScope, { note, kinds, rows }: ErrorTableInfo): HTMLElement {
    const facts = [scopeText(scope), rows.length ? note : "no trials"].filter(Boolean).join("; ");
    const caption = element("caption", {}, `by ${by} `, span("tvmdbg-muted", facts));
    const number = (name: string) =>
      element("th", { scope: "col", class: "tvmdbg-tuning-number" }, name);
    const node = table(
      { "aria-label": `errors by ${by}` },
      [by, number("trials"), "", number("failed"), ""],
      rows.map((row) => this.#row(row, kinds)),
    );
    node.tHead!.className = "tvmdbg-muted";
    node.prepend(caption);
    return node;
  }

  #row({ label, query, trials, counts }: ErrorRow, kinds: ErrorTableInfo["kinds"]): HTMLElement {
    const theme = readTheme(this.#root);
    const failed = counts.reduce((sum, count) => sum + count, 0);
    const bar = span("tvmdbg-tuning-bar");
    const texts: string[] = [];
    counts.forEach((count, at) => {
      if (!count) return;
      const part = element("i", {});
      part.style.width = `${(100 * count) / Math.max(1, trials)}%`;
      part.style.backgroundColor = errorFill(theme, kinds[at]!.code);
      bar.append(part);
      texts.push(`${integer(count)} ${kinds[at]!.label}`);
    });
    return element(
      "tr",
      { title: texts.join(", ") || undefined },
      element("th", { scope: "row" }, this.#label(label, query)),
      element("td", { class: "tvmdbg-tuning-number" }, integer(trials)),
      element("td", {}, bar),
      element("td", { class: "tvmdbg-tuning-number" }, trials ? percent(failed / trials) : ""),
      element("td", { class: "tvmdbg-muted" }, texts.join(", ")),
    );
  }

  /** Label of a row; a click shows only its trials, a second one all again. */
  #label(label: string, query: string): HTMLElement | string {
    if (!query || this.#view.isSaved) return label;
    const link = button(label, `${label}: show these trials alone (${query})`, () =>
      this.#view.filter(link.getAttribute("aria-pressed") === "true" ? "" : query),
    );
    link.classList.add("tvmdbg-tuning-link");
    link.dataset.query = query;
    return link;
  }
}
