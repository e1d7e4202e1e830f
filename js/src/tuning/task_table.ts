import { counted, integer, percent } from "../shared/format.ts";
import { element, KEEP_KEYS, span } from "../shell/dom.ts";
import { reveal } from "../shell/scrolling.ts";
import { table } from "../shell/table.ts";
import type { Sort, TaskCounts, TaskInfo, TuningData, TuningInfo } from "./data.ts";
import { seconds, taskTitle } from "./descriptions.ts";

export interface TaskRow {
  task: TaskInfo;
  name: string;
  best: string;
  gflops: string;
  trials: string;
  failed: string;
  /** 0 … 1, for the bar behind the number; NaN without trials. */
  failedShare: number;
  share: string;
  /** Time of all calls of the task, in logs with weights. */
  weighted: string;
  gain: string;
  /** Number of linked nodes of the run, and how they were matched. */
  nodes: string;
}

/** Tasks in the order of a sort, by the shown numbers: largest first, unknown last. */
export function sorted(
  tasks: readonly TaskInfo[],
  sort: Sort,
  counts: TaskCounts | null = null,
): TaskInfo[] {
  const key = (task: TaskInfo): number => {
    const { index, weight, trials, valid } = task;
    if (sort === "time") return weight * ((counts ? counts.best[index] : task.best) || -1);
    if (sort === "gain") return task.gain ?? -1;
    if (sort === "errors") return counts ? counts.failed[index]! : trials - valid;
    return -index;
  };
  return [...tasks].sort((a, b) => key(b) - key(a) || a.index - b.index);
}

/** Rows of the table; `counts` covers the visible trials, null if all are. */
export function taskRows(info: TuningInfo, sort: Sort, counts: TaskCounts | null): TaskRow[] {
  return sorted(info.tasks, sort, counts).map((task) => {
    const trials = counts ? counts.trials[task.index]! : task.trials;
    const failed = counts ? counts.failed[task.index]! : task.trials - task.valid;
    const best = counts ? counts.best[task.index]! : (task.best ?? Number.NaN);
    return {
      task,
      name: task.name,
      best: Number.isNaN(best) ? (trials ? "none valid" : "") : seconds(best),
      gflops: task.gflops === null || counts ? "" : gflopsText(task.gflops, task.assumed),
      trials: integer(trials),
      failed: trials ? percent(failed / trials) : "",
      failedShare: trials ? failed / trials : Number.NaN,
      share: task.share === null ? "" : percent(task.share),
      weighted: info.weighted && best > 0 ? seconds(task.weight * best) : "",
      gain: task.gain === null ? "" : task.gain > 0 ? seconds(task.gain) : "none",
      nodes: task.nodes.length ? `${task.nodes.length} ${task.linkedBy}` : "",
    };
  });
}

function gflopsText(gflops: number, assumed: boolean): string {
  const text = gflops >= 100 ? integer(Math.round(gflops)) : gflops.toPrecision(3);
  return assumed ? `${text}*` : text;
}

/** Columns of numbers, by their headings. */
export const COLUMNS = {
  best: "best",
  weighted: "weight × best",
  gflops: "GFLOPS",
  trials: "trials",
  failed: "failed",
  share: "share",
  gain: "expected gain",
  nodes: "nodes",
} as const;
type TaskColumn = keyof typeof COLUMNS;

/** Columns with any value. */
export function shownColumns(info: TuningInfo, rows: readonly TaskRow[]): TaskColumn[] {
  return (Object.keys(COLUMNS) as TaskColumn[]).filter(
    (name) =>
      (name !== "gflops" || info.tasks.some(({ gflops }) => gflops !== null)) &&
      rows.some((row) => row[name]),
  );
}

const HEADS = {
  task: "number of the task by its first trial, and name",
  best: "lowest mean cost of a valid trial",
  gflops:
    "floating-point operations of the task's compute DAG by its best cost; * of a DAG that is only assumed",
  trials: "trials measured",
  failed: "trials without a valid cost",
  weighted: "weight of the task times its best cost",
  share: "share of the total latency",
  gain: "what another round may gain, as the task scheduler estimates it",
  nodes: "nodes of the linked run that the task tuned, and how they were found",
} as const;

const MOST_ROWS = 500;
const SORT_OF: Record<string, Sort> = {
  best: "time",
  weighted: "time",
  failed: "errors",
  gain: "gain",
  task: "task",
};

/** Sort of a column; with weights that of the best cost is no sort by time. */
function sortOf(info: TuningInfo, name: string): Sort | undefined {
  return name === "best" && info.weighted ? undefined : SORT_OF[name];
}

interface TaskHost {
  pickTask(task: number | null): void;
  sortBy(sort: Sort): void;
}

/** Tasks of a log, one per row: the slowest first, or the most errors, or the most to gain. */
export class TaskTable {
  readonly node = element("div", {
    class: "tvmdbg-tuning-tasks tvmdbg-relative tvmdbg-fill tvmdbg-scrolls",
    "aria-label": "tasks",
    ...KEEP_KEYS,
  });
  readonly #host: TaskHost;
  #rows = new Map<number, HTMLElement>();

  constructor(host: TaskHost) {
    this.#host = host;
    this.node.addEventListener("click", (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>("tr[data-task]");
      const isPicked = row?.getAttribute("aria-selected") === "true";
      if (row) host.pickTask(isPicked ? null : Number(row.dataset.task));
    });
  }

  show(data: TuningData, sort: Sort, counts: TaskCounts | null, range: string): void {
    const { info } = data;
    const rows = taskRows(info, sort, counts);
    const columns = shownColumns(info, rows);
    const sorted = columns.find((name) => sortOf(info, name) === sort);
    const head = (name: TaskColumn | "task", more = "") =>
      this.#head(name, sortOf(info, name), name === (sorted ?? sort), more);
    const body = rows.slice(0, MOST_ROWS).map((row) => this.#row(row, columns, sorted));
    const more = rows.length - MOST_ROWS;
    this.#rows = new Map(rows.slice(0, MOST_ROWS).map(({ task }, at) => [task.index, body[at]!]));
    const focused = (document.activeElement as HTMLElement | null)?.dataset.sort;
    const held = this.node.contains(document.activeElement) ? focused : undefined;
    this.node.replaceChildren(
      table(
        { "aria-label": "tasks" },
        [head("task", range), ...columns.map((name) => head(name))],
        body,
      ),
      ...(more > 0
        ? [element("p", { class: "tvmdbg-muted" }, `and ${counted(more, "more task")}`)]
        : []),
    );
    if (held) this.node.querySelector<HTMLElement>(`[data-sort="${held}"]`)?.focus();
  }

  #head(
    name: TaskColumn | "task",
    by: Sort | undefined,
    isSorted: boolean,
    more: string,
  ): HTMLElement {
    const label = name === "task" ? "task" : COLUMNS[name];
    const attributes = {
      scope: "col",
      title: HEADS[name],
      class: name === "task" ? undefined : columnClass(name, isSorted),
    };
    if (!by) return element("th", attributes, label);
    const head = element("button", { type: "button", "data-sort": name, ...KEEP_KEYS }, label);
    head.addEventListener("click", () => this.#host.sortBy(by));
    const order = by === "task" ? "ascending" : "descending";
    return element("th", { ...attributes, "aria-sort": isSorted && order }, head, more);
  }

  #row(row: TaskRow, columns: readonly TaskColumn[], sorted: TaskColumn | undefined): HTMLElement {
    const cells = columns.map((name) => {
      const cell = element("td", { class: columnClass(name, name === sorted) }, row[name]);
      if (name === "failed" && row.failedShare > 0) {
        cell.style.setProperty("--share", `${100 * row.failedShare}%`);
        cell.classList.add("tvmdbg-tuning-failed");
      }
      return cell;
    });
    const { task } = row;
    const name = element(
      "th",
      { scope: "row", title: `${taskTitle(task)}\n${task.key}\n${task.target}` },
      span("tvmdbg-muted", `${task.index} `),
      row.name,
    );
    return element("tr", { "data-task": task.index, "aria-selected": "false" }, name, ...cells);
  }

  /** Marks the current task, and scrolls to it. */
  mark(task: number | null): void {
    for (const [index, row] of this.#rows) {
      row.setAttribute("aria-selected", String(index === task));
    }
    const row = task === null ? null : this.#rows.get(task);
    if (row) reveal(this.node, row.offsetTop, row.offsetHeight, HEAD);
  }

  get order(): number[] {
    return [...this.#rows.keys()];
  }
}

/** Height of the fixed table head. */
const HEAD = 24;

/** Class of a column; narrow tables hide some columns unless they are sorted by. */
function columnClass(name: TaskColumn, isSorted: boolean): string {
  const kind = `tvmdbg-tuning-number tvmdbg-tuning-column-${name}`;
  return isSorted ? `${kind} tvmdbg-tuning-sorted` : kind;
}
