import { counted } from "../../shared/format.ts";
import { element, KEEP_KEYS } from "../../shared/ui/dom.ts";
import type { TaskCounts } from "../data/counts.ts";
import type { TuningData } from "../data/data.ts";
import { taskTitle } from "../data/descriptions.ts";
import type { Sort } from "../data/options.ts";
import {
  COLUMNS,
  type Column,
  HEADS,
  shownColumns,
  type TaskRow,
  taskRows,
} from "../data/task_rows.ts";

const MOST_ROWS = 500;
/** Which sort a column's head asks for. */
const SORT_OF: Record<string, Sort> = {
  best: "time",
  share: "time",
  failed: "errors",
  gain: "gain",
  task: "task",
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
    const columns = shownColumns(info, rows);
    const sorted = columns.find((name) => SORT_OF[name] === sort);
    const heads = columns.map((name) => this.#head(name, sort, name === sorted));
    const body = rows.slice(0, MOST_ROWS).map((row) => this.#row(row, columns, sorted));
    const more = rows.length - MOST_ROWS;
    this.#rows = new Map(rows.slice(0, MOST_ROWS).map(({ task }, at) => [task.index, body[at]!]));
    const focused = (document.activeElement as HTMLElement | null)?.dataset.sort;
    const held = this.node.contains(document.activeElement) ? focused : undefined;
    this.node.replaceChildren(
      element(
        "table",
        { "aria-label": "tasks" },
        element(
          "thead",
          {},
          element("tr", {}, this.#head("task", sort, sort === "task", range), ...heads),
        ),
        element("tbody", {}, ...body),
      ),
      ...(more > 0
        ? [element("p", { class: "tvmdbg-muted" }, `and ${counted(more, "more task")}`)]
        : []),
    );
    if (held) this.node.querySelector<HTMLElement>(`[data-sort="${held}"]`)?.focus();
  }

  #head(name: Column | "task", sort: Sort, isSorted: boolean, more = ""): HTMLElement {
    const by = SORT_OF[name];
    const label = name === "task" ? "task" : COLUMNS[name];
    const attributes = {
      scope: "col",
      title: HEADS[name],
      class: name === "task" ? undefined : columnClass(name, isSorted),
    };
    if (!by) return element("th", attributes, label);
    const head = element("button", { type: "button", "data-sort": name, ...KEEP_KEYS }, label);
    head.addEventListener("click", () => this.#sort(by));
    const order = by === "task" ? "ascending" : "descending";
    return element(
      "th",
      { ...attributes, "aria-sort": isSorted && by === sort && order },
      head,
      more,
    );
  }

  #row(row: TaskRow, columns: readonly Column[], sorted: Column | undefined): HTMLElement {
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

/** A column that gives way where the table is narrow stays while it is sorted by. */
function columnClass(name: Column, isSorted: boolean): string {
  const kind = `tvmdbg-tuning-number tvmdbg-tuning-column-${name}`;
  return isSorted ? `${kind} tvmdbg-tuning-sorted` : kind;
}
