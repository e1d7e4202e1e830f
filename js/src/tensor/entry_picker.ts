import type { Entry } from "../shared/client/tensor_questions.ts";
import * as icons from "../shared/drawing/icons.ts";
import { counted, integer } from "../shared/format.ts";
import {
  div,
  element,
  iconButton,
  KEEP_KEYS,
  listening,
  onResize,
  select,
  span,
} from "../shell/dom.ts";
import { helpButton } from "../shell/keys.ts";
import { reveal } from "../shell/scrolling.ts";
import { fullScreenButton } from "../shell/view.ts";
import type { EntryFilter } from "./entries.ts";
import { fitName, part, TensorPart } from "./parts.ts";
import type { TensorHost } from "./state.ts";

const WINDOW = 60;
let serial = 0;

export class EntryPicker extends TensorPart<HTMLElement> {
  readonly #kinds = select("Kinds of nodes", [], "", (kind) => this.#narrow(kind as EntryFilter));
  /** Choice of the tensors in the list, for the controls. */
  readonly kinds = element("label", {}, "tensors ", this.#kinds);
  readonly #id = `tvmdbg-tensor-${++serial}`;
  readonly #entries = this.host.entries;
  readonly #list = element("div", {
    class: "tvmdbg-tensor-list tvmdbg-scrolls",
    role: "listbox",
    id: `${this.#id}-list`,
    "aria-label": "Tensors",
    tabindex: -1,
    hidden: true,
  });
  readonly #input = element("input", {
    type: "text",
    role: "combobox",
    class: "tvmdbg-tensor-search",
    "aria-label": "Tensor: type to search by id, name, dtype or shape",
    "aria-expanded": "false",
    "aria-controls": `${this.#id}-list`,
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "search id, name, dtype, shape (/)",
    ...KEEP_KEYS,
  });
  readonly node = element(
    "div",
    {
      class: "tvmdbg-bar tvmdbg-one-row tvmdbg-tensor-bar",
      role: "toolbar",
      "aria-label": "tensor",
    },
    span("tvmdbg-title", "Tensor"),
    iconButton(icons.PREVIOUS, "previous tensor", "Previous tensor in execution order ([)", () =>
      this.host.step(-1),
    ),
    part("combo", this.#input, this.#list),
    iconButton(icons.NEXT, "next tensor", "Next tensor in execution order (])", () =>
      this.host.step(1),
    ),
    this.beside,
    helpButton(this.host.root),
    fullScreenButton(this.host.root),
  );
  #filter: EntryFilter = this.#entries.filters()[0] ?? "all";
  #shown: Entry | null = null;
  #missingText = "";
  #rows: Int32Array = new Int32Array();
  #active = 0;
  #pointed = false;

  constructor(host: TensorHost, controls: HTMLElement) {
    super(host, controls);
    this.#showKinds();
    this.#listen(host.signal);
    onResize([this.#input], () => this.#list.hidden && this.#write(), host.signal);
  }

  get filter(): EntryFilter {
    return this.#filter;
  }

  /** Shows the entry in the field; `missing` is its text if the run has no such tensor. */
  show(entry: Entry | null, missing = ""): void {
    this.#shown = entry;
    this.#missingText = missing;
    const row = entry && this.#entries.row(entry);
    if (row !== null && this.#filter !== "all" && this.#entries.kind(row) !== this.#filter) {
      this.#filter = this.#entries.kind(row);
      this.#showKinds();
    }
    if (this.#list.hidden) this.#write();
  }

  #write(): void {
    const row = this.#shown && this.#entries.row(this.#shown);
    const title = row === null ? this.#missingText : this.#entries.title(row);
    const full = row === null ? title : `${title}  ${this.#entries.type(row)}`;
    const write = (text: string) => {
      this.#input.value = text;
    };
    write(full);
    if (this.#input.scrollWidth > this.#input.clientWidth) fitName(this.#input, title, write);
    this.#input.title = full;
  }

  focus(): void {
    this.#input.focus();
  }

  #showKinds(): void {
    const { operators } = this.#entries;
    const filters = this.#entries.filters();
    this.#kinds.replaceChildren(
      ...filters.map((filter) => {
        const count = this.#entries.rows(filter).length;
        const apart = filter === "operators" && count !== operators;
        const of = apart ? `${counted(count, "output")} of ${counted(operators, "operator")}` : "";
        const text = `${apart ? "operator outputs" : filter} ${integer(count)}`;
        const selected = filter === this.#filter;
        return element("option", { value: filter, selected, title: of || undefined }, text);
      }),
    );
    this.#kinds.value = this.#filter;
    this.kinds.hidden = filters.length === 0;
  }

  #narrow(kind: EntryFilter): void {
    this.#filter = kind;
    if (!this.#pointed) return;
    this.kinds.closest<HTMLElement>("[popover]")?.hidePopover();
    this.#input.focus();
    this.#search("");
  }

  #open(): void {
    if (!this.#list.hidden) return;
    this.#list.hidden = false;
    this.#input.setAttribute("aria-expanded", "true");
    this.#search("");
  }

  #close(): void {
    this.#list.hidden = true;
    this.#list.replaceChildren();
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
    this.#write();
  }

  #search(query: string): void {
    this.#rows = this.#entries.search(query, this.#filter);
    const row = this.#shown && this.#entries.row(this.#shown);
    this.#active = query ? 0 : Math.max(0, row === null ? 0 : this.#rows.indexOf(row));
    this.#draw();
  }

  #draw(): void {
    const count = this.#rows.length;
    const start = Math.max(0, Math.min(this.#active - WINDOW / 2, count - WINDOW));
    const end = Math.min(count, start + WINDOW);
    const more = (left: number, where: string) =>
      left > 0 ? [div("tvmdbg-tensor-more tvmdbg-muted", `${integer(left)} more ${where}`)] : [];
    const options = Array.from(this.#rows.subarray(start, end), (row, k) =>
      this.#option(row, start + k),
    );
    this.#list.replaceChildren(
      ...more(start, "above"),
      ...options,
      ...more(count - end, "below: type to narrow"),
      count ? "" : this.#nothing(),
    );
    const active = options[this.#active - start];
    if (active) {
      this.#input.setAttribute("aria-activedescendant", active.id);
      reveal(this.#list, active.offsetTop, active.offsetHeight);
    } else this.#input.removeAttribute("aria-activedescendant");
  }

  #nothing(): HTMLElement {
    const others = this.#hidden;
    if (!others) return part("more", "no tensor matches");
    const lift = part("option", `none of this kind: show ${counted(others, "other")} (Enter)`);
    lift.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.#lift();
    });
    return lift;
  }

  get #hidden(): number {
    return this.#entries.hidden(this.#input.value, this.#filter);
  }

  #lift(): void {
    this.#filter = "all";
    this.#showKinds();
    this.#search(this.#input.value);
  }

  #option(row: number, place: number): HTMLElement {
    const entries = this.#entries;
    const [node, output] = entries.entry(row);
    const trust = entries.trust(row);
    const option = element(
      "div",
      {
        class: "tvmdbg-tensor-option",
        role: "option",
        id: `${this.#id}-${row}`,
        "aria-selected": String(place === this.#active),
        "data-entry": `${node}:${output}`,
      },
      element(
        "span",
        {
          class: "tvmdbg-tensor-name tvmdbg-fill tvmdbg-clip",
          title: entries.columns.names.at(row),
        },
        entries.title(row),
      ),
      span("tvmdbg-muted tvmdbg-fixed", entries.type(row)),
      entries.doubtful(row)
        ? element(
            "span",
            { class: "tvmdbg-warning", title: "has warnings", "aria-label": "has warnings" },
            "⚠",
          )
        : null,
      trust === "exact" ? null : span("tvmdbg-warning", trust),
    );
    option.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.#choose(place);
    });
    return option;
  }

  #choose(place: number): void {
    const row = this.#rows[place];
    if (row === undefined) return;
    this.#close();
    this.host.leave();
    this.host.pick(this.#entries.entry(row));
  }

  #move(place: number): void {
    this.#active = Math.max(0, Math.min(this.#rows.length - 1, place));
    this.#draw();
  }

  #listen(signal: AbortSignal): void {
    const input = this.#input;
    const listen = listening(input, signal);
    this.#kinds.addEventListener("pointerdown", () => {
      this.#pointed = true;
    });
    this.#kinds.addEventListener("keydown", () => {
      this.#pointed = false;
    });
    listen("focus", () => {
      this.#open();
      input.select();
    });
    listen("blur", () => this.#close());
    listen("input", () => {
      this.#open();
      this.#search(input.value);
    });
    listen("keydown", (event) => {
      const page = 10;
      const to: Record<string, number> = {
        ArrowDown: this.#active + 1,
        ArrowUp: this.#active - 1,
        PageDown: this.#active + page,
        PageUp: this.#active - page,
      };
      const place = to[event.key];
      if (place !== undefined) {
        this.#open();
        this.#move(place);
      } else if (event.key === "Enter" && !this.#rows.length && this.#hidden) this.#lift();
      else if (event.key === "Enter") this.#choose(this.#active);
      else if (event.key === "Escape") {
        this.#close();
        this.host.leave();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}
