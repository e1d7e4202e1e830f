import { errorText } from "../shared/client/request.ts";
import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
import { screenText } from "../shared/number_text.ts";
import { logicalIndex } from "../shared/unfold.ts";
import { button, div, element, KEEP_KEYS, select, span } from "../shell/dom.ts";
import { indexText } from "./plane.ts";
import type { InspectorCommands, ShownTensor } from "./state.ts";

type PartChild = Node | string | null | false;

/** A box of the inspector, styled as `.tvmdbg-tensor-<name>`. */
export function part(name: string, ...children: PartChild[]): HTMLDivElement {
  return div(`tvmdbg-tensor-${name}`, ...children);
}

export function piece(name: string, ...children: PartChild[]): HTMLSpanElement {
  return span(`tvmdbg-tensor-${name}`, ...children);
}

/** A field applied on Enter or when left, after which the view has the keys again; false refuses the text. */
export function field(
  label: string,
  attributes: Record<string, string | number>,
  apply: () => boolean | undefined,
  commands: Pick<InspectorCommands, "leave">,
): HTMLInputElement {
  const input = element("input", {
    type: "text",
    "aria-label": label,
    title: label,
    ...attributes,
    ...KEEP_KEYS,
  });
  input.addEventListener("change", apply);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (event.key === "Escape" || apply() !== false) commands.leave();
  });
  return input;
}

/** A list of choices from which Escape gives the keys back to the view. */
export function list(
  commands: Pick<InspectorCommands, "leave">,
  ...choice: Parameters<typeof select>
): ReturnType<typeof select> {
  const node = select(...choice);
  node.addEventListener("keydown", (event) => {
    if (event.key === "Escape") commands.leave();
  });
  return node;
}

/** A shortened number; its tooltip and copies have the full text. */
export function number(text: string, full = text): HTMLSpanElement {
  const node = piece("number tvmdbg-nowrap", screenText(text));
  node.dataset.copy = full;
  if (full !== text) node.title = screenText(full);
  return node;
}

export function muted(...children: PartChild[]): HTMLSpanElement {
  return span("tvmdbg-muted", ...children);
}

export class Failure {
  readonly node = element("div", { class: "tvmdbg-error", role: "alert", hidden: true });

  tell(what: string, error: unknown): void {
    this.node.textContent = `The ${what} could not be read: ${errorText(error)}`;
    this.node.hidden = false;
  }

  clear(): void {
    this.node.hidden = true;
  }
}

/** A link to a value by its stored index, with its index among the shown axes. */
export function placeButton(
  answer: TensorAnswer | null,
  stored: readonly number[] | null,
  title: string,
  commands: Pick<InspectorCommands, "go">,
  before = "at ",
): HTMLButtonElement | null {
  if (!stored) return null;
  const shown = indexText(answer ? logicalIndex(answer, stored) : stored);
  const unfolded = answer?.layout ? `, stored at ${indexText(stored)}` : "";
  const node = button(`${before}${shown}`, `${title}${unfolded}`, () =>
    commands.go(stored, "stored"),
  );
  node.dataset.key = title;
  return node;
}

interface FrameParts {
  bar: HTMLElement;
  axes: readonly HTMLElement[];
  readout: HTMLElement;
  stage: HTMLElement;
  profile: HTMLElement;
  channels: HTMLElement;
  legend: HTMLElement;
  controls: HTMLElement;
  trust: HTMLElement;
  statistics: HTMLElement;
  histogram: HTMLElement;
  region: HTMLElement;
  table: HTMLElement;
}

export function frame(parts: FrameParts) {
  const caption = div("tvmdbg-muted");
  const side = part("side tvmdbg-column tvmdbg-gap-8", parts.legend, parts.controls, caption);
  const view = part("view", parts.stage, parts.channels);
  const left = part(
    "left",
    parts.bar,
    part("choices tvmdbg-row tvmdbg-wrap tvmdbg-gap-10", ...parts.axes),
    view,
    parts.profile,
    parts.trust,
    parts.readout,
  );
  const body = part(
    "body",
    part("numbers", parts.statistics),
    left,
    part("right tvmdbg-column tvmdbg-gap-8", parts.region, parts.histogram, side),
    parts.table,
  );
  return {
    body,
    left,
    view,
    caption,
    show: ({ show, answer }: ShownTensor) => {
      body.dataset.show = answer?.unordered ? "values" : show;
    },
  };
}
