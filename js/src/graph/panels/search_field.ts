import { button, element, KEEP_KEYS, listening, raised, span } from "../../shell/dom.ts";
import { HitList } from "../../shell/hit_list.ts";
import type { Hits } from "../data/hits.ts";
import { type Facts, operatorsOf, type Suggestion, suggest } from "../data/query_fields.ts";
import { parse } from "../data/query_parser.ts";
import type { GraphHost } from "../parts.ts";

const TYPING_MS = 120;
/** The grammar in short; all of it is in tvmdbg_widgets/analysis/query.py. */
const HELP = [
  ["conv2d relu", "both words in name, function, operators, kind, dtype or shape"],
  ["a | b   -a   (a b)", "either; not; together (also: or, not, and)"],
  [
    "op:conv  name=p0",
    "a field contains, equals; fields: name op func kind dtype device layout group",
  ],
  ["op:conv*  /_\\d+$/", "* and ? fit all of it; / / a regular expression"],
  ["time>1ms  share>=5%", "times in ns, us, ms, s"],
  ["bytes>1MB  inputs>2", "id bytes storage rank inputs outputs consumers depth"],
  ["shape:*,64,...", "* is one dimension, ... any number"],
  ["attr.data_layout:NCHW", "attribute of the node"],
  ["conv2d->add->relu", "nodes that read each other; ->> anywhere downstream"],
  ['#12   "a b"', "node with this id; exact text"],
] as const;
let fields = 0;

function isSound(query: string): boolean {
  try {
    parse(query);
    return true;
  } catch {
    return false;
  }
}

export class SearchField {
  readonly input: HTMLInputElement;
  /** Panel below the field, shown while it or the field has the focus. */
  readonly panel = raised("tvmdbg-more-menu tvmdbg-column tvmdbg-scrolls tvmdbg-graph-query");
  readonly #list: HTMLElement;
  readonly #problem = element("div", { class: "tvmdbg-graph-wrong", role: "status", hidden: true });
  readonly #help = element("div", { class: "tvmdbg-graph-grammar", hidden: true });
  readonly #more: HTMLButtonElement;
  readonly #hits: HitList;
  readonly #facts: Facts;
  #operators: string[] | null = null;
  #shown: Suggestion[] = [];
  #active = -1;
  #isClosed = false;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor({ commands, context, hits, model, root }: GraphHost) {
    const { options, signal } = context;
    const leave = () => root.focus({ preventScroll: true });
    this.#facts = model.facts;
    const id = `tvmdbg-query-${fields++}`;
    this.input = element("input", {
      type: "search",
      placeholder: "search /",
      title: "words, or fields: time>1ms op:conv shape:*,64,*,* (F1: search syntax)",
      "aria-label": "search nodes by words or fields",
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": id,
      autocomplete: "off",
      spellcheck: "false",
      ...KEEP_KEYS,
    });
    this.#list = element("div", { id, role: "listbox", "aria-label": "suggestions" });
    this.#more = button("search syntax (F1)", "search syntax (F1)", () => this.#toggleHelp());
    this.#more.setAttribute("aria-expanded", "false");
    for (const [code, about] of HELP) {
      this.#help.append(element("code", {}, code), element("span", {}, about));
    }
    this.#hits = new HitList(this.input, "nodes found", (at) => {
      commands.select(hits.ranked[at] ?? null);
      leave();
    });
    this.panel.append(this.#problem, this.#list, this.#hits.node, this.#more, this.#help);
    const typed = () => {
      clearTimeout(this.#typing);
      options.set("search", this.input.value);
    };
    const on = listening(this.input, signal);
    on("input", () => {
      this.#isClosed = false;
      this.#suggest();
      clearTimeout(this.#typing);
      this.#typing = setTimeout(typed, TYPING_MS);
    });
    on("focus", () => {
      this.#isClosed = false;
      this.#suggest();
    });
    on("click", () => this.#suggest());
    on("keydown", (event) => {
      const { key } = event;
      if (this.#active < 0 && this.#hits.active >= 0 && this.#hits.key(event)) return;
      if (key === "ArrowDown" || key === "ArrowUp") {
        this.#move(key === "ArrowDown" ? 1 : -1);
        // The hits follow the last suggestion.
        if (this.#active < 0) this.#hits.key(event);
      } else if (key === "F1") this.#toggleHelp();
      else if ((key === "Enter" || key === "Tab") && this.#active >= 0) this.#take(this.#active);
      else if (key === "Enter") {
        typed();
        if (!isSound(this.input.value)) return;
        commands.nextHit(event.shiftKey ? -1 : 1);
        leave();
      } else if (key === "Escape" && this.#active >= 0) {
        event.stopPropagation();
        this.#isClosed = true;
        this.#suggest();
      } else if (key === "Escape") {
        this.input.value = "";
        typed();
        leave();
      } else return;
      event.preventDefault();
    });
    const left = ({ relatedTarget }: FocusEvent) => {
      const to = relatedTarget as Node | null;
      if (to !== this.input && !this.panel.contains(to)) this.panel.hidden = true;
    };
    on("blur", left);
    this.panel.addEventListener("focusout", left, { signal });
    // The field keeps the keyboard while the pointer is on its panel.
    this.panel.addEventListener("pointerdown", (event) => event.preventDefault(), { signal });
    signal.addEventListener("abort", () => clearTimeout(this.#typing));
  }

  set query(query: string) {
    if (this.input.value !== query) this.input.value = query;
  }

  /** Shows the error of the query and marks its position, or the fields that are not known of all nodes. */
  show(hits: Hits): void {
    const { problem, at, notes, nodes } = hits.result;
    const { input } = this;
    this.#hits.show(input.value ? hits.listed() : [], nodes.length);
    this.#expand();
    input.setAttribute("aria-invalid", String(problem !== ""));
    this.#problem.hidden = !problem && notes.length === 0;
    this.#problem.classList.toggle("tvmdbg-warning", problem !== "");
    const message = problem || notes.join("; ");
    const text = input.value;
    const marked = at >= 0 && at <= text.length;
    const code = String.fromCodePoint(text.codePointAt(at) ?? 32);
    this.#problem.replaceChildren(
      ...(marked
        ? [
            element(
              "code",
              {},
              text.slice(Math.max(0, at - 40), at),
              element("mark", {}, code),
              text.slice(at + code.length, at + 40),
            ),
          ]
        : []),
      element("div", {}, message),
    );
    this.#place();
  }

  /** Puts the panel below the field, inside the toolbar's width. */
  #place(): void {
    const { panel, input } = this;
    const field = input.getBoundingClientRect();
    const bar = input.closest(".tvmdbg-bar")!.getBoundingClientRect();
    const most = bar.width - panel.offsetWidth - 6;
    panel.style.left = `${Math.max(6, Math.min(field.left - bar.left, most))}px`;
  }

  #toggleHelp(): void {
    this.#help.hidden = !this.#help.hidden;
    this.#more.setAttribute("aria-expanded", String(!this.#help.hidden));
    this.#suggest();
  }

  #suggest(): void {
    const { input } = this;
    this.#operators ??= operatorsOf(this.#facts);
    const before = input.value.slice(0, input.selectionStart ?? input.value.length);
    this.#shown =
      this.#isClosed || !this.#help.hidden ? [] : suggest(before, this.#facts, this.#operators);
    this.#list.replaceChildren(
      ...this.#shown.map(({ text, about }, row) => {
        const option = element(
          "div",
          { role: "option", id: `${this.#list.id}-${row}` },
          element("code", {}, text),
          span("tvmdbg-muted", about),
        );
        option.addEventListener("click", () => this.#take(row));
        return option;
      }),
    );
    this.#list.hidden = this.#shown.length === 0;
    this.#expand();
    this.panel.hidden = false;
    this.#activate(-1);
    this.#place();
  }

  #expand(): void {
    const isOpen = this.#shown.length > 0 || !this.#hits.node.hidden;
    this.input.setAttribute("aria-expanded", String(isOpen));
  }

  #move(by: number): void {
    if (this.#shown.length === 0) {
      this.#isClosed = false;
      this.#suggest();
    }
    const count = this.#shown.length + 1;
    this.#activate(((this.#active + 1 + by + count) % count) - 1);
  }

  #activate(row: number): void {
    this.#active = row;
    for (const [at, option] of [...this.#list.children].entries()) {
      option.setAttribute("aria-selected", String(at === row));
    }
    if (row < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", `${this.#list.id}-${row}`);
  }

  #take(row: number): void {
    const { from, text } = this.#shown[row]!;
    const { input } = this;
    input.setRangeText(text, from, input.selectionStart ?? input.value.length, "end");
    input.focus();
    input.dispatchEvent(new Event("input"));
  }
}
