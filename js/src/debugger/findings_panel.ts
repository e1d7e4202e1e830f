import type { FindingsAnswer, GraphColumns } from "../shared/client/answers.ts";
import { isUnderWay, Scan } from "../shared/client/health.ts";
import { errorText } from "../shared/client/request.ts";
import * as icons from "../shared/drawing/icons.ts";
import { nodeLabel, nodeTitle } from "../shared/format.ts";
import { COPY_KEY, CodeCopy, titleOf } from "../shell/code_copy.ts";
import { asApplication, element, iconButton, Mirror, onResize } from "../shell/dom.ts";
import { action, bindKeys, helpButton, type KeyAction } from "../shell/keys.ts";
import { hinted, message, retry } from "../shell/message.ts";
import { entryOf, paletteAction, selectionOf } from "../shell/palette.ts";
import type { ViewContext } from "../shell/view.ts";
import { List } from "./finding_list.ts";
import {
  counts,
  type FindingRow,
  type FindingsHead,
  nextNode,
  progress,
  rowsOf,
  sentence,
} from "./finding_rows.ts";

interface FindingsOptions {
  /** True if the list is folded to one line. */
  findings_folded: boolean;
}

const SOURCE = "findings";
const PAGE = 5;

class FindingsPanel {
  readonly #root: HTMLElement;
  readonly #context: ViewContext<FindingsOptions>;
  readonly #mirror = new Mirror();
  readonly #head: FindingsHead;
  readonly #trouble = element("div", { class: "tvmdbg-findings-trouble", hidden: true });
  readonly #list: List;
  readonly #scan: Scan<FindingsAnswer>;
  readonly #code: CodeCopy;
  #serial = 0;
  #waited = false;
  #answer: FindingsAnswer | null = null;
  #graph: GraphColumns | null = null;
  #chosen: { key: string; selected: string } | null = null;

  constructor(root: HTMLElement, context: ViewContext<FindingsOptions>, head: FindingsHead) {
    const { run, session, options, signal } = context;
    this.#root = root;
    this.#context = context;
    this.#head = head;
    this.#list = new List(this, root);
    this.#scan = new Scan(
      {
        ask: (signal, goOn) => run.ask("findings", goOn ? { goOn } : {}, signal),
        stop: (signal) => run.ask("cancelFindings", {}, signal),
      },
      this,
      signal,
    );
    head.onStop = () => this.stopOrGoOn();
    head.onFold = () => this.#foldAll(!options.get("findings_folded"));
    const copy = () => this.#code.copy();
    const hint = `Copy Python code for this finding (${COPY_KEY})`;
    const code = iconButton(icons.CODE, "copy Python code", hint, copy);
    head.tools.append(code, helpButton(root));
    root.append(this.#trouble, this.#list.node, this.#mirror.node);
    this.#code = new CodeCopy(
      root,
      () => codeOf(this.#list.active),
      (text) => this.#mirror.say(text),
      titleOf(context.run),
      context.signal,
    );
    const around = root.closest<HTMLElement>(".tvmdbg-debugger") ?? root;
    bindKeys(root, [...this.#actions(), paletteAction(root, context)], signal, around);
    session.onChange(() => this.#mark(), signal, ["selected", "entry"]);
    const noted = () => {
      this.#show();
      this.#fill();
    };
    session.onChange(noted, signal, ["notes"]);
    options.onChange("findings_folded", () => this.#showFolded(), signal);
    onResize([root], () => this.#list.fit(), signal);
    this.#showFolded();
    this.#mirror.say("Findings: none so far.");
    this.#fill();
    void this.#scan.start();
    run.ask("graph").then(
      (graph) => {
        if (signal.aborted) return;
        this.#graph = graph;
        this.#list.renamed();
        this.#mark();
      },
      () => {},
    );
  }

  stopOrGoOn(): void {
    if (this.#answer?.state === "scanning") void this.#scan.stop();
    else if (this.#answer?.state === "cancelled") void this.#scan.start(true);
    this.#root.focus({ preventScroll: true });
  }

  #foldAll(folded: boolean): void {
    this.#context.options.set("findings_folded", folded);
    this.#root.focus({ preventScroll: true });
    this.#mirror.say(folded ? `Findings folded: ${this.#summary()}` : "Findings unfolded.");
  }

  #unfold(): void {
    if (this.#context.options.get("findings_folded")) this.#foldAll(false);
  }

  #showFolded(): void {
    const folded = this.#context.options.get("findings_folded");
    this.#root.classList.toggle("tvmdbg-findings-folded", folded);
    this.#head.showFolded(folded);
    this.#list.folded = folded;
    this.#fill();
  }

  #summary(): string {
    const findings = this.#answer?.findings ?? [];
    const words = counts(findings).map(([, text]) => text);
    if (!findings[0]) return this.#answer && !isUnderWay(this.#answer) ? NOTHING : "none so far";
    return `${words.join(", ")} · first: ${findings[0].title}`;
  }

  #actions(): KeyAction[] {
    const { options } = this.#context;
    const unfolded = () => this.#unfold();
    const move = (by: number) => {
      unfolded();
      this.#list.move(by);
      this.#tell();
    };
    const fold = (open: boolean) => {
      unfolded();
      const row = this.#list.active;
      if (row && this.#list.isOpen(row) !== open) this.toggle(row);
    };
    const through = (by: number) => {
      const row = this.#list.active;
      const node = row && nextNode(row, this.#context.session.node, by);
      if (row && node !== null) this.goTo(row, node);
    };
    const far = Number.MAX_SAFE_INTEGER;
    const active = (does: (row: FindingRow) => void) => () => {
      if (this.#list.active) does(this.#list.active);
    };
    return [
      action(["ArrowUp"], "finding above", () => move(-1)),
      action(["ArrowDown"], "finding below", () => move(1)),
      action(["Home"], "first finding", () => move(-far)),
      action(["End"], "last finding", () => move(far)),
      action(["PageUp"], `up by ${PAGE}`, () => move(-PAGE)),
      action(["PageDown"], `down by ${PAGE}`, () => move(PAGE)),
      action(
        ["Enter"],
        "select its nodes and show its evidence",
        active((row) => this.pick(row)),
      ),
      action(["f"], "fold all findings to one line, or unfold", () =>
        this.#foldAll(!options.get("findings_folded")),
      ),
      action(
        [" "],
        "show or hide its evidence",
        active((row) => this.toggle(row)),
      ),
      action(["ArrowRight"], "show its evidence", () => fold(true)),
      action(["ArrowLeft"], "hide its evidence", () => fold(false)),
      action(["[", "]"], "previous, next node of the finding", ({ key }) =>
        through(key === "[" ? -1 : 1),
      ),
      action(["s"], "stop or resume scanning", () => this.stopOrGoOn()),
      action([COPY_KEY], "copy Python code for the finding", () => this.#code.copy()),
      action(["Escape"], "clear the selection", () => this.#context.session.select(null, SOURCE)),
    ];
  }

  pick(row: FindingRow): void {
    const { session } = this.#context;
    this.#unfold();
    const wanted = selectionOf(row.nodes, row.finding);
    const again = this.#chosen?.key === row.key && this.#list.isOpen(row);
    this.#root.focus({ preventScroll: true });
    this.#list.activate(row.key, false);
    this.#list.toggle(row, !again, true);
    this.#opened(row);
    if (wanted) {
      this.#chosen = { key: row.key, selected: String(wanted.nodes) };
      session.selectEntry(wanted.nodes, wanted.entry, SOURCE);
    }
    this.#mark();
    this.#tell(wanted ? "Selected. " : "It is about no node. ");
  }

  hover(node: number | null): void {
    this.#context.session.hover(node);
  }

  goTo(row: FindingRow, node: number): void {
    this.#root.focus({ preventScroll: true });
    this.#list.activate(row.key, false);
    this.#context.session.select(node, SOURCE, { output: entryOf(row.finding, node)[1] });
    this.#mirror.say(`Node ${this.title(node)} of: ${row.title}`);
    this.#activate();
  }

  toggle(row: FindingRow): void {
    this.#unfold();
    this.#root.focus({ preventScroll: true });
    this.#list.activate(row.key, false);
    this.#list.toggle(row);
    this.#opened(row);
    this.#mark();
    this.#tell();
  }

  #opened(row: FindingRow): void {
    this.#fill();
    this.#list.settle(row);
  }

  answered(answer: FindingsAnswer): void {
    const before = this.#answer?.state;
    this.#answer = answer;
    this.#trouble.hidden = true;
    this.#show();
    const { state, findings } = answer;
    this.#head.show(answer);
    if (findings.length === 0 && !isUnderWay(answer)) {
      this.#say("empty", state === "cancelled" ? "No findings so far" : NOTHING, scopeText(answer));
    }
    this.#fill();
    if (state !== before && !isUnderWay(answer)) {
      const words = counts(findings).map(([, text]) => text);
      this.#mirror.say(`${words.join(", ") || NOTHING}; ${progress(answer)}.`);
    }
    this.#root.dataset.ready = "true";
    this.#root.dataset.state = state;
  }

  failed(error: unknown): void {
    this.#say("error", "Could not get the findings", hinted(error, AGAIN));
    const more = retry(error, "Retry", () => {
      this.#trouble.hidden = true;
      this.#root.focus({ preventScroll: true });
      void this.#scan.start();
    });
    if (more) this.#trouble.append(more);
    this.#head.clear();
    this.#mirror.say(`Could not get the findings: ${errorText(error)}`);
    this.#root.dataset.state = "error";
    this.#fill();
    this.#root.dataset.ready = "true";
  }

  #say(kind: "empty" | "error", title: string, detail: string): void {
    this.#trouble.replaceChildren(message(kind, title, detail));
    this.#trouble.hidden = false;
  }

  #show(): void {
    const notes = this.#context.session.notes;
    const findings = this.#answer?.findings ?? [];
    const newKey = () => String(++this.#serial);
    this.#list.show(rowsOf(this.#list.rows, findings, notes, newKey));
    this.#mark();
    this.#activate();
  }

  #fill(): void {
    this.#waited ||= this.#answer !== null && isUnderWay(this.#answer);
    const waits = this.#answer === null || this.#waited;
    this.#list.node.hidden = this.#list.rows.length === 0 && !this.#trouble.hidden;
    this.#root.classList.toggle("tvmdbg-findings-waits", waits);
    this.#root.classList.toggle("tvmdbg-findings-open", this.#list.anyOpen);
  }

  #mark(): void {
    const { selected, node } = this.#context.session;
    if (this.#chosen && this.#chosen.selected !== String(selected)) this.#chosen = null;
    this.#list.mark(this.#chosen?.key ?? null, node);
  }

  #activate(): void {
    const id = this.#list.activeId;
    if (id) this.#root.setAttribute("aria-activedescendant", id);
    else this.#root.removeAttribute("aria-activedescendant");
  }

  #tell(before = ""): void {
    const row = this.#list.active;
    this.#activate();
    if (!row) return;
    const { rows } = this.#list;
    this.#mirror.say(
      before + sentence(row, rows.indexOf(row), rows.length, this.#list.isOpen(row)),
    );
  }

  title(node: number): string {
    return nodeTitle(this.#graph ? nodeLabel(this.#graph, node) : "", node);
  }
}

const NOTHING = "✓ No findings";
const AGAIN = "Is the kernel running? If it was restarted, run the notebook again from the top.";

/** Scope of a scan without findings. */
function scopeText(answer: FindingsAnswer): string {
  if (answer.total === 0) {
    return "No problem found in files and times. The run has no tensors, so values were not checked.";
  }
  return `No errors, warnings or hotspots. Checked: files, times, ${progress(answer)}.`;
}

function codeOf(row: FindingRow | null): string | null {
  if (!row) return "run.findings()";
  return row.rank === null ? `run.session.notes["${row.nodes[0]}"]` : `run.findings()[${row.rank}]`;
}

/** Mounts the list of a run's findings, with its counts and controls in `head`; it begins the scan of the tensors. */
export function mountFindings(
  root: HTMLElement,
  context: ViewContext<FindingsOptions>,
  head: FindingsHead,
): void {
  root.classList.add("tvmdbg-findings", "tvmdbg-column");
  const label =
    "Findings of the run: arrow keys move, Enter selects, f folds the list, ? lists all keys";
  asApplication(root, "findings", label);
  new FindingsPanel(root, context, head);
}
