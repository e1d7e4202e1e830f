import { element, KEEP_KEYS } from "../../shared/dom.ts";
import type { TaskCounts } from "../data/counts.ts";
import type { TuningData } from "../data/data.ts";
import type { Sort } from "../data/options.ts";
import { HEADS, knowsFlops, type TaskRow, taskRows } from "../data/task_rows.ts";
import { taskTitle } from "../data/words.ts";

const MOST_ROWS = 500;
/** Which sort a column's head asks for. */
const SORT_OF: Record<string, Sort> = {
  best: "time",
  share: "time",
  failed: "errors",
  gain: "gain",
};

/** The tasks of a log, one a row: the slowest first, or those with most errors, or most to gain. */
export class TaskTable {
  readonly node = element("div", {
    class: "tvmdbg-tuning-tasks",
    "aria-label": "tasks",
    ...KEEP_KEYS,
  });
  readonly #pick: (task: number | null) => void;
  readonly #sort: (sort: Sort) => void;
  #rows = new Map<number, HTMLElement>();

  constructor(pick: (task: number | null) => void, sort: (sort: Sort) => void) {
    this.#pick = pick;
    this.#sort = sort;
    this.node.addEventListener("click", (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>("tr[data-task]");
      if (row)
        this.#pick(row.getAttribute("aria-selected") === "true" ? null : Number(row.dataset.task));
    });
  }

  show(data: TuningData, sort: Sort, counts: TaskCounts | null, range: string): void {
    const { info } = data;
    const rows = taskRows(info, sort, counts);
    const columns = (["best", "gflops", "trials", "failed", "share", "gain"] as const).filter(
      (name) => (name !== "gflops" || knowsFlops(info)) && rows.some((row) => row[name]),
    );
    const heads = columns.map((name) => {
      const by = SORT_OF[name];
      const attributes = {
        scope: "col",
        title: HEADS[name],
        class: `tvmdbg-tuning-number tvmdbg-tuning-column-${name}`,
      };
      if (!by) return element("th", attributes, LABELS[name]);
      const head = element("button", { type: "button", ...KEEP_KEYS }, LABELS[name]);
      head.addEventListener("click", () => this.#sort(by));
      const isSorted = by === sort && (name === "best" || by !== "time");
      return element("th", { ...attributes, "aria-sort": isSorted && "descending" }, head);
    });
    const body = rows.slice(0, MOST_ROWS).map((row) => this.#row(row, columns));
    const more = rows.length - MOST_ROWS;
    this.#rows = new Map(rows.slice(0, MOST_ROWS).map(({ task }, at) => [task.index, body[at]!]));
    this.node.replaceChildren(
      element(
        "table",
        { "aria-label": "tasks" },
        element(
          "thead",
          {},
          element("tr", {}, element("th", { scope: "col" }, `task${range}`), ...heads),
        ),
        element("tbody", {}, ...body),
      ),
      ...(more > 0 ? [element("p", { class: "tvmdbg-muted" }, `and ${more} more tasks`)] : []),
    );
  }

  #row(row: TaskRow, columns: readonly (keyof typeof LABELS)[]): HTMLElement {
    const cells = columns.map((name) => {
      const kind = `tvmdbg-tuning-number tvmdbg-tuning-column-${name}`;
      const cell = element("td", { class: kind }, row[name]);
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
      element("span", { class: "tvmdbg-muted" }, `${task.index} `),
      row.name,
    );
    return element("tr", { "data-task": task.index, "aria-selected": "false" }, name, ...cells);
  }

  /** Marks the task that is looked at, and brings it into view. */
  mark(task: number | null): void {
    for (const [index, row] of this.#rows) {
      row.setAttribute("aria-selected", String(index === task));
    }
    const row = task === null ? null : this.#rows.get(task);
    if (!row) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    const { scrollTop, clientHeight } = this.node;
    if (top - HEAD < scrollTop) this.node.scrollTop = top - HEAD;
    else if (bottom > scrollTop + clientHeight) this.node.scrollTop = bottom - clientHeight;
  }

  /** The tasks in the order in which they are listed. */
  get order(): number[] {
    return [...this.#rows.keys()];
  }
}

/** The head stays where it is while rows scroll. */
const HEAD = 24;

const LABELS = {
  best: "best",
  gflops: "GFLOPS",
  trials: "trials",
  failed: "failed",
  share: "of total",
  gain: "to gain",
} as const;
