import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
import { integer } from "../shared/format.ts";
import { button, element } from "../shared/ui/dom.ts";
import type { Entries } from "./choose/entries.ts";
import { type Known, tensorFacts } from "./facts.ts";
import { HealthPill, type Judgement } from "./health/health_pill.ts";
import { part } from "./parts.ts";
import type { InspectorCommands, Shown } from "./state.ts";

/** What a tensor is, whether it is healthy, and how far it can be believed. */
export class Header {
  readonly node = element("div", { class: "tvmdbg-tensor-header" });
  readonly #root: HTMLElement;
  readonly #noteOf: (node: number) => string;
  readonly #note = element("div", { class: "tvmdbg-noted", hidden: true });
  readonly #pill: HealthPill;
  #node = -1;
  #place = false;
  #answer: TensorAnswer | null = null;

  constructor(
    root: HTMLElement,
    noteOf: (node: number) => string,
    commands: Pick<InspectorCommands, "go">,
  ) {
    this.#root = root;
    this.#noteOf = noteOf;
    this.#pill = new HealthPill(commands);
  }

  /** What the health of the run says of the tensor. */
  judge(judged: Judgement | null): void {
    this.#pill.judge(judged);
  }

  clear(): void {
    this.#answer = null;
    this.node.replaceChildren();
  }

  /** Shows what the user noted at the tensor's node. */
  noted(): void {
    const text = this.#noteOf(this.#node);
    this.#note.textContent = text;
    this.#note.hidden = text === "";
  }

  /** Known from the list of tensors, before any value was read. */
  announce(entries: Entries, row: number): void {
    const { columns } = entries;
    this.#answer = null;
    this.#node = entries.entry(row)[0];
    this.noted();
    this.#pill.node.style.visibility = "hidden";
    this.node.replaceChildren(
      facts({
        title: entries.title(row),
        dtype: columns.dtypes.at(row),
        shape: entries.shape(row),
        nbytes: columns.nbytes[row]!,
        trust: entries.trust(row),
      }),
      this.#pill.node,
      this.#note,
    );
  }

  show(shown: Shown & { answer: TensorAnswer }): void {
    const [answer, before] = [shown.answer, this.#answer];
    this.#answer = answer;
    this.#pill.show(shown);
    this.#pill.node.style.visibility = "";
    const same =
      before?.entry.join() === answer.entry.join() && before.notes.join() === answer.notes.join();
    if (!same) this.#rebuild(answer);
  }

  #rebuild(answer: TensorAnswer): void {
    const line = facts(answer);
    const place = element(
      "div",
      { class: "tvmdbg-tensor-place tvmdbg-muted", hidden: !this.#place },
      `${answer.name}: key ${JSON.stringify(answer.key)} in ${answer.file}, data at byte ${integer(answer.offset)}`,
    );
    const toggle = button("source", "Source: show or hide the file, key and byte offset", () => {
      this.#place = !this.#place;
      place.hidden = !this.#place;
      toggle.setAttribute("aria-expanded", String(this.#place));
      this.#root.focus({ preventScroll: true });
    });
    toggle.setAttribute("aria-expanded", String(this.#place));
    line.append(toggle);
    const notes = answer.notes.map((note) =>
      element(
        "li",
        { class: "tvmdbg-warning" },
        element("span", { "aria-hidden": "true" }, "⚠ "),
        note,
      ),
    );
    this.#node = answer.entry[0];
    this.noted();
    this.node.replaceChildren(
      line,
      place,
      this.#pill.node,
      this.#note,
      ...(notes.length ? [element("ul", { class: "tvmdbg-tensor-notes" }, ...notes)] : []),
    );
  }
}

function facts(known: Known): HTMLElement {
  return part(
    "facts",
    element("strong", { class: "tvmdbg-tensor-name", title: known.title }, known.title),
    ...tensorFacts(known).map(({ text, isSure, about = "" }) => {
      if (isSure === undefined) return element("span", {}, ...withCount(text));
      const look = isSure ? "tvmdbg-muted" : "tvmdbg-warning";
      const shown = `${isSure ? "✓" : "⚠"} ${text}`;
      return element("span", { class: `tvmdbg-tensor-trust ${look}`, title: about }, shown);
    }),
  );
}

/** The exact count in `16.0 KiB (16,384)` may be left out where there is little room. */
function withCount(text: string): (string | HTMLElement)[] {
  const [size, count] = text.split(" (");
  return count ? [size!, element("span", { class: "tvmdbg-tensor-count" }, ` (${count}`)] : [text];
}
