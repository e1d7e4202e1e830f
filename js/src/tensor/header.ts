import { button, element } from "../shared/dom.ts";
import { bytes, integer, shapeText } from "../shared/format.ts";
import type { TensorAnswer, TensorStatistics } from "../shared/tensor_questions.ts";
import { SPECIAL_TEXT } from "./colors.ts";
import type { Entries } from "./entries.ts";
import { part } from "./parts.ts";
import { share } from "./share.ts";
import type { Shown } from "./state.ts";

/** What a tensor is, whether it is healthy, and how far it can be believed. */
export class Header {
  readonly node = element("header", { class: "tvmdbg-tensor-header" });
  readonly #root: HTMLElement;
  readonly #noteOf: (node: number) => string;
  readonly #note = element("div", { class: "tvmdbg-noted", hidden: true });
  #node = -1;
  #place = false;

  constructor(root: HTMLElement, noteOf: (node: number) => string) {
    this.#root = root;
    this.#noteOf = noteOf;
  }

  clear(): void {
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
    this.#node = entries.entry(row)[0];
    this.noted();
    this.node.replaceChildren(
      this.#facts(
        entries.entry(row).join(":"),
        columns.names.at(row),
        [columns.dtypes.at(row), shapeText(entries.shape(row)), bytes(columns.nbytes[row]!)],
        entries.trust(row),
      ),
      this.#note,
    );
  }

  show(shown: Shown & { answer: TensorAnswer }): void {
    const { answer } = shown;
    const { entry, name, dtype, shape, nbytes, trust } = answer;
    const facts = this.#facts(
      entry.join(":"),
      name,
      [dtype, shapeText(shape), bytes(nbytes)],
      trust,
    );
    const place = element(
      "div",
      { class: "tvmdbg-tensor-place tvmdbg-muted", hidden: !this.#place },
      `key ${JSON.stringify(answer.key)} in ${answer.file}, values at byte ${integer(answer.offset)}`,
    );
    const toggle = button("where", "Show or hide the file, key and byte offset", () => {
      this.#place = !this.#place;
      place.hidden = !this.#place;
      toggle.setAttribute("aria-expanded", String(this.#place));
      this.#root.focus({ preventScroll: true });
    });
    toggle.setAttribute("aria-expanded", String(this.#place));
    facts.append(toggle);
    const notes = answer.notes.map((note) =>
      element(
        "li",
        { class: "tvmdbg-warning" },
        element("span", { "aria-hidden": "true" }, "⚠ "),
        note,
      ),
    );
    this.#node = entry[0];
    this.noted();
    this.node.replaceChildren(
      facts,
      place,
      healthPill(shown.statistics?.statistics ?? null),
      this.#note,
      ...(notes.length ? [element("ul", { class: "tvmdbg-tensor-notes" }, ...notes)] : []),
    );
  }

  #facts(id: string, name: string, parts: string[], trust: string): HTMLElement {
    const doubt = trust === "exact" ? "tvmdbg-muted" : "tvmdbg-warning";
    return part(
      "facts",
      element("strong", {}, id),
      element("span", { class: "tvmdbg-tensor-name", title: name }, name),
      ...parts.map((part) => element("span", {}, part)),
      element(
        "span",
        {
          class: `tvmdbg-tensor-trust ${doubt}`,
          title: "How the values were matched to this node of the graph",
        },
        trust === "exact" ? "✓ exact" : `⚠ matched ${trust}`,
      ),
    );
  }
}

type Health = "error" | "good" | "empty";

function healthOf(statistics: TensorStatistics | null): Health {
  if (!statistics || statistics.size === 0) return "empty";
  return statistics.finite < statistics.size ? "error" : "good";
}

/** `59 +Inf, 0 NaN, 0 −Inf`, those that are there first. */
export function specialCounts(statistics: TensorStatistics): string[] {
  const kinds = (["nan", "posInf", "negInf"] as const).map((each) => ({
    count: statistics[each],
    text: `${integer(statistics[each])} ${SPECIAL_TEXT[each]}`,
  }));
  return kinds.sort((a, b) => Number(b.count > 0) - Number(a.count > 0)).map(({ text }) => text);
}

function healthPill(statistics: TensorStatistics | null): HTMLElement {
  const health = healthOf(statistics);
  if (!statistics) return part("health", "not counted");
  const { size, finite, zero, negative } = statistics;
  const verdict = {
    error: "⚠ not finite",
    good: "✓ all finite",
    empty: "no values",
  }[health];
  const items = specialCounts(statistics).map((text) =>
    element("span", { class: text.startsWith("0 ") ? "tvmdbg-muted" : "tvmdbg-tensor-loud" }, text),
  );
  return element(
    "div",
    {
      class: `tvmdbg-tensor-health tvmdbg-tensor-health-${health}`,
      role: "group",
      "aria-label": "Health",
    },
    element("strong", {}, verdict),
    ...items,
    element("span", {}, `${integer(zero)} zero${share(zero, size)}`),
    element("span", {}, `${integer(negative)} negative${share(negative, size)}`),
    finite < size && element("span", {}, `${integer(finite)} finite of ${integer(size)}`),
  );
}
