import { counted } from "../../shared/format.ts";
import { button, element, KEEP_KEYS } from "../../shared/ui/dom.ts";
import type { FindingInfo, TuningData } from "../data/data.ts";
import { remedyParts } from "../data/descriptions.ts";

const CHIPS = 6;

interface FindingEvents {
  task: (task: number) => void;
  trial: (trial: number) => void;
  copy: (text: string) => void;
}

/** What the log tells of itself, the gravest first, each with its evidence and what to do. */
export class FindingsPane {
  readonly node = element("div", {
    class: "tvmdbg-tuning-findings",
    tabindex: 0,
    "aria-label": "findings",
    ...KEEP_KEYS,
  });
  readonly #events: FindingEvents;

  constructor(events: FindingEvents) {
    this.#events = events;
  }

  show({ info }: TuningData): void {
    const items = info.findings.map((finding, at) => this.#item(finding, at === 0));
    const refused = info.refused
      ? [element("p", { class: "tvmdbg-error" }, refusedText(info.refused), list(info.refusedWhy))]
      : [];
    const none =
      items.length || refused.length
        ? []
        : [element("p", {}, "Nothing was found that asks for attention.")];
    this.node.replaceChildren(...refused, ...items, ...none);
  }

  #item(finding: FindingInfo, open: boolean): HTMLElement {
    const chips = [
      ...finding.tasks
        .slice(0, CHIPS)
        .map((task) => button(`task ${task}`, `show task ${task}`, () => this.#events.task(task))),
      ...finding.trials
        .slice(0, CHIPS)
        .map((trial) =>
          button(`trial ${trial}`, `show trial ${trial}`, () => this.#events.trial(trial)),
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
      list(finding.evidence),
      element("p", { class: "tvmdbg-muted" }, `${finding.confidence} confidence: ${finding.why}`),
      ...remedyParts(finding.nextStep).map((part) =>
        part.isCode ? this.#code(part.text) : element("p", {}, part.text),
      ),
      chips.length ? element("p", {}, ...chips) : null,
    );
  }

  #code(text: string): HTMLElement {
    const copy = button("copy", "copy this code", () => this.#events.copy(text));
    return element("div", { class: "tvmdbg-tuning-step" }, element("pre", {}, text), copy);
  }
}

const SEVERITIES = {
  error: "Error",
  warning: "Warning",
  hotspot: "Hotspot",
  info: "Info",
} as const;

/** How many lines of the log could not be read. */
export function refusedText(count: number): string {
  return `${counted(count, "line")} of the log could not be read`;
}

function list(texts: readonly string[]): HTMLElement {
  return element("ul", {}, ...texts.map((text) => element("li", {}, text)));
}
